import type { Instant } from '../base/time/clock.ts';
import type { Demand } from '../core/demand.ts';
import type { LabelSelector, Resources } from '../core/resources.ts';
import type { ScalingSpec } from '../core/scaling.ts';
import type { Engine, EngineNode, EngineState } from '../engines/engine.ts';
import { engineErrors } from '../engines/errors.ts';
import type { Faults } from './faults.ts';
import type { SimulatedMachine } from './machine.ts';
import type { Random } from './random.ts';
import type { ScenarioSubmission } from './scenario/scenario.ts';
import type { VirtualTime } from './virtual-time.ts';
import type { Watcher } from './watcher.ts';
import {
  busyTime,
  fits,
  type Gang,
  gangDemand,
  give,
  matches,
  placeGang,
  type SimulatedNode,
  take,
  type Work,
  type WorkShape,
} from './work.ts';

/** How long the engine goes on naming a node that has died. */
const deadNodesShown = 60_000;

export interface EngineOptions {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly spec: ScalingSpec;
  readonly faults: Faults;
  readonly watcher: Required<Watcher>;
  /** Something happened that a planner should look at. */
  readonly onChange: (what: 'demand' | 'node') => void;
}

/** An engine with nodes, tasks, actors, gangs and standing requests, seen through the engine contract. */
export class SimulatedEngine implements Engine {
  readonly #options: EngineOptions;
  readonly #nodes = new Map<string, SimulatedNode>();
  readonly #shapes = new Map<string, WorkShape>();
  #gangs: Gang[] = [];
  #standing: Extract<ScenarioSubmission, { kind: 'standing' }>[] = [];
  #count = 0;
  /** Submitted and not yet finished. */
  unfinished = 0;
  /** When something came to its end last. */
  finishedAt: Instant | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  get nodes(): Iterable<SimulatedNode> {
    return this.#nodes.values();
  }

