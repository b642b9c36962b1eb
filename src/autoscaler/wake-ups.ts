import type { Clock, Duration } from '../base/time/clock.ts';

/** Ends a wait that nobody asks the reason of. One for all: making one costs more than the rest of a pass. */
export const enough = new DOMException('There is something to do', 'AbortError');

/** Reasons to look again, and the wait for the next of them. */
export class WakeUps {
  readonly #clock: Clock;
  readonly #batch: { readonly batchIdle: Duration; readonly batchMax: Duration };
  #count = 0;
  #woken: (() => void) | undefined;

  constructor(clock: Clock, batch: { readonly batchIdle: Duration; readonly batchMax: Duration }) {
    this.#clock = clock;
    this.#batch = batch;
  }

  /** How many there were. */
  get count(): number {
    return this.#count;
  }

  wake(): void {
    this.#count++;
    this.#woken?.();
  }

  /** Waits for the next reason to look: a wake-up and the quiet after it, or the end of `wait`. */
  async rest(seen: number, wait: Duration, signal: AbortSignal): Promise<void> {
    const clock = this.#clock;
    if (this.#count === seen && !signal.aborted) {
      const sleeping = new AbortController();
      const stop = (): void => sleeping.abort(enough);
      this.#woken = stop;
      signal.addEventListener('abort', stop);
      await clock.sleep(wait, sleeping.signal).catch(() => {});
      signal.removeEventListener('abort', stop);
      this.#woken = undefined;
    }
    const { batchIdle, batchMax } = this.#batch;
    let quietSince = this.#count;
    if (quietSince === seen) return;
    for (let waited = 0; waited < batchMax && !signal.aborted; waited += batchIdle) {
      await clock.sleep(batchIdle, signal).catch(() => {});
      if (this.#count === quietSince) return;
      quietSince = this.#count;
    }
  }
}
