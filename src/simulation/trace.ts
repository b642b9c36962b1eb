import type { Duration, Instant } from '../base/time/clock.ts';
import { never, type SimulatedMachine } from './machine.ts';
import type { Watcher } from './watcher.ts';
import type { SimulatedNode } from './work.ts';
import { type World, worldStart } from './world.ts';

const hour = 3_600_000;

/** What one machine did in a run. Times count from the start of the run. */
export interface MachineTrace {
  readonly type: string;
  readonly zone: string | undefined;
  readonly launchedAt: Duration;
  /** Undefined: it never became a node. */
  readonly joinedAt: Duration | undefined;
  /** When it was told to end, or went; `Infinity` if neither. */
  readonly endedAt: Duration;
  readonly isPreempted: boolean;
  /** When something ran on it, in order. */
  readonly busy: readonly (readonly [from: Duration, until: Duration])[];
}

/** Machine hours in which no work ran. */
export interface Wasted {
  /** From the launch until the machine was a node. */
  readonly starting: number;
  /** Nodes that stood idle while nothing waited. */
  readonly idle: number;
  /** Nodes that stood idle while work waited that did not fit them. */
  readonly unfit: number;
}

/** Writes down what the machines of a run did. */
export class Tracer implements Watcher {
  world: World | undefined;
  readonly #busy = new Map<string, [Duration, Duration][]>();
  readonly #joined = new Map<string, Duration>();
  readonly #idle = new Map<string, Duration>();
  #since: Duration = 0;
  #isWaiting = false;
  #spent = { idle: 0, unfit: 0 };

  submitted(): void {
    this.#tick();
  }

  started(): void {
    this.#tick();
  }

  killed(): void {
    this.#tick();
  }

  joined(node: SimulatedNode): void {
    this.#tick();
    if (node.head) return;
    this.#joined.set(node.machine, this.#now());
    this.#idle.set(node.machine, this.#now());
  }

  busy(node: SimulatedNode): void {
    this.#tick();
    this.#idle.delete(node.machine);
    const spans = this.#busy.get(node.machine) ?? [];
    this.#busy.set(node.machine, spans);
    spans.push([this.#now(), Number.POSITIVE_INFINITY]);
  }

  idle(node: SimulatedNode): void {
    this.#tick();
    if (!node.head) this.#idle.set(node.machine, this.#now());
    this.#close(node);
  }

  left(node: SimulatedNode): void {
    this.#tick();
    this.#idle.delete(node.machine);
    this.#close(node);
  }

  wasted(): Wasted {
    this.#tick();
    const now = this.#now();
    const starting = this.machines().reduce(
      (sum, { launchedAt, joinedAt, endedAt }) => sum + Math.min(now, joinedAt ?? endedAt) - launchedAt,
      0,
    );
    return { starting: starting / hour, idle: this.#spent.idle / hour, unfit: this.#spent.unfit / hour };
  }

  /** Counts the time since the last change for all nodes that were idle. */
  #tick(): void {
    const now = this.#now();
    this.#spent[this.#isWaiting ? 'unfit' : 'idle'] += this.#idle.size * (now - this.#since);
    this.#since = now;
    this.#isWaiting = (this.world?.engine.waiting ?? 0) > 0;
  }

  /** The workers of the run, in the order of their launch. */
  machines(): readonly MachineTrace[] {
    const all = [...(this.world?.cloud.machines ?? [])].filter(({ kind }) => kind === 'worker');
    return all.map((machine) => this.#trace(machine));
  }

  #trace(machine: SimulatedMachine): MachineTrace {
    const since = (at: Instant): Duration => at - worldStart;
    return {
      type: machine.type,
      zone: machine.zone,
      launchedAt: since(machine.createdAt),
      joinedAt: this.#joined.get(machine.id),
      endedAt: since(Math.min(machine.stoppingAt, machine.goneAt)),
      isPreempted: machine.preemptionAt !== undefined && machine.stoppingAt === never,
      busy: this.#busy.get(machine.id) ?? [],
    };
  }

  #close(node: SimulatedNode): void {
    const last = this.#busy.get(node.machine)?.at(-1);
    if (last !== undefined && last[1] === Number.POSITIVE_INFINITY) last[1] = this.#now();
  }

  #now(): Duration {
    return this.world?.elapsed ?? 0;
  }
}