  get waiting(): number {
    let count = this.#gangs.length;
    for (const shape of this.#shapes.values()) count += shape.waiting.length;
    return count;
  }

  /** Something runs. */
  get atWork(): boolean {
    for (const node of this.#nodes.values()) if (node.running.size > 0) return true;
    return false;
  }

  /** The node on a machine, unless it has died. */
  nodeOn(machine: string): SimulatedNode | undefined {
    for (const node of this.#nodes.values()) if (node.machine === machine && node.state !== 'dead') return node;
    return undefined;
  }

  async state(signal: AbortSignal): Promise<EngineState> {
    const { time, random, faults } = this.#options;
    const silent = faults.hit('engineSilent');
    await time.sleep(silent ? 5_000 : random.between(5, 50), signal);
    if (silent) throw engineErrors.Unreachable({ call: 'state' });
    const nodes: EngineNode[] = [];
    for (const node of this.#nodes.values()) nodes.push(this.#report(node));
    return { at: time.now, nodes, demand: this.demand() };
  }

  async drain(
    id: string,
    reason: Parameters<Engine['drain']>[1],
    signal: AbortSignal,
  ): Promise<{ readonly accepted: boolean; readonly reason?: string }> {
    const { time, random, faults, watcher } = this.#options;
    watcher.drainCalled(id);
    await time.sleep(random.between(5, 50), signal);
    const node = this.#nodes.get(id);
    if (node === undefined || node.state === 'dead') return { accepted: true };
    if (reason.kind === 'idle' && node.state === 'alive') {
      if (node.running.size > 0) return { accepted: false, reason: 'the node is busy' };
      if (faults.hit('drainRefused')) return { accepted: false, reason: 'the node is about to be used' };
    }
    node.state = 'draining';
    if (node.running.size === 0) time.after(500, () => this.#leave(node));
    if (faults.hit('drainAnswerLost')) {
      await time.sleep(5_000, signal);
      throw engineErrors.Unreachable({ call: 'drain' });
    }
    return { accepted: true };
  }

  reportInfeasible(): Promise<void> {
    return Promise.resolve();
  }

  submit(submission: ScenarioSubmission): void {
    const { time, watcher, onChange } = this.#options;
    switch (submission.kind) {
      case 'standing':
        this.#standing.push(submission);
        time.after(submission.until - submission.at, () => {
          this.#standing = this.#standing.filter((each) => each !== submission);
          onChange('demand');
        });
        break;
      case 'gang': {
        const id = ++this.#count;
        const { bundles, strategy, duration } = submission;
        const demand = gangDemand(id, bundles, strategy);
        this.#gangs.push({
          ...{ id, kind: 'gang', bundles, strategy, demand, duration, submittedAt: time.now },
          ...{ startedAt: undefined, timer: undefined, places: [] },
        });
        this.unfinished++;
        watcher.submitted(submission.kind);
        this.#placeGangs();
        break;
      }
      default: {
        const shape = this.#shape(submission.resources, submission.selectors);
        const { kind, duration } = submission;
        shape.waiting.push({
          ...{
            id: ++this.#count,
            kind,
            shape,
            duration,
            submittedAt: time.now,
            startedAt: undefined,
            timer: undefined,
          },
        });
        this.unfinished++;
        watcher.submitted(submission.kind);
        for (const node of this.#byPreference(submission.resources)) this.#fill(node, shape);
      }
    }
    onChange('demand');
  }

  /** A machine has come up as a node. */
  join(machine: Pick<SimulatedMachine, 'id' | 'type' | 'kind' | 'before'>): void {
    const { time, spec, watcher, onChange } = this.#options;
    const type = spec.nodeTypes.find((each) => each.name === machine.type);
    const node: SimulatedNode = {
      id: machine.before.length === 0 ? `node-${machine.id}` : `node-${machine.id}-${machine.before.length}`,
      machine: machine.id,
      type: machine.type,
      head: machine.kind === 'head',
      total: type?.resources ?? {},
      available: { ...type?.resources },
      labels: type?.labels ?? {},
      running: new Set(),
      state: 'alive',
      idleSince: time.now,
      joinedAt: time.now,
      diedAt: Number.POSITIVE_INFINITY,
      busyFor: 0,
      busySince: 0,
    };
    this.#nodes.set(node.id, node);
    watcher.joined(node);
    this.#place(node);
    onChange('node');
  }

  /** A machine is gone, and its node with it: what ran there starts again. */
  lose(machine: string): void {
    const node = this.nodeOn(machine);
    if (node !== undefined) this.#leave(node);
  }

  demand(): Demand {
    const tasks = [];
    for (const { request, waiting } of this.#shapes.values()) {
      if (waiting.length > 0) tasks.push({ request, count: waiting.length });
    }
    return {
      tasks,
      gangs: this.#gangs.map((gang) => gang.demand),
      standing: this.#standing.map(({ requests }) => ({
        requests: requests.map(({ resources, count }) => ({
          request: { resources, selectors: [], placement: [] },
          count,
        })),
      })),
    };
  }

  #report(node: SimulatedNode): EngineNode {
    const idle = node.running.size === 0 && node.state === 'alive';
    return {
      id: node.id,
      total: node.total,
      available: { ...node.available },
      labels: node.labels,
      idleFor: idle ? this.#options.time.now - node.idleSince : 0,
      providerId: node.machine,
      type: node.type,
      head: node.head,
      state: node.state,
    };
  }

