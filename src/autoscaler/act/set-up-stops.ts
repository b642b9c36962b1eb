import type { InstanceId } from '../../core/instance.ts';
import type { End, Executor } from './executor.ts';

interface Stop {
  readonly end: End;
  readonly done: Promise<void>;
  over: boolean;
}

/**
 * Setups that are stopped so that their instances can be ended. Beside the passes: it takes as long as a machine takes to
 * answer. What is stopped stays so until its end is ordered.
 */
export class SetUpStops {
  readonly #executor: Executor;
  readonly #wake: () => void;
  readonly #dropped: (id: InstanceId) => void;
  readonly #stops = new Map<InstanceId, Stop>();

  /** `dropped`: whether the setup goes on is not known, so that the instance is not ended. */
  constructor(executor: Executor, wake: () => void, dropped: (id: InstanceId) => void) {
    this.#executor = executor;
    this.#wake = wake;
    this.#dropped = dropped;
  }

  /** It is to end: nothing counts on it, and it is not set up again. */
  has(id: InstanceId): boolean {
    return this.#stops.has(id);
  }

  begin(end: End): void {
    const { id } = end.record;
    if (this.#stops.has(id)) return;
    this.#stops.set(id, { end, over: false, done: this.#stop(end) });
  }

  /** Those that can be ended now. */
  *stopped(): Iterable<End> {
    for (const { end, over } of this.#stops.values()) if (over) yield end;
  }

  /** Forgets those whose end was ordered, or whose node came up before. */
  forgetEnded(): void {
    for (const [id, { over }] of this.#stops) {
      const record = this.#executor.book.ledger.record(id);
      if (over && (record === undefined || !this.#executor.inSetUp(record))) this.#stops.delete(id);
    }
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#stops.values()].map(({ done }) => done));
  }

  async #stop({ record }: End): Promise<void> {
    const stopped = await this.#executor.stopSetUp(record);
    const stop = this.#stops.get(record.id);
    // An unreachable machine whose setup has failed is ended all the same; one that may still come up is not.
    if (stopped || this.#executor.book.ledger.record(record.id)?.status === 'setup-failed') {
      if (stop !== undefined) stop.over = true;
      this.#wake();
    } else {
      this.#stops.delete(record.id);
      if (!this.#executor.stopped) this.#dropped(record.id);
    }
  }
}
