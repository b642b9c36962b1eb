import { mustEnd } from '../../core/lifecycle.ts';
import type { Drain, Plan, Terminate } from '../../core/plan/plan.ts';
import type { EngineState } from '../../engines/engine.ts';
import type { ProviderInstance } from '../../providers/provider.ts';
import type { Checks } from '../check.ts';
import { autoscalerEvents as events } from '../events.ts';
import { nodesByMachine, takenBack } from '../observe/observe.ts';
import type { Sides } from '../observe/sides.ts';
import type { End, Executor } from './executor.ts';
import { MachineStops } from './machine-stops.ts';
import type { SetUpStops } from './set-up-stops.ts';

/** How instances leave: what is drained and ended in a pass, each checked once more before. */
export class Ends {
  readonly #executor: Executor;
  readonly #sides: Sides;
  readonly #stops: SetUpStops;
  readonly #checks: Checks;
  readonly #machineStops: MachineStops;

  constructor(executor: Executor, sides: Sides, stops: SetUpStops, checks: Checks) {
    this.#executor = executor;
    this.#sides = sides;
    this.#stops = stops;
    this.#checks = checks;
    this.#machineStops = new MachineStops(executor);
  }

  /** Drains and ends, what the plan wants and what earlier orders left to do. Called on a complete view only. */
  async carryOut(plan: Plan, instances: readonly ProviderInstance[], state: EngineState): Promise<void> {
    this.#drain(
      plan.actions.filter((action) => action.kind === 'drain'),
      instances,
      state,
    );
    this.#machineStops.again(instances);
    const ends = this.#followUps(instances);
    for (const action of plan.actions) {
      if (action.kind !== 'terminate') continue;
      const record = this.#executor.book.ledger.record(action.instance);
      if (record !== undefined && !ends.some((end) => end.record.id === record.id)) {
        ends.push({ record, because: action.because });
      }
    }
    for (const end of ends) if (this.#executor.inSetUp(end.record)) this.#stops.begin(end);
    const ready = [...this.#stops.stopped(), ...ends.filter(({ record }) => !this.#executor.inSetUp(record))];
    if (ready.length > 0) await this.#terminate(ready);
  }

  #drain(actions: readonly Drain[], instances: readonly ProviderInstance[], state: EngineState): void {
    const nodes = nodesByMachine(state.nodes, this.#executor.book.ledger.formerNodes);
    const nodeOf = (providerId: string | undefined) => (providerId === undefined ? undefined : nodes.get(providerId));
    for (const action of actions) {
      const record = this.#executor.book.ledger.record(action.instance);
      if (record !== undefined && this.#executor.busy(record.id)) continue;
      const why = this.#checks.drain(action, record, nodeOf(record?.providerId));
      if (why !== undefined) this.#dropped('a drain', action.instance, why);
      else if (record !== undefined) this.#executor.drain(record, action.node, action.because, action.stops);
    }
    const notices = takenBack(this.#executor.book.ledger, instances);
    for (const machine of instances) {
      const record = this.#executor.book.ledger.ofMachine(machine.id);
      const node = nodes.get(machine.id);
      const deadline = notices.get(machine.id);
      if (record?.kind !== 'worker' || node?.state !== 'alive' || this.#executor.busy(record.id)) continue;
      if (deadline !== undefined && (record.status === 'running' || record.status === 'drain-requested')) {
        this.#executor.drain(record, node.id, { kind: 'preemption', deadline });
      } else if (record.status === 'drain-requested' && node.idleFor > 0) {
        // The answer to an earlier drain was lost and the node has not begun to drain: ask again.
        this.#executor.drain(record, node.id, { kind: 'follow-up', status: record.status });
      }
    }
  }

  /** What must end whatever the plan says, and what was told to end and is still there. */
  #followUps(instances: readonly ProviderInstance[]): End[] {
    const now = this.#executor.edges.clock.now();
    const ends: End[] = [];
    const listed = new Map(instances.map((machine) => [machine.id, machine.state]));
    for (const record of this.#executor.book.ledger.records) {
      if (record.kind === 'head' || record.providerId === undefined) continue;
      const again =
        record.status === 'terminating' &&
        listed.has(record.providerId) &&
        listed.get(record.providerId) !== 'stopping' &&
        Math.abs(now - record.since) >= this.#executor.settings.terminateAgain;
      if (mustEnd(record.status) || again) ends.push({ record, because: { kind: 'follow-up', status: record.status } });
    }
    return ends;
  }

  /** Checks once more, on a state of the engine taken after the decision, and ends what is still to be ended. */
  async #terminate(wanted: readonly End[]): Promise<void> {
    const state = await this.#sides.engineState();
    if (state === undefined) return;
    const nodes = nodesByMachine(state.nodes, this.#executor.book.ledger.formerNodes);
    const ends: End[] = [];
    for (const { record: before, because } of wanted) {
      const record = this.#executor.book.ledger.record(before.id);
      if (record === undefined || this.#executor.busy(record.id)) continue;
      const node = record.providerId === undefined ? undefined : nodes.get(record.providerId);
      const action: Terminate = { kind: 'terminate', instance: record.id, because: because as Terminate['because'] };
      const why = this.#checks.terminate(action, record, node);
      // Its node came up after all: it is emptied first, like any other.
      if (node?.state === 'alive' && mustEnd(record.status)) this.#executor.drain(record, node.id, because);
      if (why !== undefined) this.#dropped('termination', record.id, why);
      else ends.push({ record, because });
    }
    this.#machineStops.begin(ends.filter(({ record }) => this.#machineStops.wants(record)));
    this.#executor.terminate(ends.filter(({ record }) => !this.#machineStops.wants(record)));
  }

  #dropped(action: string, instance: string, why: string): void {
    this.#executor.edges.events.emit(events.dropped, { action, instance, why });
  }
}
