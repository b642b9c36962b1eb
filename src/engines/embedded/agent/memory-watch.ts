import { proportionalMemory } from '../../../base/process.ts';
import type { Duration } from '../../../base/time/clock.ts';
import type { RunningAttempt } from './attempt.ts';

const interval: Duration = 200;

const inMiB = (bytes: number): string => `${Math.ceil(bytes / (1 << 20))} MiB`;

/**
 * Ends attempts that hold more memory than they asked for. Runs only while there is one with a limit. Resident sizes
 * count shared pages again and again, so they only raise the suspicion; the proportional size decides.
 */
export class MemoryWatch {
  readonly #limits = new Map<RunningAttempt, number>();
  #looking = false;

  watch(attempt: RunningAttempt, limit: number): void {
    this.#limits.set(attempt, limit);
    void attempt.over.then(() => this.#limits.delete(attempt));
    if (!this.#looking) this.#lookSoon();
  }

  #lookSoon(): void {
    this.#looking = true;
    setTimeout(() => void this.#look(), interval);
  }

  async #look(): Promise<void> {
    await Promise.all([...this.#limits].map(([attempt, limit]) => this.#check(attempt, limit)));
    this.#looking = this.#limits.size > 0;
    if (this.#looking) this.#lookSoon();
  }

  async #check(attempt: RunningAttempt, limit: number): Promise<void> {
    const tree = await attempt.tree();
    if (tree.reduce((sum, row) => sum + row.resident, 0) <= limit) return;
    const used = proportionalMemory(tree.map((row) => row.pid));
    if (used > limit && attempt.running)
      attempt.stop(0, 'memory-limit', `it used ${inMiB(used)} of memory and had requested ${inMiB(limit)}`);
  }
}
