import type { Clock, Duration, Instant } from '../../src/base/time/clock.ts';

/** A clock that stands still until it is told. Sleeps run on time that only goes forward; `set` moves the calendar alone. */
export class ManualClock implements Clock {
  #calendar: Instant;
  #elapsed = 0;
  #sleepers: { at: number; wake: () => void }[] = [];

  constructor(start: Instant = Date.UTC(2026, 0, 1)) {
    this.#calendar = start;
  }

  now(): Instant {
    return this.#calendar;
  }

  sleep(duration: Duration, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const sleeper = { at: this.#elapsed + duration, wake: () => resolve() };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', () => {
        this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
        reject(signal.reason as Error);
      });
    });
  }

  /** The calendar jumps; nobody wakes by it. */
  set(now: Instant): void {
    this.#calendar = now;
  }

  /** Lets time pass, waking sleepers in order. */
  async advance(duration: Duration): Promise<void> {
    const end = this.#elapsed + duration;
    for (;;) {
      await settle();
      const next = this.#sleepers.filter((each) => each.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#calendar += next.at - this.#elapsed;
      this.#elapsed = next.at;
      this.#sleepers = this.#sleepers.filter((each) => each !== next);
      next.wake();
    }
    this.#calendar += end - this.#elapsed;
    this.#elapsed = end;
    await settle();
  }
}

/** Lets everything that can happen without time passing happen. */
export async function settle(turns = 12): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
}
