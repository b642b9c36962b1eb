import { BackOff } from '../../base/time/back-off.ts';
import { advance, type InstanceRecord } from '../../core/lifecycle.ts';
import { providerErrors } from '../../providers/errors.ts';
import type { ProviderInstance } from '../../providers/provider.ts';
import type { End, Executor } from './executor.ts';

/** Machines of idle workers that are switched off and kept, where the provider can. */
export class MachineStops {
  readonly #executor: Executor;
  readonly #orders: BackOff;

  constructor(executor: Executor) {
    const { edges, settings } = executor;
    this.#executor = executor;
    this.#orders = new BackOff(edges.clock, settings.terminateAgain, settings.listLag);
  }

  /** It is to be stopped rather than terminated. */
  wants({ status, stopsNext }: InstanceRecord): boolean {
    return status === 'stopped' && stopsNext === true && this.#executor.edges.provider.stop !== undefined;
  }

  /** Those that were told to stop a moment ago are left for a later pass. */
  begin(ends: readonly End[]): void {
    const ready = ends.filter(({ record }) => !this.#orders.rests(record.id));
    this.#executor.orderTogether('stop', ready, (free) => this.#stop(free));
  }

  /** Machines that were told to stop and still run: the order was lost, or somebody has started them. */
  again(instances: readonly ProviderInstance[]): void {
    const { book, edges, settings } = this.#executor;
    const now = edges.clock.now();
    const running = instances.flatMap(({ id, state, launchToken }): End[] => {
      const record = book.ledger.ofMachine(id);
      if (record?.status !== 'machine-stopped' || record.launchToken !== launchToken) return [];
      const late = Math.abs(now - record.since) >= settings.listLag;
      return late && (state === 'running' || state === 'pending')
        ? [{ record, because: { kind: 'follow-up', status: record.status } }]
        : [];
    });
    this.begin(running);
  }

  async #stop(ends: readonly End[]): Promise<void> {
    const { book, edges } = this.#executor;
    const at = edges.clock.now();
    for (const { record } of ends) this.#orders.tried(record.id);
    await book.write(
      ends.flatMap(({ record, because }) => {
        if (record.status === 'machine-stopped') return [];
        const step = advance(record, { outcomes: [{ kind: 'stop-sent' }] }, at, book.timeoutsOf(record.type));
        return [{ kind: 'end' as const, at, record: step.record, how: 'stop' as const, because }];
      }),
    );
    await this.#order(ends);
  }

  /** What cannot be stopped is terminated: it is idle, and costs money. */
  async #order(ends: readonly End[]): Promise<void> {
    const { book, calls, edges } = this.#executor;
    const ids = ends.flatMap(({ record }) => record.providerId ?? []);
    try {
      await calls.make(
        () => providerErrors.Unreachable({ call: 'stop' }),
        async (signal) => edges.provider.stop?.(ids, signal),
      );
    } catch (error) {
      this.#executor.failed('stopping instances', error);
      // Those that still run are told again with a later list.
      if (this.#executor.stopped || providerErrors.Throttled.is(error) || providerErrors.Unreachable.is(error)) return;
      // The others may still be stopped where one of them cannot.
      if (ends.length > 1) for (const end of ends) await this.#order([end]);
      else
        await this.#executor.terminateNow(
          ends.map((end) => ({ ...end, record: book.ledger.record(end.record.id) ?? end.record })),
        );
    }
  }
}
