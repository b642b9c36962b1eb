import type { Fact, Journal } from './journal.ts';

/** A journal that lives as long as the process: for simulations, tests and trials. */
export class MemoryJournal implements Journal {
  readonly facts: Fact[] = [];

  append(facts: readonly Fact[]): Promise<void> {
    this.facts.push(...facts);
    return Promise.resolve();
  }

  async *read(): AsyncIterable<Fact> {
    yield* this.facts;
  }
}
