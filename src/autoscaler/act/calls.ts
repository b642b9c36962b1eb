import type { Clock, Duration } from '../../base/time/clock.ts';

/** Lets go of a call that has settled. One for all, because nobody reads it and making one is slow. */
const over = new DOMException('The call is over', 'AbortError');

/** Calls to the outside that must settle: by their answer, by a deadline, or because the loop stops. */
export class Calls {
  readonly #clock: Clock;
  readonly #limit: Duration;
  readonly #open = new Set<AbortController>();
  #stopped: { readonly reason: unknown } | undefined;

  constructor(clock: Clock, limit: Duration) {
    this.#clock = clock;
    this.#limit = limit;
  }

  /** Runs `call`; when the deadline passes first, aborts it and throws `late`. */
  async make<T>(late: () => Error, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#stopped !== undefined) throw this.#stopped.reason;
    const controller = new AbortController();
    this.#open.add(controller);
    const timeout = this.#clock.sleep(this.#limit, controller.signal).then((): never => {
      throw late();
    });
    try {
      return await Promise.race([call(controller.signal), timeout]);
    } finally {
      this.#open.delete(controller);
      timeout.catch(() => {});
      controller.abort(over);
    }
  }

  /** Aborts what is open and refuses what comes. */
  stop(reason: unknown): void {
    this.#stopped = { reason };
    for (const controller of this.#open) controller.abort(reason);
  }
}
