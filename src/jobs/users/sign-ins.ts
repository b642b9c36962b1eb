import type { EventSink } from '../../base/events.ts';
import type { Clock, Instant } from '../../base/time/clock.ts';
import { jobEvents } from '../events.ts';

/** Wrong tokens and tickets that are answered at once, and how many more a second. */
const burst = 300;
const perSecond = 10;
/** Between two events that tell of them. */
const toldEvery = 600_000;

/**
 * Counts sign-ins that fail. Beyond a rate they are told to wait; a right token never is, so that nobody can be locked out
 * by somebody else's guesses.
 */
export class SignIns {
  readonly #clock: Clock;
  readonly #events: EventSink;
  #left = burst;
  #at: Instant;
  #untold = 0;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, events: EventSink) {
    this.#clock = clock;
    this.#events = events;
    this.#at = clock.now();
  }

  /** One more has failed. Returns for how many seconds anyone who asks has to wait; undefined: not at all. */
  failed({ byCookie }: { readonly byCookie: boolean }): number | undefined {
    const now = this.#clock.now();
    this.#left = Math.min(burst, this.#left + (Math.max(0, now - this.#at) / 1_000) * perSecond);
    this.#at = now;
    // A browser that comes back after its session has ended tries nothing.
    if (!byCookie) this.#tell(now);
    if (this.#left < 1) return Math.max(1, Math.ceil((1 - this.#left) / perSecond));
    this.#left -= 1;
    return undefined;
  }

  #tell(now: Instant): void {
    this.#untold += 1;
    if (now - this.#toldAt < toldEvery) return;
    this.#events.emit(jobEvents.userSignInRefused, { count: this.#untold });
    this.#untold = 0;
    this.#toldAt = now;
  }
}
