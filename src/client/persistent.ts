import type { EventSink } from '../base/events.ts';
import { mayComeUp, sshErrors } from '../base/ssh/errors.ts';
import { wallClock } from '../base/time/wall-clock.ts';
import { clientErrors } from './errors.ts';
import { clientEvents } from './events.ts';

export interface PersistentOptions {
  readonly signal: AbortSignal;
  readonly events: EventSink;
  readonly address: () => string;
  /** A line that has not come back for so long is given up. @default 10 minutes */
  readonly patience?: number;
}

const shortestPause = 50;
const longestPause = 2_000;

/**
 * Keeps reading through lines that break. `connect` opens one line where the last one left off and calls `opened` once
 * it stands; it returns the end when the other side said that this was the end, and undefined when the line merely
 * ended. What time cannot fix is thrown.
 */
export async function* readPersistently<Item, End>(
  connect: (opened: () => void) => AsyncGenerator<Item, End | undefined>,
  options: PersistentOptions,
): AsyncGenerator<Item, End> {
  const { signal, events, address } = options;
  let pause = shortestPause;
  let lostAt: number | undefined;
  const opened = (): void => {
    if (lostAt !== undefined) {
      const seconds = Math.max(1, Math.round((performance.now() - lostAt) / 1_000));
      events.emit(clientEvents.back, { address: address(), seconds });
    }
    lostAt = undefined;
  };
  for (;;) {
    let why = 'closed by the other side';
    try {
      const line = connect(opened);
      for (;;) {
        const next = await line.next();
        if (next.done === true) {
          if (next.value !== undefined) return next.value;
          break;
        }
        // Only a line that brings something on may be opened again at once.
        pause = shortestPause;
        yield next.value;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassing(error)) throw error;
      if (lostAt !== undefined && performance.now() - lostAt > (options.patience ?? 600_000)) throw error;
      why = (error as { data?: { why?: string; words?: string } }).data?.why ?? (error as Error).message;
    }
    signal.throwIfAborted();
    if (lostAt === undefined) {
      lostAt = performance.now();
      events.emit(clientEvents.lost, { address: address(), why });
    }
    await wallClock.sleep(pause, signal);
    pause = Math.min(longestPause, pause * 2);
  }
}

/** Time may fix it: the line, the machine behind it, or mantad there may come back. */
export const isPassing = (error: unknown): boolean =>
  [clientErrors.Unreachable, clientErrors.Broken, clientErrors.ServerFault].some((kind) => kind.is(error)) ||
  mayComeUp(error) ||
  sshErrors.ForwardFailed.is(error) ||
  sshErrors.TooLong.is(error) ||
  (clientErrors.NotServed.is(error) && error.data.isThere);
