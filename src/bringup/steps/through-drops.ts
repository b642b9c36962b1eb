import { mayComeUp } from '../../base/ssh/errors.ts';
import { retry } from '../../base/time/retry.ts';
import { wallClock } from '../../base/time/wall-clock.ts';

/** A host that drops every connection is broken, and its user is to hear of it. */
const mostDrops = 5;

/**
 * Connects and does the work, and does it again from its beginning when the host was lost on the way, once it answers:
 * for work that may be repeated. What `connect` says of a host that does not come back is the outcome.
 */
export async function throughDrops<Result>(
  connect: () => Promise<void>,
  work: () => Promise<Result>,
  onDrop: (why: Error) => void,
  signal: AbortSignal,
): Promise<Result> {
  let isConnected = false;
  return await retry(
    async () => {
      isConnected = false;
      await connect();
      isConnected = true;
      return await work();
    },
    {
      clock: wallClock,
      signal,
      // To connect again takes the time that it takes.
      pause: () => 0,
      again: (error, drops) => {
        if (!isConnected || !mayComeUp(error) || drops >= mostDrops) return false;
        onDrop(error as Error);
        return true;
      },
    },
  );
}

/** Tells why a host is waited for, once for each reason and again after a while, not at every try. */
export function tellWaits(tell: (why: string) => void): (why: Error) => void {
  let [last, at] = ['', 0];
  return ({ message }) => {
    const now = performance.now();
    if (message === last && now - at < sayAgain) return;
    [last, at] = [message, now];
    tell(message);
  };
}

const sayAgain = 60_000;
