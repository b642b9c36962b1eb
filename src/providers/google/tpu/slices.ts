import type { Duration, Instant } from '../../../base/time/clock.ts';
import { providerErrors } from '../../errors.ts';
import type { LaunchRequest, ProviderInstance } from '../../provider.ts';
import type { GoogleCalls } from '../client/calls.ts';
import { lastOf, tpuUrl } from '../client/links.ts';
import { type GoogleFailure, googleFailure, refusalOf } from '../client/refusals.ts';
import { type GooglePlan, planLaunch } from '../launch/launch-request.ts';
import {
  allOf,
  failureOfTpu,
  isLateOperation,
  operationsOnSlices,
  parentOf,
  type QueuedResource,
  type TpuOperation,
  waitForTpu,
} from './calls.ts';
import { membersOf, membersOfNode, type TpuNode } from './node.ts';
import { hasQueued } from './queued-types.ts';
import { sliceBody } from './slice-body.ts';

/** Launches of slices, each whole or not at all. */
export class SliceLaunches {
  readonly #calls: GoogleCalls;
  /** Hosts of the slices of a launch, by the prefix of their names: a failed one tells nothing of itself. */
  readonly #hosts = new Map<string, number>();

  constructor(calls: GoogleCalls) {
    this.#calls = calls;
  }

  hostsOf(node: string): number {
    return this.#hosts.get(node.slice(0, node.lastIndexOf('-') + 1)) ?? 1;
  }

