import type { ScalingFact } from '../autoscaler/journal.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { View } from '../core/view.ts';
import type { LaunchRequest } from '../providers/provider.ts';
import type { SimulatedMachine } from './machine.ts';
import { hash } from './random.ts';
import { brokenGang } from './scenario/gang-check.ts';
import type { Watcher, WorkKind } from './watcher.ts';
import type { SimulatedNode } from './work.ts';
import type { World } from './world.ts';

/** The rules that hold at every step of every run. */
export type Rule =
  /** A launch's token is in the journal before the provider is asked. */
  | 'token-first'
  /** A token stands for one set of instances: it is never used for another request. */
  | 'double-launch'
  | 'limits'
  /** Nothing is drained or ended unless the last list and the last state were complete. */
  | 'partial-view'
  /** A node that runs work is not ended by Manta. */
  | 'busy'
  | 'head'
  /** A launch for a gang makes room for all of it. */
  | 'gang'
  /** Work that can be done gets done once faults stop. */
  | 'progress'
  /** With the work done and faults over, the plan becomes empty and the floor is what is left. */
  | 'convergence'
  /** After the end there is no machine. */
  | 'leak';

export interface Violation {
  readonly rule: Rule;
  readonly detail: string;
  /** Since the start of the run. */
  readonly at: number;
}

/** Watches a run for broken rules, and boils all that happens down to one number to compare runs by. */
export class Judge implements Watcher {
  readonly violations: Violation[] = [];
  readonly #tokens = new Map<string, string>();
  readonly #journalled = new Set<string>();
  #listComplete = false;
  #stateComplete = false;
  /** Set while the user ends the whole cluster: busy nodes go then. */
  ending = false;
  trace = 0;
  world: World | undefined;

  /** Tells of a broken rule. */
  blame(rule: Rule, detail: string): void {
    this.violations.push({ rule, detail, at: this.world?.elapsed ?? 0 });
  }

  wrote(facts: readonly ScalingFact[]): void {
    for (const fact of facts) if (fact.kind === 'launch') this.#journalled.add(fact.token);
  }

  passed(view: View, plan: Plan): void {
    const gang = brokenGang(view, plan, (this.world as World).scenario.spec);
    if (gang !== undefined) this.blame('gang', `launched for ${gang} without room for all of it`);
  }

  launchCalled(request: LaunchRequest): void {
    this.#note('call', request.token);
    if (!this.#journalled.has(request.token))
      this.blame('token-first', `launch ${request.token} is not in the journal`);
    const asked = `${request.count} ${request.type} ${request.zone} ${request.market}`;
    const earlier = this.#tokens.get(request.token);
    if (earlier !== undefined && earlier !== asked) {
      this.blame('double-launch', `token ${request.token} was used for ${earlier} and for ${asked}`);
    }
    this.#tokens.set(request.token, asked);
  }

  launched(machines: readonly SimulatedMachine[], request: LaunchRequest | undefined): void {
    for (const machine of machines) this.#note('launched', machine.id);
    if (request !== undefined) this.#checkLimits();
  }

  terminateCalled(ids: readonly string[]): void {
    for (const id of ids) {
      this.#note('end', id);
      if (this.world?.cloud.machine(id)?.kind === 'head' && !this.ending)
        this.blame('head', `an attempt to terminate the head ${id}`);
    }
    if (!this.ending) this.#checkView(`terminating ${ids.join(', ')}`);
  }

  drainCalled(node: string): void {
    this.#note('drain', node);
    if (node === `node-${this.world?.head.id}`) this.blame('head', 'an attempt to drain the head');
    this.#checkView(`draining ${node}`);
  }

  terminated(machine: SimulatedMachine): void {
    this.#note('terminated', machine.id);
    const running = this.world?.engine.nodeOn(machine.id)?.running.size ?? 0;
    if (running > 0 && !this.ending) this.blame('busy', `${machine.id} was terminated with ${running} running on it`);
  }

  stopped(machine: SimulatedMachine): void {
    this.#note('stopped', machine.id);
    const running = this.world?.engine.nodeOn(machine.id)?.running.size ?? 0;
    if (running > 0) this.blame('busy', `${machine.id} was stopped with ${running} running on it`);
  }

  gone(machine: SimulatedMachine): void {
    this.#note('gone', machine.id);
  }

  answered(side: 'list' | 'state', complete: boolean): void {
    if (side === 'list') this.#listComplete = complete;
    else this.#stateComplete = complete;
  }

  joined(node: SimulatedNode): void {
    this.#note('joined', node.id);
  }

  started(kind: WorkKind): void {
    this.#note('started', kind);
  }

  finished(kind: WorkKind): void {
    this.#note('finished', kind);
  }

  #checkView(what: string): void {
    if (this.#listComplete && this.#stateComplete) return;
    const missing = this.#listComplete ? 'state' : 'list';
    this.blame('partial-view', `${what} although the last ${missing} was incomplete`);
  }

  /** Counts machines that are meant to stay: neither ended, nor draining, nor announced to go, nor somebody else's. */
  #checkLimits(): void {
    const { spec } = (this.world as World).scenario;
    const byType = new Map<string, number>();
    let workers = 0;
    for (const machine of (this.world as World).workers()) {
      if (machine.preemptionAt !== undefined || machine.token.startsWith('stray')) continue;
      if (this.world?.engine.nodeOn(machine.id)?.state === 'draining') continue;
      workers++;
      byType.set(machine.type, (byType.get(machine.type) ?? 0) + 1);
    }
    if (workers > (spec.maxWorkers ?? Number.POSITIVE_INFINITY)) {
      this.blame('limits', `${workers} workers, ${spec.maxWorkers} allowed`);
    }
    for (const type of spec.nodeTypes) {
      const count = byType.get(type.name) ?? 0;
      if (count > type.maxWorkers) this.blame('limits', `${count} of ${type.name}, ${type.maxWorkers} allowed`);
    }
  }

  #note(what: string, which: string): void {
    this.trace = hash(`${what} ${which} ${this.world?.time.now}`, this.trace);
  }
}
