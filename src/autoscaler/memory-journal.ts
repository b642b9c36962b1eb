import type { Journal, ScalingFact } from './journal.ts';

/** A journal that lives as long as the process: for simulations, tests and trials. */
export class MemoryJournal implements Journal {
  readonly facts: ScalingFact[] = [];

  append(facts: readonly ScalingFact[]): Promise<void> {
    this.facts.push(...facts);
    return Promise.resolve();
  }

  async *read(): AsyncIterable<ScalingFact> {
    yield* this.facts;
  }
}