  async launch(request: LaunchRequest, signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    signal.throwIfAborted();
    const { clock, launchWait } = this.#calls;
    const plan = planLaunch(this.#calls, request);
    if (plan.kind === 'head')
      throw providerErrors.Denied({ call: 'nodes.create', detail: 'a TPU slice cannot be the head of a cluster' });
    this.#hosts.set(plan.prefix, hostsOf(plan));
    const names = Array.from({ length: request.count }, (_, index) => `${plan.prefix}${index}`);
    const earlier = await operationsOnSlices(this.#calls, plan.zone, plan.prefix, signal);
    const known = new Set(earlier.filter(isCreate).map(targetOf));
    const results = await Promise.allSettled(
      names.filter((name) => !known.has(name)).map((name) => this.#create(plan, name, signal)),
    );
    const failures = results.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
    const open = failures.find((error) => !isRefusal(error));
    if (open !== undefined) throw open;
    const begun = results.flatMap((each) => (each.status === 'fulfilled' && each.value ? [each.value] : []));
    const until = clock.now() + launchWait;
    const waited = await Promise.all(
      [...earlier.filter(isCreate), ...begun].map((each) => waitForTpu(this.#calls, each, until, signal)),
    );
    const refused = waited.flatMap((each) => (isLateOperation(each, launchWait) ? [] : (failureOfTpu(each) ?? [])));
    const made = await this.#made(plan, waited, signal);
    const [first = refused[0] && this.#refusal(plan, refused[0])] = failures;
    const ended = earlier.some(isDelete);
    if (made.length === 0 && first !== undefined && !ended) throw first;
    return made;
  }

  #refusal({ request, zone }: GooglePlan, failure: GoogleFailure): Error {
    return refusalOf({ call: 'nodes.create', type: request.type, zone, market: request.market }, failure);
  }

  /** Undefined where there is a slice of this name already: it is this launch's own. */
  async #create(plan: GooglePlan, name: string, signal: AbortSignal): Promise<TpuOperation | undefined> {
    const { google, client } = this.#calls;
    const { request, zone } = plan;
    const parent = parentOf(this.#calls, zone);
    const node = sliceBody(client, plan);
    const queued = isQueued(this.#calls, plan);
    const call = queued ? 'queuedResources.create' : 'nodes.create';
    const about = { call, type: request.type, zone, market: request.market };
    const asked = queued
      ? {
          url: tpuUrl(`${parent}/queuedResources`),
          query: { queuedResourceId: name },
          body: queuedBody(parent, name, node, request.market),
        }
      : { url: tpuUrl(`${parent}/nodes`), query: { nodeId: name }, body: node };
    try {
      return await google.ask<TpuOperation>(about, { method: 'POST', ...asked }, signal);
    } catch (error) {
      if (googleFailure(error)?.status === 409) return undefined;
      throw error;
    }
  }

  /** Slices that are there, or that are still being made. */
  async #made(
    plan: GooglePlan,
    waited: readonly TpuOperation[],
    signal: AbortSignal,
  ): Promise<readonly ProviderInstance[]> {
    const { request, zone, prefix, kind, tags, own } = plan;
    const { launchWait, clock } = this.#calls;
    const ofLaunch = ({ name }: { readonly name: string }): boolean => lastOf(name).startsWith(prefix);
    const [nodes, queued, operations] = await Promise.all([
      allOf<TpuNode>(this.#calls, 'nodes', zone, signal),
      isQueued(this.#calls, plan) ? allOf<QueuedResource>(this.#calls, 'queuedResources', zone, signal) : [],
      operationsOnSlices(this.#calls, zone, prefix, signal),
    ]);
    const shown = new Map(nodes.filter(ofLaunch).map((each) => [lastOf(each.name), each]));
    const gone = new Set(operations.filter(isDelete).map(targetOf));
    const failed = new Set(
      waited.filter((each) => failureOfTpu(each) && !isLateOperation(each, launchWait)).map(targetOf),
    );
    const names = new Set([
      ...shown.keys(),
      ...queued.filter(ofLaunch).map(({ name }) => lastOf(name)),
      ...operations.filter(isCreate).map(targetOf),
    ]);
    return [...names]
      .filter((name) => !failed.has(name) && !gone.has(name))
      .flatMap((node) => {
        const there = shown.get(node);
        const own_ = { launchToken: request.token, type: request.type, kind, tags };
        if (there !== undefined) return membersOfNode(this.#calls, there).map((each) => ({ ...each, ...own_ }));
        const { type = own.machine, topology } = own.slice ?? {};
        const facts = { zone, node, hosts: hostsOf(plan), type, topology };
        return membersOf(facts, {
          ...own_,
          ...{ state: 'pending', zone, market: request.market, launchedAt: clock.now() },
        });
      });
  }
}

const hostsOf = ({ request, own, type }: GooglePlan): number =>
  own.slice?.hosts ?? request.slice?.hosts ?? type.hostsPerSlice;

export const targetOf = ({ metadata }: TpuOperation): string => lastOf(metadata?.target ?? '');
export const isCreate = ({ metadata }: TpuOperation): boolean => metadata?.verb === 'create';
export const isDelete = ({ metadata }: TpuOperation): boolean => metadata?.verb === 'delete';

/** Whether slices are asked for by requests that wait: those of a reservation, and others where the file says so. */
function isQueued({ client }: GoogleCalls, { request }: Pick<GooglePlan, 'request'>): boolean {
  const own = client.spec().provider.manta.nodeTypes.get(request.type);
  return request.market === 'reserved' || own?.queued === true;
}

/** Whether any slice of the cluster may be one that waits: what a file without such types has left behind is not known to it. */
export const usesQueue = ({ client, prepared }: GoogleCalls): boolean =>
  prepared?.hadQueued !== false || hasQueued(client.spec());

/** That it is for a reservation stands in the node itself. */
function queuedBody(parent: string, nodeId: string, node: object, market: string): object {
  return {
    tpu: { nodeSpec: [{ parent, nodeId, node }] },
    ...(market === 'spot' && { spot: {} }),
    ...(market === 'reserved' && { guaranteed: {} }),
  };
}

const isRefusal = (error: unknown): boolean =>
  [providerErrors.NoCapacity, providerErrors.Quota, providerErrors.Throttled, providerErrors.Denied].some((kind) =>
    kind.is(error),
  );

/** How long a slice may be under repair before it counts as lost. */
const repairLasts: Duration = 5 * 60_000;

/** Since when slices are under repair, by name: Google does not say. */
export class Repairs {
  readonly #since = new Map<string, Instant>();

  /** Whether it takes too long. */
  isLost({ name, state }: TpuNode, now: Instant): boolean {
    if (state !== 'REPAIRING') {
      this.#since.delete(name);
      return false;
    }
    const since = this.#since.get(name) ?? now;
    this.#since.set(name, since);
    return now - since >= repairLasts;
  }
}
