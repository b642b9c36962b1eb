import type { Clock, Duration, Instant } from '../base/time/clock.ts';
import { retry } from '../base/time/retry.ts';

/** How long a cloud may not know everywhere what it has just made. */
const youngFor: Duration = 60_000;

/** Between two tries while something is too young. */
const pause = (tries: number): Duration => Math.min(5_000, 250 * 2 ** Math.min(tries - 1, 10));

/** Does the work again while what it threw may only mean that something is too young. */
export async function onceKnown<Value>(
  work: () => Promise<Value>,
  isTooYoung: (error: unknown) => boolean,
  clock: Clock,
  signal: AbortSignal,
): Promise<Value> {
  const until = clock.now() + youngFor;
  return await retry(work, {
    clock,
    signal,
    pause,
    again: (error) => isTooYoung(error) && clock.now() < until,
  });
}

/** Instances that this process has launched and that nobody has shown to it since. That a cloud does not know one means nothing yet. */
export class YoungInstances {
  readonly #clock: Clock;
  readonly #launched = new Map<string, Instant>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(ids: Iterable<string>): void {
    const now = this.#clock.now();
    for (const [id, at] of this.#launched) if (now - at >= youngFor) this.#launched.delete(id);
    for (const id of ids) this.#launched.set(id, now);
  }

  /** They are known, or ended. */
  forget(ids: Iterable<string>): void {
    for (const id of ids) this.#launched.delete(id);
  }

  has(id: string): boolean {
    const at = this.#launched.get(id);
    return at !== undefined && this.#clock.now() - at < youngFor;
  }
}
