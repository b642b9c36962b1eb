import { setImmediate as immediate } from 'node:timers/promises';

/** Milliseconds of work in one go. */
const sliceLength = 20;

/** Long work in slices: between two of them everybody else has a turn. */
export class Slices {
  #began = performance.now();

  /** Called between two pieces of the work. Resolves when it may go on. */
  async pause(): Promise<void> {
    if (!this.isOver) return;
    await immediate();
    this.#began = performance.now();
  }

  /** Asked where there is much to do, so that not every piece of it waits for a promise. */
  get isOver(): boolean {
    return performance.now() - this.#began > sliceLength;
  }
}
