import { BackOff } from '../../base/time/back-off.ts';
import type { Clock, Duration, Instant } from '../../base/time/clock.ts';
import { doubling } from '../../base/time/retry.ts';

/** Which hosts are passed over for a while, and why. The pause doubles with each failure in a row, and is forgotten. */
export class CoolOff {
  readonly #clock: Clock;
  readonly #pauseAfter: (tries: number) => Duration;
  readonly #failures: BackOff;
  readonly #reasons = new Map<string, string>();
  readonly #resting = new Map<string, { readonly reason: string; readonly until: Instant }>();
  /** How often in a row, without a setup that worked. */
  readonly #failedSetUps = new Map<string, number>();

  constructor(clock: Clock, first: Duration, longest: Duration) {
    this.#clock = clock;
    this.#pauseAfter = doubling(first, longest);
    this.#failures = new BackOff(clock, first, longest);
  }

  /** The pause that follows. */
  note(host: string, reason: string): Duration {
    this.#reasons.set(host, reason);
    return this.#failures.tried(host);
  }

  /** Passes it over for this long, however well it does meanwhile. */
  rest(host: string, reason: string, pause: Duration): void {
    this.#resting.set(host, { reason, until: this.#clock.now() + pause });
  }

  /** It has not failed after all. */
  clear(host: string): void {
    this.#failures.forget(host);
  }

  /** A host that was given could not be set up: it rests, however well it gives the claim back. The pause that follows. */
  setUpFailed(host: string, reason: string): Duration {
    const times = (this.#failedSetUps.get(host) ?? 0) + 1;
    this.#failedSetUps.set(host, times);
    const pause = this.#pauseAfter(times);
    this.rest(host, reason, pause);
    return pause;
  }

  /** The setups that failed before count no more. */
  setUpDone(host: string): void {
    this.#failedSetUps.delete(host);
  }

  /** Every host has another chance. */
  clearAll(): void {
    this.#failedSetUps.clear();
    this.#failures.forgetAll();
    this.#resting.clear();
  }

  /** Why the host is passed over now; undefined when it is not. */
  reason(host: string): string | undefined {
    const resting = this.#resting.get(host);
    if (resting !== undefined && this.#clock.now() < resting.until) return resting.reason;
    return this.#failures.rests(host) ? this.#reasons.get(host) : undefined;
  }
}
