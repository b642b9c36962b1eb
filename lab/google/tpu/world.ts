/** Slices, each of which is several machines that live and end together. */

import type { Market } from '../../cloud/catalog.ts';
import { CloudError } from '../../cloud/errors.ts';
import type { CloudInstance, Snapshot } from '../../cloud/instance.ts';
import { numberOf } from '../names.ts';
import type { Project } from '../project.ts';
import type { NodeBody } from '../shapes.ts';
import { quotaOf, type TpuType } from '../tpu-catalog.ts';
import type { GoogleWorld } from '../world.ts';
import { QuotaRefusal, type TpuError, TpuOperation } from './operation.ts';
import { Queue } from './queue.ts';

export type NodeState =
  | 'CREATING'
  | 'READY'
  | 'STARTING'
  | 'STOPPING'
  | 'STOPPED'
  | 'DELETING'
  | 'REPAIRING'
  | 'PREEMPTED'
  | 'TERMINATED';

/** What somebody wants; what the slice then has. */
export interface SliceOrder {
  readonly project: Project;
  readonly zone: string;
  readonly id: string;
  readonly body: NodeBody;
  readonly type: TpuType;
  readonly market: Market;
  readonly reservation?: string | undefined;
  /** Address from elsewhere for every host. */
  readonly outside: boolean;
  readonly subnetwork: { readonly network: string; readonly link: string };
  readonly account: { readonly email: string; readonly scopes: readonly string[] };
  readonly queued?: string | undefined;
}

export interface Slice extends SliceOrder {
  readonly name: string;
  readonly number: string;
  readonly createdAt: number;
  readonly hosts: readonly CloudInstance[];
  labels: Readonly<Record<string, string>>;
  metadata: Readonly<Record<string, string>>;
  /** What it is whatever its hosts are. */
  forced?: NodeState | undefined;
  starting: boolean;
  ending: boolean;
}

const noCapacity = (zone: string, market: Market): TpuError => ({
  code: 8,
  message:
    market === 'reserved'
      ? 'Insufficient reserved capacity. Contact customer support to increase your reservation.'
      : `There is no more capacity in the zone "${zone}"; you can try in another zone where Cloud TPU Nodes are offered (see https://cloud.google.com/tpu/docs/regions)`,
});

export class TpuWorld {
  readonly #world: GoogleWorld;
  readonly slices = new Map<string, Slice>();
  readonly operations = new Map<string, TpuOperation>();
  readonly queue: Queue;
  /** Rules of the firewall that Google makes for slices of several hosts stay when their slices are deleted. */
  leavesRules = false;
  readonly #byHost = new Map<string, Slice>();

  constructor(world: GoogleWorld) {
    this.#world = world;
    this.queue = new Queue(world, this);
  }

