import type { Clock, Duration } from './clock.ts';

export interface RetryOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** Before the try after the first, the second, …; see `doubling`. */
  readonly pause: (tries: number) => Duration;
  /** Asked after each try that failed; false: its error is thrown. @default for as long as the signal lets */
  readonly again?: (error: unknown, tries: number) => boolean;
}

/** A pause that doubles with each try. */
export const doubling =
  (first: Duration, most: Duration = Number.POSITIVE_INFINITY) =>
  (tries: number): Duration =>
    Math.min(first * 2 ** Math.min(tries - 1, 50), most);

/** Does `work` until it succeeds, with pauses of the clock; rejects with the signal's reason once that aborts. */
export async function retry<Value>(
  work: (tries: number) => Promise<Value>,
  { clock, signal, pause, again = () => true }: RetryOptions,
): Promise<Value> {
  for (let tries = 1; ; tries++) {
    try {
      signal?.throwIfAborted();
      return await work(tries);
    } catch (error) {
      signal?.throwIfAborted();
      if (!again(error, tries)) throw error;
    }
    const wait = pause(tries);
    if (wait > 0) await clock.sleep(wait, signal);
  }
}
