import { nodesByMachine } from '../../autoscaler/observe/observe.ts';
import type { Duration, Instant } from '../../base/time/clock.ts';
import type { EngineNode } from '../../engines/engine.ts';
import type { ProviderInstance } from '../../providers/provider.ts';
import type { Decider } from '../decider.ts';
import type { World } from '../world.ts';
import type { RayReply } from './ray-process.ts';
import { type RayInstance, type RayInstanceStatus, rayRequest } from './ray-request.ts';

/** What Ray's reconciler waits for, as its defaults have it. */
const rayTimes = {
  loop: 5_000,
  requested: 600_000,
  requestTries: 3,
  allocated: 3_600_000,
  installing: 1_800_000,
  stopRequested: 300_000,
  terminating: 300_000,
  installTries: 3,
  installPause: 10_000,
} as const;

const concurrentLaunches = 10;
const launchBatch = 5;
const subnetTries = 5;

/**
 * Ray's autoscaler v2 in the simulated world: Ray's own planner decides, and this follows its reconciler around it: a
 * look every five seconds, its launch rate, its states and timeouts, and the AWS provider's way through the zones.
 */
export class RayDecider implements Decider {
  readonly name = 'ray';
  passes = 0;
  contentSince: Instant | undefined;
  readonly #world: World;
  readonly #plan: (request: object) => Promise<RayReply | undefined>;
  #instances: RayInstance[] = [];
  readonly #installs = new Map<string, AbortController>();
  readonly #installFailed = new Set<string>();
  readonly #launchFailed = new Set<string>();
  readonly #stopRefused = new Set<string>();
  readonly #timedOutAt = new Map<string, Instant>();
  readonly #signal = new AbortController();
  #count = 0;
  #done: Promise<void> = Promise.resolve();

  constructor(world: World, plan: (request: object) => Promise<RayReply | undefined>) {
    this.#world = world;
    this.#plan = plan;
  }

  start(): void {
    this.#done = this.#run();
  }

  wake(): void {}

  crash(): void {}

  async stop(): Promise<void> {
    this.#signal.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { signal } = this.#signal;
    while (!signal.aborted) {
      // As in Ray, a loop that fails is logged and the next one tries again.
      await this.#reconcile(signal).catch(() => {});
      await this.#world.time.sleep(rayTimes.loop, signal).catch(() => {});
    }
  }

