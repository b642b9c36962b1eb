import type { Clock, Duration, Instant } from '../../../base/time/clock.ts';
import { steadyClock } from '../../../base/time/steady-clock.ts';

/** Lists lag; none is behind by so much. */
const goneAfter: Duration = 3_600_000;
/** Of thousands of machines the look is not for free. */
const lookEvery: Duration = 60_000;

/** Which machines all lists have left out for so long that nothing is asked of them any more. */
export class GoneMachines {
  readonly #clock: Clock;
  /** When a list first left them out. */
  #missing: ReadonlyMap<string, Instant> = new Map();
  #looked = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = steadyClock(clock);
  }

  /** Whether it is time to look. */
  get due(): boolean {
    return this.#clock.now() - this.#looked >= lookEvery;
  }

  /** A complete list has come. Those of `known` that are gone. */
  after(listed: ReadonlySet<string>, known: Iterable<string>): readonly string[] {
    const now = this.#clock.now();
    this.#looked = now;
    const missing = [...known].filter((each) => !listed.has(each));
    this.#missing = new Map(missing.map((each) => [each, this.#missing.get(each) ?? now]));
    return [...this.#missing].flatMap(([each, since]) => (now - since >= goneAfter ? [each] : []));
  }
}
