import type { Clock, Duration, Instant } from '../../base/clock.ts';

interface Failure {
  readonly reason: string;
  readonly times: number;
  readonly at: Instant;
  readonly until: Instant;
}

/** Which hosts are passed over for a while, and why. The pause doubles with each failure in a row, and is forgotten. */
export class CoolOff {
  readonly #clock: Clock;
  readonly #first: Duration;
  readonly #longest: Duration;
  readonly #failures = new Map<string, Failure>();

  constructor(clock: Clock, first: Duration, longest: Duration) {
    this.#clock = clock;
    this.#first = first;
    this.#longest = longest;
  }

  /** The pause that follows. */
  note(host: string, reason: string): Duration {
    const now = this.#clock.now();
    const earlier = this.#failures.get(host);
    const inARow = earlier !== undefined && now - earlier.until <= 2 * (earlier.until - earlier.at);
    const times = inARow ? earlier.times + 1 : 1;
    const pause = Math.min(this.#longest, this.#first * 2 ** Math.min(times - 1, 20));
    this.#failures.set(host, { reason, times, at: now, until: now + pause });
    return pause;
  }

  clear(host: string): void {
    this.#failures.delete(host);
  }

  /** Why the host is passed over now; undefined when it is not. */
  reason(host: string): string | undefined {
    const failure = this.#failures.get(host);
    return failure !== undefined && this.#clock.now() < failure.until ? failure.reason : undefined;
  }
}