  async #reconcile(signal: AbortSignal): Promise<void> {
    const { cloud, engine, scenario, time } = this.#world;
    const state = await engine.state(signal);
    const machines = new Map((await cloud.list(signal)).map((machine) => [machine.id, machine]));
    const nodes = nodesByMachine(state.nodes, new Set());
    this.#followCloud(machines);
    this.#followNodes(nodes);
    this.#endWaits();
    this.#instances = this.#instances.filter(
      (each) => each.status !== 'TERMINATED' && each.status !== 'ALLOCATION_FAILED',
    );
    const request = rayRequest(scenario.spec, this.#instances, nodes, state.demand, this.#availabilities());
    const reply = await time.hold(this.#plan(request));
    this.passes++;
    const wanted = (reply?.to_launch.length ?? 0) + (reply?.to_terminate.length ?? 0);
    const restless = this.#instances.some((each) => !each.head && each.status !== 'RAY_RUNNING');
    this.contentSince = wanted === 0 && !restless ? (this.contentSince ?? time.now) : undefined;
    if (reply !== undefined) this.#take(reply, nodes);
    this.#terminate();
    this.#launch();
    this.#install(machines);
  }

  /** Requests meet machines, by type and age alone; machines that vanish end their instance; unknown ones are taken in. */
  #followCloud(machines: ReadonlyMap<string, ProviderInstance>): void {
    const { time } = this.#world;
    const assigned = new Set(this.#instances.map((each) => each.machine));
    const free = [...machines.values()].filter((machine) => !assigned.has(machine.id) && machine.state !== 'stopping');
    const requested = this.#in('REQUESTED').sort((a, b) => a.since - b.since);
    for (const instance of requested) {
      const index = free.findIndex((machine) => machine.type === instance.type && machine.kind === 'worker');
      if (index >= 0) {
        instance.machine = free.splice(index, 1)[0]?.id;
        this.#move(instance, 'ALLOCATED');
      } else if (this.#launchFailed.has(`${instance.requestId} ${instance.type}`)) {
        this.#move(instance, 'ALLOCATION_FAILED');
      }
    }
    this.#launchFailed.clear();
    for (const instance of this.#instances) {
      const machine = instance.machine === undefined ? undefined : machines.get(instance.machine);
      if (instance.machine !== undefined && machine === undefined) this.#move(instance, 'TERMINATED');
    }
    for (const machine of free) {
      this.#instances.push({
        id: `ray-${++this.#count}`,
        type: machine.type,
        head: machine.kind === 'head',
        status: 'ALLOCATED',
        since: time.now,
        queuedAt: time.now,
        requests: 0,
        requestId: undefined,
        machine: machine.id,
      });
    }
  }

  #followNodes(nodes: ReadonlyMap<string, EngineNode>): void {
    for (const instance of this.#instances) {
      const node = instance.machine === undefined ? undefined : nodes.get(instance.machine);
      const { status } = instance;
      const ran = status === 'RAY_RUNNING' || status === 'RAY_STOP_REQUESTED' || status === 'RAY_STOPPING';
      if (node?.state === 'alive' && (status === 'ALLOCATED' || status === 'RAY_INSTALLING')) {
        this.#move(instance, 'RAY_RUNNING');
        this.#timedOutAt.delete(instance.type);
      } else if (node?.state === 'draining' && (status === 'RAY_RUNNING' || status === 'RAY_STOP_REQUESTED')) {
        this.#move(instance, 'RAY_STOPPING');
      } else if ((node === undefined || node.state === 'dead') && ran && !instance.head) {
        this.#move(instance, 'RAY_STOPPED');
      }
      if (this.#installFailed.delete(instance.id) && status === 'RAY_INSTALLING')
        this.#move(instance, 'RAY_INSTALL_FAILED');
      if (this.#stopRefused.delete(instance.id) && status === 'RAY_STOP_REQUESTED') this.#move(instance, 'RAY_RUNNING');
    }
  }

  #endWaits(): void {
    const { time } = this.#world;
    const late = (status: RayInstanceStatus, limit: Duration): RayInstance[] =>
      this.#in(status).filter((each) => time.now - each.since > limit);
    for (const each of late('REQUESTED', rayTimes.requested)) {
      this.#move(each, each.requests > rayTimes.requestTries ? 'ALLOCATION_FAILED' : 'QUEUED');
    }
    for (const each of late('ALLOCATED', rayTimes.allocated)) {
      if (each.head) continue;
      this.#timedOutAt.set(each.type, time.now);
      this.#move(each, 'ALLOCATION_TIMEOUT');
    }
    for (const each of late('RAY_INSTALLING', rayTimes.installing)) this.#move(each, 'RAY_INSTALL_FAILED');
    for (const each of late('RAY_STOP_REQUESTED', rayTimes.stopRequested)) this.#move(each, 'RAY_RUNNING');
    for (const each of late('TERMINATING', rayTimes.terminating)) this.#move(each, 'TERMINATION_FAILED');
  }

  #availabilities(): Record<string, number> {
    const latest = Math.max(0, ...this.#timedOutAt.values());
    return Object.fromEntries(
      this.#world.scenario.spec.nodeTypes.map((type) => {
        const at = this.#timedOutAt.get(type.name);
        return [type.name, at === undefined ? 1 : 1 - at / latest];
      }),
    );
  }

  #take(reply: RayReply, nodes: ReadonlyMap<string, EngineNode>): void {
    const { time } = this.#world;
    for (const { instance_id: id, cause } of reply.to_terminate) {
      const instance = this.#instances.find((each) => each.id === id);
      if (instance === undefined || instance.head) continue;
      if (instance.status === 'QUEUED') this.#move(instance, 'TERMINATED');
      else if (instance.status === 'ALLOCATED' || instance.status === 'RAY_INSTALLING') this.#end(instance);
      else if (instance.status === 'RAY_RUNNING') this.#stop(instance, nodes, cause);
    }
    for (const { instance_type: type, count } of reply.to_launch) {
      for (let index = 0; index < count; index++) {
        this.#instances.push({
          id: `ray-${++this.#count}`,
          ...{ type, head: false, status: 'QUEUED', since: time.now, queuedAt: time.now, requests: 0 },
          ...{ requestId: undefined, machine: undefined },
        });
      }
    }
  }

  #stop(instance: RayInstance, nodes: ReadonlyMap<string, EngineNode>, cause: string): void {
    const { engine, time } = this.#world;
    const node = instance.machine === undefined ? undefined : nodes.get(instance.machine);
    if (node === undefined) return;
    this.#move(instance, 'RAY_STOP_REQUESTED');
    const reason = cause === 'IDLE' ? { kind: 'idle' as const } : { kind: 'preemption' as const, deadline: time.now };
    engine.drain(node.id, reason, this.#signal.signal).then(
      ({ accepted }) => {
        if (!accepted) this.#stopRefused.add(instance.id);
      },
      () => this.#stopRefused.add(instance.id),
    );
  }

  #terminate(): void {
    for (const status of ['RAY_STOPPED', 'ALLOCATION_TIMEOUT', 'RAY_INSTALL_FAILED', 'TERMINATION_FAILED'] as const) {
      for (const instance of this.#in(status)) this.#end(instance);
    }
  }

  #end(instance: RayInstance): void {
    this.#installs.get(instance.id)?.abort();
    this.#move(instance, 'TERMINATING');
    if (instance.machine === undefined) return;
    this.#world.cloud.terminate([instance.machine], this.#signal.signal).catch(() => {
      if (instance.status === 'TERMINATING') this.#move(instance, 'TERMINATION_FAILED');
    });
  }

  /** At most ten requests in the air, and of each type at most as many at once as run already, at least one. */
  #launch(): void {
    const { scenario } = this.#world;
    const queued = this.#in('QUEUED').sort((a, b) => a.queuedAt - b.queuedAt);
    const requestId = `request-${++this.#count}`;
    let inTheAir = this.#in('REQUESTED').length;
    for (const type of new Set(queued.map((each) => each.type))) {
      const running = this.#in('RAY_RUNNING').filter((each) => each.type === type && !each.head).length;
      const wanted = Math.max(1, Math.ceil(scenario.spec.upscalingSpeed * Math.max(running, 1)));
      const count = Math.max(0, Math.min(concurrentLaunches - inTheAir, wanted));
      const chosen = queued.filter((each) => each.type === type).slice(0, count);
      inTheAir += chosen.length;
      for (const each of chosen) {
        each.requests++;
        each.requestId = requestId;
        this.#move(each, 'REQUESTED');
      }
      for (let from = 0; from < chosen.length; from += launchBatch) {
        void this.#ask(type, Math.min(launchBatch, chosen.length - from), requestId);
      }
    }
  }

  /** Always the first zone first, the next ones when it has none. A launch that is filled in part counts as a success. */
  async #ask(type: string, count: number, requestId: string): Promise<void> {
    const { cloud, scenario } = this.#world;
    const offers = scenario.spec.nodeTypes.find((each) => each.name === type)?.offers ?? [];
    const market = offers[0]?.market ?? 'on-demand';
    const zones = offers.filter((offer) => offer.market === market).map((offer) => offer.zone);
    for (let attempt = 0; attempt < Math.max(subnetTries, zones.length); attempt++) {
      const zone = zones[attempt % zones.length];
      const token = `${requestId}-${++this.#count}`;
      try {
        await cloud.launch(
          { token, type, count, market, tags: {}, ...(zone === undefined ? {} : { zone }) },
          this.#signal.signal,
        );
        return;
      } catch {
        if (this.#signal.signal.aborted) return;
      }
    }
    this.#launchFailed.add(`${requestId} ${type}`);
  }

  #install(machines: ReadonlyMap<string, ProviderInstance>): void {
    for (const instance of this.#in('ALLOCATED')) {
      const machine = instance.machine === undefined ? undefined : machines.get(instance.machine);
      if (machine?.state !== 'running' || instance.head) continue;
      this.#move(instance, 'RAY_INSTALLING');
      void this.#bringUp(instance, machine);
    }
  }

  async #bringUp(instance: RayInstance, machine: ProviderInstance): Promise<void> {
    const { starter, time } = this.#world;
    const abort = new AbortController();
    this.#installs.set(instance.id, abort);
    for (let attempt = 0; attempt < rayTimes.installTries; attempt++) {
      try {
        await starter.bringUp(machine, abort.signal);
        return;
      } catch {
        if (abort.signal.aborted) return;
        await time.sleep(rayTimes.installPause * 2 ** attempt);
      }
    }
    this.#installFailed.add(instance.id);
  }

  #in(status: RayInstanceStatus): RayInstance[] {
    return this.#instances.filter((each) => each.status === status);
  }

  #move(instance: RayInstance, status: RayInstanceStatus): void {
    instance.status = status;
    instance.since = this.#world.time.now;
  }
}
