import type { Clock, Duration, Instant } from '../base/time/clock.ts';

export interface Timer {
  readonly at: Instant;
  cancel(): void;
}

interface Entry extends Timer {
  readonly order: number;
  run: (() => void) | undefined;
}

/**
 * One queue of events and a time that moves from one to the next. Code that awaits `clock.sleep` or anything that is
 * settled by an event runs between two events, to its end, in the same order every time.
 */
export class VirtualTime {
  #now: Instant;
  #order = 0;
  #settled = false;
  #held: Promise<unknown> | undefined;
  readonly #heap: Entry[] = [];

  constructor(start: Instant) {
    this.#now = start;
  }

  get now(): Instant {
    return this.#now;
  }

  /** Runs `run` at `at`, after everything already due at that instant. */
  at(at: Instant, run: () => void): Timer {
    const entry: Entry = {
      at: Math.max(at, this.#now),
      order: this.#order++,
      run,
      cancel: () => {
        entry.run = undefined;
      },
    };
    this.#push(entry);
    return entry;
  }

  after(duration: Duration, run: () => void): Timer {
    return this.at(this.#now + duration, run);
  }

  /** Resolves after `duration`. */
  sleep(duration: Duration, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        timer.cancel();
        this.#settled = true;
        reject(signal?.reason);
      };
      const timer = this.after(duration, () => {
        this.#settled = true;
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Tells that a promise was settled by hand, so that those who wait for it run before time goes on. */
  settled(): void {
    this.#settled = true;
  }

  /** Stops time until `work`, which happens outside of it, is done. */
  hold<T>(work: Promise<T>): Promise<T> {
    const held = Promise.allSettled([this.#held, work]);
    this.#held = held;
    void held.then(() => {
      if (this.#held === held) this.#held = undefined;
    });
    return work;
  }

  /** Runs events in order until there is none before `until`, or `done` says so. */
  async run(until: Instant, done: () => boolean = () => false): Promise<void> {
    await nextTurn();
    if (this.#held !== undefined) await this.#released();
    while (!done()) {
      const entry = this.#heap[0];
      if (entry === undefined || entry.at > until) {
        this.#now = Math.max(this.#now, Math.min(until, entry?.at ?? until));
        return;
      }
      this.#pop();
      if (entry.run === undefined) continue;
      this.#now = entry.at;
      entry.run();
      if (this.#settled) {
        this.#settled = false;
        await nextTurn();
        if (this.#held !== undefined) await this.#released();
      }
    }
  }

  async #released(): Promise<void> {
    for (let held = this.#held; held !== undefined; held = this.#held) {
      await held;
      await nextTurn();
    }
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(entry);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] as Entry;
      if (!before(entry, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Entry;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1] as Entry, heap[child] as Entry)) child++;
      if (!before(heap[child] as Entry, last)) break;
      heap[index] = heap[child] as Entry;
      index = child;
    }
    heap[index] = last;
  }
}

/** A wall clock over virtual time that can be set wrong. Sleeping is not affected, as on a real machine. */
export class VirtualClock implements Clock {
  readonly #time: VirtualTime;
  offset: Duration = 0;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  now(): Instant {
    return this.#time.now + this.offset;
  }

  elapsed(): Duration {
    return this.#time.now;
  }

  sleep(duration: Duration, signal?: AbortSignal): Promise<void> {
    return this.#time.sleep(duration, signal);
  }
}

const before = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

/** Lets every promise that is already settled run its course: microtasks all come before the next immediate. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
