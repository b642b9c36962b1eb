import type { Clock, Duration } from '../../base/time/clock.ts';

export interface Takers<T> {
  /** Makes contact, which may take long. False when there is none. */
  reach(candidate: T, signal: AbortSignal): Promise<boolean>;
  /** Asks for it. `unknown`: the answer was lost, and it may have been given. */
  take(candidate: T): Promise<'taken' | 'refused' | 'unknown'>;
  readonly clock: Clock;
  /** A candidate that was not reached by then no longer holds up the next one. */
  readonly patience: Duration;
  /** Contacts at once. */
  readonly width: number;
}

/**
 * Takes `count` of the candidates, in order, as many at once as are needed. Slow ones are not waited for: the next are
 * tried beside them, and when something was taken and only slow ones are left, that is all there is for now.
 */
export async function takeSome<T>(candidates: readonly T[], count: number, takers: Takers<T>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const waiting = [...candidates];
  const reached: T[] = [];
  const stop = new AbortController();
  let [given, taking, reaching, slow] = [0, 0, 0, 0];

  advance();
  try {
    await promise;
  } finally {
    stop.abort();
  }

  function advance(): void {
    while (given + taking < count && reached.length > 0) void take(reached.shift() as T);
    while (given + taking + reaching < count && reaching + slow < takers.width && waiting.length > 0)
      void reach(waiting.shift() as T);
    const moving = taking + reaching > 0;
    if (!moving && (given >= count || slow === 0 || (given > 0 && waiting.length === 0))) resolve();
  }

  async function reach(candidate: T): Promise<void> {
    let late = false;
    const arrived = new AbortController();
    reaching++;
    takers.clock.sleep(takers.patience, arrived.signal).then(
      () => {
        late = true;
        reaching--;
        slow++;
        advance();
      },
      () => {},
    );
    const there = await takers.reach(candidate, stop.signal).catch(() => false);
    arrived.abort();
    if (late) slow--;
    else reaching--;
    if (there) reached.push(candidate);
    advance();
  }

  async function take(candidate: T): Promise<void> {
    taking++;
    try {
      if ((await takers.take(candidate)) !== 'refused') given++;
    } catch (error) {
      reject(error instanceof Error ? error : new Error(String(error)));
    }
    taking--;
    advance();
  }
}
