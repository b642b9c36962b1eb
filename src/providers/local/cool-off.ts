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
  readonly #resting = new Map<string, Pick<Failure, 'reason' | 'until'>>();
  /** How often in a row, without a set-up that worked. */
  readonly #failedSetUps = new Map<string, number>();

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

  /** Passes it over for this long, however well it does meanwhile. */
  rest(host: string, reason: string, pause: Duration): void {
    this.#resting.set(host, { reason, until: this.#clock.now() + pause });
  }

  /** It has not failed after all. */
  clear(host: string): void {
    this.#failures.delete(host);
  }

  /** A host that was given could not be set up: it rests, however well it gives the claim back. The pause that follows. */
  setUpFailed(host: string, reason: string): Duration {
    const times = (this.#failedSetUps.get(host) ?? 0) + 1;
    this.#failedSetUps.set(host, times);
    const pause = Math.min(this.#longest, this.#first * 2 ** Math.min(times - 1, 20));
    this.rest(host, reason, pause);
    return pause;
  }

  /** The set-ups that failed before count no more. */
  setUpDone(host: string): void {
    this.#failedSetUps.delete(host);
  }

  /** Every host has another chance. */
  clearAll(): void {
    this.#failedSetUps.clear();
    this.#failures.clear();
    this.#resting.clear();
  }

  /** Why the host is passed over now; undefined when it is not. */
  reason(host: string): string | undefined {
    const now = this.#clock.now();
    return [this.#resting.get(host), this.#failures.get(host)].find((each) => each && now < each.until)?.reason;
  }
}
