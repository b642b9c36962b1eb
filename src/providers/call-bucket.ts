import type { Clock } from '../base/time/clock.ts';
import { orAborted } from '../base/time/deadline.ts';

export interface CallBucketOptions {
  readonly clock: Clock;
  /** Calls a second at first, and at most. @default 20 */
  readonly perSecond?: number;
  /** Calls that may be made at once after a pause, while nothing is throttled. @default 40 */
  readonly burst?: number;
}

const slowest = 0.5;
/** What a call that was not throttled adds to the rate: it doubles with 35 of them. */
const raise = 1.02;

/**
 * Through which all calls of a cluster to its cloud go. A throttle halves the rate for all of them, success raises it.
 * Calls are let through in the order in which they came.
 */
export class CallBucket {
  readonly #clock: Clock;
  readonly #fastest: number;
  readonly #burst: number;
  #rate: number;
  #tokens: number;
  #filledAt: number;
  #slowed = 0;
  #turn: Promise<void> = Promise.resolve();

  constructor({ clock, perSecond = 20, burst = 40 }: CallBucketOptions) {
    this.#clock = clock;
    this.#fastest = perSecond;
    this.#rate = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
    this.#filledAt = this.#now();
  }

  /** Calls a second, at present. */
  get rate(): number {
    return this.#rate;
  }

  /** Makes a call when its turn has come. `isThrottle` tells whether what it threw means that there were too many. */
  async call<Result>(
    work: () => Promise<Result>,
    isThrottle: (error: unknown) => boolean,
    signal: AbortSignal,
  ): Promise<Result> {
    await this.#take(signal);
    const slowed = this.#slowed;
    try {
      const result = await work();
      this.#rate = Math.min(this.#fastest, this.#rate * raise);
      return result;
    } catch (error) {
      // Calls that were under way together are told the same thing: it counts once.
      if (isThrottle(error) && slowed === this.#slowed) this.#slowDown();
      throw error;
    }
  }

  #slowDown(): void {
    this.#fill();
    this.#slowed++;
    this.#rate = Math.max(slowest, this.#rate / 2);
    this.#tokens = 0;
  }

  async #take(signal: AbortSignal): Promise<void> {
    const before = this.#turn;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#turn = promise;
    try {
      await orAborted(before, signal);
      for (this.#fill(); this.#tokens < 1; this.#fill()) {
        signal.throwIfAborted();
        await this.#clock.sleep(Math.ceil((1000 * (1 - this.#tokens)) / this.#rate), signal);
      }
      this.#tokens--;
    } finally {
      void before.then(resolve);
    }
  }

  #fill(): void {
    const now = this.#now();
    // A cloud that lets few calls through lets few through at once, too.
    const most = Math.max(1, (this.#burst * this.#rate) / this.#fastest);
    this.#tokens = Math.min(most, this.#tokens + (this.#rate * Math.max(0, now - this.#filledAt)) / 1000);
    this.#filledAt = now;
  }

  #now(): number {
    return this.#clock.elapsed?.() ?? this.#clock.now();
  }
}