  #shape(resources: Resources, selectors: readonly LabelSelector[]): WorkShape {
    const key = JSON.stringify([resources, selectors]);
    let shape = this.#shapes.get(key);
    if (shape === undefined) {
      shape = { request: { resources, selectors, placement: [] }, waiting: [] };
      this.#shapes.set(key, shape);
    }
    return shape;
  }

  /** As Ray does: first come first, and work without GPUs keeps off nodes with them while it can. */
  #byPreference(resources: Resources): readonly SimulatedNode[] {
    const usable = [...this.#nodes.values()].filter((node) => node.state === 'alive');
    if ((resources['GPU'] ?? 0) > 0) return usable;
    return usable.sort((a, b) => Number((a.total['GPU'] ?? 0) > 0) - Number((b.total['GPU'] ?? 0) > 0));
  }

  /** Gives a node what waits and fits: gangs first, they are the hardest to place. */
  #place(node: SimulatedNode): void {
    if (this.#gangs.length > 0) this.#placeGangs();
    for (const shape of this.#shapes.values()) this.#fill(node, shape);
  }

  #fill(node: SimulatedNode, shape: WorkShape): void {
    const { resources, selectors } = shape.request;
    if (shape.waiting.length === 0 || node.state !== 'alive' || !matches(node.labels, selectors)) return;
    while (shape.waiting.length > 0 && fits(node, resources)) {
      const work = shape.waiting.shift() as Work;
      take(node, resources);
      this.#start(work, [node]);
      work.timer = this.#options.time.after(work.duration, () => {
        give(node, resources);
        this.#finish(work, [node]);
      });
    }
  }

  #placeGangs(): void {
    this.#gangs = this.#gangs.filter((gang) => {
      const nodes = this.#byPreference(gang.bundles[0] ?? {});
      const places = placeGang(gang, nodes);
      if (places === undefined) return true;
      gang.places = places;
      places.forEach((node, index) => take(node, gang.bundles[index] as Resources));
      this.#start(gang, places);
      gang.timer = this.#options.time.after(gang.duration, () => {
        places.forEach((node, index) => give(node, gang.bundles[index] as Resources));
        gang.places = [];
        this.#finish(gang, places);
      });
      return false;
    });
  }

  #start(work: Work | Gang, nodes: readonly SimulatedNode[]): void {
    const { time, watcher } = this.#options;
    const first = work.startedAt === undefined;
    work.startedAt = time.now;
    for (const node of nodes) {
      if (node.running.size === 0) {
        node.busySince = time.now;
        watcher.busy(node);
      }
      node.running.add(work);
    }
    watcher.started(work.kind, first ? time.now - work.submittedAt : undefined);
  }

  #finish(work: Work | Gang, nodes: readonly SimulatedNode[]): void {
    this.unfinished--;
    this.finishedAt = this.#options.time.now;
    this.#options.watcher.finished(work.kind);
    for (const node of new Set(nodes)) {
      this.#release(node, work);
    }
    for (const node of new Set(nodes)) {
      if (node.state === 'alive') this.#place(node);
      else if (node.state === 'draining' && node.running.size === 0) this.#leave(node);
    }
  }

  #release(node: SimulatedNode, work: Work | Gang): void {
    if (!node.running.delete(work) || node.running.size > 0) return;
    node.idleSince = this.#options.time.now;
    node.busyFor += node.idleSince - node.busySince;
    this.#options.watcher.idle(node);
  }

  #leave(node: SimulatedNode): void {
    const { time, watcher, onChange } = this.#options;
    if (node.state === 'dead') return;
    node.state = 'dead';
    node.diedAt = time.now;
    watcher.left(node);
    node.busyFor = busyTime(node, time.now);
    const lost = [...node.running];
    node.running.clear();
    for (const work of lost) this.#restart(work, node);
    time.after(deadNodesShown, () => this.#nodes.delete(node.id));
    onChange('node');
  }

  #restart(work: Work | Gang, lost: SimulatedNode): void {
    work.timer?.cancel();
    this.#options.watcher.killed(work.kind);
    if (work.kind !== 'gang') {
      work.shape.waiting.unshift(work);
      for (const node of this.#byPreference(work.shape.request.resources)) this.#fill(node, work.shape);
      return;
    }
    const places = work.places;
    work.places = [];
    places.forEach((node, index) => {
      if (node === lost) return;
      this.#release(node, work);
      give(node, work.bundles[index] as Resources);
    });
    this.#gangs.unshift(work);
    for (const node of new Set(places)) if (node !== lost && node.state === 'alive') this.#place(node);
  }
}
