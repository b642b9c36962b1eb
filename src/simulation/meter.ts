import type { Duration, Instant } from '../base/time/clock.ts';
import type { NodeTypeName } from '../core/instance.ts';
import type { ScalingSpec } from '../core/scaling.ts';
import { never, offTime, type SimulatedMachine } from './machine.ts';
import type { Watcher, WorkKind } from './watcher.ts';
import { busyTime, type SimulatedNode } from './work.ts';
import { type World, worldStart } from './world.ts';

/** What a run cost and what came of it. Money is in the currency of the prices; hours are of machines. */
export interface Measures {
  /** From the first submission to the end of the last work. */
  readonly makespan: Duration;
  readonly wait: { readonly p50: Duration; readonly p95: Duration; readonly max: Duration; readonly mean: Duration };
  readonly finished: number;
  readonly unfinished: number;
  /** Times that work lost its node and began again. */
  readonly restarts: number;
  readonly nodeHours: Readonly<Record<NodeTypeName, number>>;
  readonly totalNodeHours: number;
  /** Undefined when a machine has no price. */
  readonly cost: number | undefined;
  readonly launches: number;
  readonly terminations: number;
  /** Machines that the provider took back, or said it would. */
  readonly preemptions: number;
  /** Machines that never became a node. */
  readonly neverUsed: number;
  /** Share of machine time in which nothing ran: booting, setup and idling. */
  readonly idleShare: number;
  readonly peakNodes: number;
  readonly endedAt: Duration;
}

/** What a run looked like at one moment. */
export interface RunSample {
  readonly at: Duration;
  readonly running: number;
  readonly busy: number;
  readonly pending: number;
  readonly waiting: number;
  /** Undefined when a machine has no price. */
  readonly cost: number | undefined;
}

/** Counts and times of a run. The head is left out: it is there no matter who decides. */
export class RunMeter implements Watcher {
  readonly samples: RunSample[] = [];
  readonly #waits: Duration[] = [];
  readonly #nodes: SimulatedNode[] = [];
  #firstSubmit: Instant | undefined;
  #lastFinish: Instant = worldStart;
  #finished = 0;
  #restarts = 0;
  #terminations = 0;
  #alive = 0;
  #peak = 0;
  world: World | undefined;

  submitted(): void {
    this.#firstSubmit ??= this.#now();
  }

  started(_kind: WorkKind, waited: Duration | undefined): void {
    if (waited !== undefined) this.#waits.push(waited);
  }

  finished(): void {
    this.#finished++;
    this.#lastFinish = this.#now();
  }

  killed(): void {
    this.#restarts++;
  }

  terminated(): void {
    this.#terminations++;
  }

  joined(node: SimulatedNode): void {
    if (node.head) return;
    this.#nodes.push(node);
    this.#alive++;
    this.#peak = Math.max(this.#peak, this.#alive);
  }

  left(node: SimulatedNode): void {
    if (!node.head) this.#alive--;
  }

  /** Takes a sample every `interval` for as long as the run lasts. */
  sampleEvery(interval: Duration, onSample?: (sample: RunSample) => void): void {
    const world = this.world as World;
    const take = (): void => {
      const sample = this.#sample(world);
      this.samples.push(sample);
      onSample?.(sample);
      world.time.after(interval, take);
    };
    take();
  }

  /** What machines cost until `at`; those that are left are charged up to it. Undefined where prices are not known. */
  costUntil(at: Instant): number | undefined {
    let cost: number | undefined;
    for (const machine of this.#workers()) {
      if (machine.pricePerHour === undefined) return undefined;
      cost = (cost ?? 0) + hours(lifetime(machine, at)) * machine.pricePerHour;
    }
    return cost ?? (this.world !== undefined && isPriced(this.world.scenario.spec) ? 0 : undefined);
  }

  measures(): Measures {
    const now = this.#now();
    const machines = [...this.#workers()];
    const total = machines.reduce((sum, machine) => sum + lifetime(machine, now), 0);
    const busy = this.#nodes.reduce((sum, node) => sum + busyTime(node, now), 0);
    const joined = new Set(this.#nodes.map((node) => node.machine));
    const nodeHours = new Map<NodeTypeName, number>();
    for (const machine of machines)
      nodeHours.set(machine.type, (nodeHours.get(machine.type) ?? 0) + hours(lifetime(machine, now)));
    const waits = this.#waits.toSorted((a, b) => a - b);
    const at = (share: number): Duration => waits[Math.min(waits.length - 1, Math.floor(share * waits.length))] ?? 0;
    return {
      makespan: this.#lastFinish - (this.#firstSubmit ?? this.#lastFinish),
      wait: {
        p50: at(0.5),
        p95: at(0.95),
        max: waits.at(-1) ?? 0,
        mean: waits.reduce((sum, wait) => sum + wait, 0) / Math.max(1, waits.length),
      },
      finished: this.#finished,
      unfinished: this.world?.engine.unfinished ?? 0,
      restarts: this.#restarts,
      nodeHours: Object.fromEntries(nodeHours),
      totalNodeHours: hours(total),
      cost: this.costUntil(now),
      launches: machines.length,
      terminations: this.#terminations,
      preemptions: machines.filter((machine) => machine.preemptionAt !== undefined).length,
      neverUsed: machines.filter((machine) => !joined.has(machine.id)).length,
      idleShare: total === 0 ? 0 : 1 - busy / total,
      peakNodes: this.#peak,
      endedAt: now - worldStart,
    };
  }

  #sample(world: World): RunSample {
    let busy = 0;
    let running = 0;
    for (const node of world.engine.nodes) {
      if (node.head || node.state === 'dead') continue;
      running++;
      if (node.running.size > 0) busy++;
    }
    let machines = 0;
    for (const _ of world.workers()) machines++;
    return {
      at: world.elapsed,
      running,
      busy,
      pending: Math.max(0, machines - running),
      waiting: world.engine.waiting,
      cost: this.costUntil(world.time.now),
    };
  }

  *#workers(): Iterable<SimulatedMachine> {
    for (const machine of this.world?.cloud.machines ?? []) if (machine.kind === 'worker') yield machine;
  }

  #now(): Instant {
    return this.world?.time.now ?? worldStart;
  }
}

/** Whatever may be launched has a price. */
const isPriced = ({ nodeTypes }: ScalingSpec): boolean =>
  nodeTypes.every(
    ({ maxWorkers, offers }) => maxWorkers === 0 || offers.every(({ pricePerHour }) => pricePerHour !== undefined),
  );

const hours = (duration: Duration): number => duration / 3_600_000;

function lifetime(machine: SimulatedMachine, now: Instant): Duration {
  const end = machine.stoppingAt === never ? machine.goneAt : Math.min(machine.stoppingAt, machine.goneAt);
  return Math.max(0, Math.min(end, now) - machine.createdAt - offTime(machine, Math.min(end, now)));
}
