import type { Clock, Duration, Instant } from './clock.ts';
import { doubling } from './retry.ts';

interface Pause {
  readonly times: number;
  readonly from: Instant;
  readonly until: Instant;
}

/** What is left alone for a while after each try. The pause doubles; tries that lie further back than twice their pause count no more. */
export class BackOff {
  readonly #clock: Clock;
  readonly #pauseAfter: (tries: number) => Duration;
  readonly #pauses = new Map<string, Pause>();

  constructor(clock: Clock, first: Duration, longest: Duration) {
    this.#clock = clock;
    this.#pauseAfter = doubling(first, longest);
  }

  /** It was tried: from now on it rests. The pause that follows. */
  tried(key: string): Duration {
    const now = this.#clock.now();
    for (const [other, pause] of this.#pauses) if (isPast(pause, now)) this.#pauses.delete(other);
    const times = (this.#pauses.get(key)?.times ?? 0) + 1;
    const length = this.#pauseAfter(times);
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