  begin(order: Pick<SliceOrder, 'project' | 'zone'>, target: string, verb: string, stuck = false): TpuOperation {
    const parent = `projects/${order.project.id}/locations/${order.zone}`;
    const operation = new TpuOperation(parent, { target, verb }, () => this.#world.now(), stuck);
    this.operations.set(operation.name, operation);
    return operation;
  }

  /** The slice that an instance is a host of, and which one. */
  sliceOf(instance: CloudInstance): { readonly slice: Slice; readonly index: number } | undefined {
    const slice = this.#byHost.get(instance.id);
    return slice && { slice, index: slice.hosts.indexOf(instance) };
  }

  /** Makes slices of one type, all of them or none. What is missing is an error; a quota is refused. */
  make(orders: readonly SliceOrder[]): { readonly slices: readonly Slice[] } | { readonly error: TpuError } {
    const { type, zone, market, project, reservation, outside } = orders[0]!;
    this.checkQuota(orders);
    const count = orders.length * type.hosts;
    try {
      const hosts = this.#world.cloud.make(project.id, {
        ...{ machine_type: type.name, zone, market, count, min_count: count, outside },
        names: orders.flatMap(({ id }) => Array.from({ length: type.hosts }, (_, index) => `${id}/${index}`)),
        tags: orders[0]!.body.labels ?? {},
        on_shutdown: 'stay',
        ...(reservation !== undefined && { reservation }),
      });
      const slices = orders.map((order, index) =>
        this.#add(order, hosts.slice(index * type.hosts, (index + 1) * type.hosts)),
      );
      return { slices };
    } catch (error) {
      if (!(error instanceof CloudError)) throw error;
      if (error.code === 'InsufficientCapacity') return { error: noCapacity(zone, market) };
      if (error.code === 'QuotaExceeded') throw this.#quota(orders[0]!, 0);
      throw error;
    }
  }

  stateOf(slice: Slice, at = this.#world.now()): NodeState | undefined {
    if (slice.createdAt > at) return undefined;
    if (slice.forced !== undefined) return slice.forced;
    const seen = slice.hosts.map((host) => host.asOf(at));
    if (seen.some((each) => each?.cause === 'preemption')) return slice.ending ? 'DELETING' : 'PREEMPTED';
    if (slice.ending) return 'DELETING';
    if (seen.some((each) => each === undefined)) return 'REPAIRING';
    const has = (state: Snapshot['state']): boolean => seen.some((each) => each!.state === state);
    if (has('terminating') || has('terminated')) return 'TERMINATED';
    if (has('pending')) return slice.starting ? 'STARTING' : 'CREATING';
    if (has('stopping')) return 'STOPPING';
    return has('stopped') ? 'STOPPED' : 'READY';
  }

  /** Orders the end of a slice; `gone` is called when nothing is left of it. */
  delete(slice: Slice, gone: () => void): void {
    slice.ending = true;
    slice.forced = undefined;
    let left = slice.hosts.length;
    for (const host of slice.hosts)
      this.#world.watch(host, ({ exists }) => {
        if (exists) return false;
        if (--left === 0) {
          this.remove(slice);
          gone();
        }
        return true;
      });
    this.#world.cloud.terminate(
      slice.project.id,
      slice.hosts.map(({ id }) => id),
    );
  }

  /** What becomes of one host becomes of its slice. */
  changed(instance: CloudInstance): void {
    const slice = this.#byHost.get(instance.id);
    if (slice !== undefined) this.#follow(slice, instance);
    this.queue.tick();
  }

  #follow(slice: Slice, { now, id }: CloudInstance): void {
    const others = slice.hosts.filter((host) => host.id !== id && host.exists && host.now.state !== 'terminating');
    const { cloud } = this.#world;
    if (now.preemptionAt !== undefined || now.cause === 'preemption') {
      const notice = Math.max(0, (now.preemptionAt ?? 0) - this.#world.now()) / 1000;
      for (const host of others) if (host.now.preemptionAt === undefined) cloud.preempt(host.id, notice);
    } else if (now.refused !== undefined)
      cloud.terminate(
        slice.project.id,
        others.map((host) => host.id),
      );
  }

  #add(order: SliceOrder, hosts: readonly CloudInstance[]): Slice {
    const name = `projects/${order.project.id}/locations/${order.zone}/nodes/${order.id}`;
    const { labels = {}, metadata = {} } = order.body;
    const createdAt = hosts[0]!.launchedAt;
    const number = numberOf(hosts[0]!.id);
    const slice: Slice = { ...order, name, number, createdAt, hosts, labels, metadata, starting: false, ending: false };
    this.slices.set(name, slice);
    for (const host of hosts) this.#byHost.set(host.id, slice);
    if (hosts.length > 1)
      this.#world.addFirewall(order.project, {
        name: ruleOf(order.id),
        network: order.subnetwork.network,
        sourceTags: [`tpu-pod-${order.id}`.slice(0, 63)],
        allowed: [{ IPProtocol: 'all' }],
      });
    return slice;
  }

  /** Nothing is left of it: it was deleted, or its making failed, which leaves an operation alone. */
  remove(slice: Slice): void {
    if (this.slices.get(slice.name) === slice) this.slices.delete(slice.name);
    if (this.leavesRules) return;
    const { firewalls, id } = slice.project;
    for (const rule of firewalls.of(id)) if (rule.name === ruleOf(slice.id)) firewalls.delete(rule.id);
  }

  checkQuota(orders: readonly SliceOrder[]): void {
    const [order] = orders;
    const { project, zone, type, market } = order!;
    const metric = quotaOf(type, market === 'spot');
    for (const limit of project.quotas) {
      if (limit.metric !== metric || (limit.zone !== undefined && limit.zone !== zone)) continue;
      const used = [...this.slices.values()]
        .filter(
          (each) =>
            each.project === project &&
            (limit.zone === undefined || each.zone === zone) &&
            quotaOf(each.type, each.market === 'spot') === metric,
        )
        .reduce((sum, each) => sum + each.type.chips, 0);
      if (used + orders.length * type.chips > limit.limit) throw this.#quota(order!, limit.limit);
    }
  }

  #quota({ type, market, zone }: SliceOrder, limit: number): QuotaRefusal {
    return new QuotaRefusal(
      `Quota limit '${quotaOf(type, market === 'spot')}' has been exceeded. Limit: ${limit} in zone ${zone}.`,
    );
  }
}

const ruleOf = (id: string): string => `tpu-pod-${id}`.slice(0, 63).replace(/-+$/, '');
