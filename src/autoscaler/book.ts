import type { EventSink } from '../base/events.ts';
import type { Clock } from '../base/time/clock.ts';
import type { InstanceId, NodeTypeName } from '../core/instance.ts';
import { advance, type InstanceOutcome, type LifecycleTimeouts, setUpFailure } from '../core/lifecycle.ts';
import { autoscalerEvents as events } from './events.ts';
import type { Journal, ScalingFact } from './journal.ts';
import { Ledger } from './ledger.ts';

/** The journal and what it folds to, kept in step: what is in the ledger is, or is about to be, in the journal. */
export class Book {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #events: EventSink;
  /** How long instances of a type may stay where they are. */
  readonly timeoutsOf: (type: NodeTypeName) => LifecycleTimeouts;
  #ledger = new Ledger();
  #inStep = false;

  constructor(journal: Journal, clock: Clock, events: EventSink, timeoutsOf: Book['timeoutsOf']) {
    this.#journal = journal;
    this.#clock = clock;
    this.#events = events;
    this.timeoutsOf = timeoutsOf;
  }

  get ledger(): Ledger {
    return this.#ledger;
  }

  /** Folds the journal again if the ledger may differ from it: at the start, and after a write that failed. */
  async open(): Promise<void> {
    if (this.#inStep) return;
    const ledger = new Ledger();
    for await (const fact of this.#journal.read()) {
      if (!ledger.apply(fact)) this.#events.emit(events.unreadableFact, { kind: String(fact.kind) });
    }
    ledger.foldedAt(this.#clock.now());
    this.#ledger = ledger;
    this.#inStep = true;
  }

  /** Takes facts in. Wait for it before any effect that relies on them. */
  async write(facts: readonly ScalingFact[]): Promise<void> {
    if (facts.length === 0) return;
    for (const fact of facts) {
      this.#ledger.apply(fact);
      this.#tell(fact);
    }
    try {
      await this.#journal.append(facts);
    } catch (error) {
      this.#inStep = false;
      throw error;
    }
  }

  /** The facts by which instances move on after what came of Manta's own calls. */
  outcomes(entries: Iterable<readonly [InstanceId, InstanceOutcome]>): ScalingFact[] {
    const at = this.#clock.now();
    const facts: ScalingFact[] = [];
    for (const [id, outcome] of entries) {
      const record = this.#ledger.record(id);
      if (record === undefined) continue;
      const step = advance(record, { outcomes: [outcome] }, at, this.timeoutsOf(record.type));
      if (step.record !== record) facts.push({ kind: 'instance', at, record: step.record, moves: step.moves });
    }
    return facts;
  }

  #tell(fact: ScalingFact): void {
    if (fact.kind === 'adopted') {
      const { id, type, providerId = '', kind } = fact.record;
      if (kind === 'worker') this.#events.emit(events.adopted, { instance: id, providerId, type, why: fact.why.kind });
    } else if (fact.kind === 'instance') {
      const { id, type, isolated } = fact.record;
      if (fact.moves.some((move) => move.to === 'running' && move.from !== 'drain-requested')) {
        this.#events.emit(events.running, { instance: id, type });
      }
      const late = fact.moves.find((move) => move.to === 'setup-failed' && move.because.kind === 'timeout');
      if (late !== undefined)
        this.#events.emit(events.setupFailed, { instance: id, type, reason: setUpFailure(late) ?? '' });
      if (isolated !== undefined) this.#events.emit(events.isolated, { instance: id, why: JSON.stringify(isolated) });
    } else if (fact.kind === 'end') {
      this.#events.emit(events.ended, {
        instance: fact.record.id,
        type: fact.record.type,
        how: fact.how,
        because: fact.because,
      });
    }
  }
}
