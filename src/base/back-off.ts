import type { Clock, Duration, Instant } from './clock.ts';

interface Pause {
  readonly times: number;
  readonly from: Instant;
  readonly until: Instant;
}

/** What is left alone for a while after each try. The pause doubles; tries that lie further back than twice their pause count no more. */
export class BackOff {
  readonly #clock: Clock;
  readonly #first: Duration;
  readonly #longest: Duration;
  readonly #pauses = new Map<string, Pause>();

  constructor(clock: Clock, first: Duration, longest: Duration) {
    this.#clock = clock;
    this.#first = first;
    this.#longest = longest;
  }

  /** It was tried: from now on it rests. The pause that follows. */
  tried(key: string): Duration {
    const now = this.#clock.now();
    for (const [other, pause] of this.#pauses) if (isPast(pause, now)) this.#pauses.delete(other);
    const times = (this.#pauses.get(key)?.times ?? 0) + 1;
    const length = doubled(this.#first, this.#longest, times);
    this.#pauses.set(key, { times, from: now, until: now + length });
    return length;
  }

  rests(key: string): boolean {
    return (this.#pauses.get(key)?.until ?? Number.NEGATIVE_INFINITY) > this.#clock.now();
  }

  /** What was tried before counts no more. */
  forget(key: string): void {
    this.#pauses.delete(key);
  }

  forgetAll(): void {
    this.#pauses.clear();
  }
}

const isPast = ({ from, until }: Pause, now: Instant): boolean => now - until > 2 * (until - from);

/** The pause after so many tries. */
export const doubled = (first: Duration, longest: Duration, times: number): Duration =>
  Math.min(longest, first * 2 ** Math.min(times - 1, 20));
