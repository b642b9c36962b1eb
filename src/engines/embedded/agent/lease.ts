import type { Duration } from '../../../base/time/clock.ts';

/** How late a timer may fire before the process itself, not the head, must have stood still. */
const stall = 5_000;
/** What a process that stood still is given for the head to reach it again. */
const secondChance = 15_000;

/**
 * Permission to live. Counts on a clock that only goes forward: a jump of the wall clock, or a night in which the
 * machine slept, ends nothing.
 */
export class Lease {
  readonly #length: Duration;
  readonly #expired: () => void;
  readonly #monotonic: () => number;
  #until: number;
  #timer: NodeJS.Timeout | undefined;
  #over = false;

  constructor(length: Duration, expired: () => void, monotonic: () => number = () => performance.now()) {
    this.#length = length;
    this.#expired = expired;
    this.#monotonic = monotonic;
    this.#until = 0;
    this.renew();
  }

  renew(): void {
    this.#until = this.#monotonic() + this.#length;
    this.#arm();
  }

  /** No longer needed: it neither expires nor keeps the process alive. */
  end(): void {
    this.#over = true;
    clearTimeout(this.#timer);
  }

  #arm(): void {
    clearTimeout(this.#timer);
    if (this.#over) return;
    this.#timer = setTimeout(() => this.#check(), Math.min(this.#until - this.#monotonic() + 1, 0x7fff_ffff));
  }

  #check(): void {
    const late = this.#monotonic() - this.#until;
    if (late > stall) {
      this.#until = this.#monotonic() + Math.min(this.#length, secondChance);
      this.#arm();
    } else if (late >= 0) this.#expired();
    else this.#arm();
  }
}
