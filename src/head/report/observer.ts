import { limits } from '../../api/limits.ts';
import type { ClusterAnswer, DemandAnswer, NodeAnswer, SamplePoint } from '../../api/types.ts';
import type { Instant } from '../../base/time/clock.ts';
import type { Demand } from '../../core/demand.ts';
import type { InstanceView } from '../../core/instance.ts';
import { isOver, type Job, type JobState } from '../../core/jobs/job.ts';
import { isFinal, isPending, mayRun } from '../../core/lifecycle.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { endWords, infeasibleWords, waitingWords } from '../../core/plan/words.ts';
import { amountOf, type Resources } from '../../core/resources.ts';
import type { ScalingSpec } from '../../core/scaling.ts';
import { type SideNames, silenceLines } from '../../core/status/silence.ts';
import type { ClusterStatus, StatusNode, StoppedMachines } from '../../core/status/status.ts';
import type { View } from '../../core/view.ts';
import type { EngineNode, EngineState } from '../../engines/engine.ts';

/** What the answers are made from: the last pass, and what has happened since. */
export interface Sight {
  readonly now: Instant;
  readonly spec: ScalingSpec;
  readonly view: View | undefined;
  readonly plan: Plan | undefined;
  /** The current engine, fresher than the last pass. */
  readonly engine: EngineState | undefined;
  readonly jobs: Iterable<Job>;
  readonly counts: Readonly<Record<JobState, number>>;
}

interface Observed extends InstanceView {
  readonly draining: boolean;
  /** It runs, and its engine does not tell what is on it. */
  readonly unknown: boolean;
}

/** Instances of the last pass with the engine's newest word on their nodes. */
function instancesOf({ view, engine }: Sight): readonly Observed[] {
  const nodes = new Map<string, EngineNode>((engine?.nodes ?? []).map((node) => [node.id, node]));
  return (view?.instances ?? []).map((instance) => {
    const fresh = instance.node && nodes.get(instance.node.id);
    const draining =
      fresh?.state === 'draining' || instance.status === 'draining' || instance.status === 'drain-requested';
    const unknown = view?.complete.engine === false && !instance.node && hasRun(instance.status);
    return { ...instance, ...(fresh && { node: fresh }), draining, unknown };
  });
}

const hasRun = (status: InstanceView['status']): boolean => mayRun(status) && !isPending(status);

/** How people know the two sides of a cluster. */
export const sideNames = (engine: ClusterAnswer['engine']): SideNames => ({
  engine: engine === 'ray' ? 'Ray' : 'the engine',
  provider: 'the provider',
});

/** What is not known of the cluster now, in words. */
export function unknownOf(sight: Sight, engine: ClusterAnswer['engine']): string[] {
  const unknown = instancesOf(sight).filter((instance) => instance.unknown).length;
  return silenceLines(sight.view?.silent ?? {}, unknown, sideNames(engine), sight.now);
}

/** What an instance costs an hour as it is now. Undefined: that is not known, and it is not taken from another offer. */
export function priceOf(
  spec: ScalingSpec,
  instance: Pick<InstanceView, 'type' | 'zone' | 'market' | 'byHand' | 'status'>,
): number | undefined {
  if (instance.byHand) return undefined;
  const all = spec.nodeTypes.find((type) => type.name === instance.type)?.offers ?? [];
  // A head that was there before its journal does not say by which offer it came.
  const offers = all.filter(({ market }) => instance.market === undefined || market === instance.market);
  const own = offers.find(({ zone }) => zone === instance.zone) ?? offers.find(({ zone }) => zone === undefined);
  const offer = own ?? (instance.zone === undefined ? offers[0] : undefined);
  return instance.status === 'machine-stopped' ? offer?.stoppedPerHour : offer?.pricePerHour;
}

export function clusterAnswer(
  sight: Sight,
  identity: Pick<ClusterAnswer, 'name' | 'engine' | 'mantaVersion' | 'startedAt' | 'user' | 'turnOff'> & {
    readonly spent: number;
  },
): ClusterAnswer {
  const { spec } = sight;
  const { spent, ...known } = identity;
  const instances = instancesOf(sight);
  const unpriced = instances.filter(
    (instance) => costs(instance) && !instance.byHand && priceOf(spec, instance) === undefined,
  ).length;
  const stopped = instances.filter(({ status }) => status === 'machine-stopped').length;
  const perHour = instances.reduce((sum, instance) => sum + (priceOf(spec, instance) ?? 0), 0);
  const priced = spec.nodeTypes.some((type) => type.offers.some((offer) => offer.pricePerHour !== undefined));
  const unknown = unknownOf(sight, known.engine);
  return {
    ...known,
    now: sight.now,
    nodeTypes: spec.nodeTypes.map((type) => ({
      name: type.name,
      head: type.name === spec.headType,
      resources: type.resources,
      minWorkers: type.minWorkers,
      maxWorkers: type.maxWorkers,
      ...(type.offers[0]?.pricePerHour !== undefined && { pricePerHour: type.offers[0].pricePerHour }),
    })),
    ...(spec.maxWorkers !== undefined && { maxWorkers: spec.maxWorkers }),
    nodes: {
      running: instances.filter(({ node, unknown, draining }) => (node || unknown) && !draining).length,
      pending: instances.filter(({ node, unknown, status }) => !node && !unknown && mayRun(status)).length,
      draining: instances.filter((instance) => instance.draining).length,
      failed: instances.filter(hasFailed).length,
      ...(stopped > 0 && { stopped }),
    },
    usage: usageOf(instances),
    jobs: sight.counts,
    ...(priced && { cost: { perHour, spent, ...(unpriced > 0 && { unknown: unpriced }) } }),
    synced: isSynced(sight),
    ...(unknown.length > 0 && { unknown }),
  };
}

/** There is a machine that it is paid for. */
const costs = ({ status }: InstanceView): boolean => !isFinal(status) && status !== 'queued' && status !== 'requested';

/** Both sides have answered in full, and still do. */
export const isSynced = ({ view }: Sight): boolean => view?.complete.engine === true && view.complete.provider;

const hasFailed = ({ status }: InstanceView): boolean =>
  status === 'launch-failed' ||
  status === 'setup-failed' ||
  status === 'terminate-failed' ||
  status === 'launch-timeout';

function usageOf(instances: readonly Pick<InstanceView, 'node'>[]): Record<string, { used: number; total: number }> {
  const usage = new Map<string, { used: number; total: number }>();
  for (const { node } of instances) {
    if (node === undefined) continue;
    for (const [name, total] of Object.entries(node.total)) {
      const entry = usage.get(name) ?? { used: 0, total: 0 };
      usage.set(name, { used: entry.used + total - amountOf(node.available, name), total: entry.total + total });
    }
  }
  return Object.fromEntries(usage);
}

export function nodeAnswers(
  sight: Sight,
  launchedBecause: (instance: string) => string | undefined,
  addressOf: (machine: string) => string | undefined = () => undefined,
): NodeAnswer[] {
  const { spec, plan, now } = sight;
  const running = new Map<string, string[]>();
  for (const job of sight.jobs) {
    if (isOver(job.state)) continue;
    const node = job.attempts.at(-1)?.node;
    if (node !== undefined) running.set(node, [...(running.get(node) ?? []), job.id]);
  }
  const ends = new Map(
    (plan?.actions ?? []).flatMap((action) =>
      action.kind === 'launch' ? [] : [[action.instance, action.because] as const],
    ),
  );
  return instancesOf(sight).map((instance) => {
    const type = spec.nodeTypes.find((each) => each.name === instance.type);
    const total: Resources = instance.node?.total ?? type?.resources ?? {};
    const price = priceOf(spec, instance);
    const launched = launchedBecause(instance.id);
    const end = ends.get(instance.id);
    return {
      instance: instance.id,
      type: instance.type,
      kind: instance.kind,
      status: instance.draining && instance.status === 'running' ? 'draining' : instance.status,
      since: instance.since,
      requestedAt: instance.requestedAt,
      total,
      available: instance.node?.available ?? {},
      jobs: instance.node ? (running.get(instance.node.id) ?? []).slice(0, limits.jobsOfNode) : [],
      ...(instance.node && { node: instance.node.id, idleFor: instance.node.idleFor }),
      ...(instance.providerId !== undefined && placeOf(instance.providerId, addressOf)),
      ...(instance.zone !== undefined && { zone: instance.zone }),
      ...(instance.market !== undefined && { market: instance.market }),
      ...(price !== undefined && { pricePerHour: price }),
      ...(launched !== undefined && { launchedBecause: launched }),
      ...(end !== undefined && { endsBecause: endWords(end, now) }),
      ...(instance.byHand && { byHand: true }),
    };
  });
}

function placeOf(
  machine: string,
  addressOf: (machine: string) => string | undefined,
): Pick<NodeAnswer, 'machine' | 'address'> {
  const address = addressOf(machine);
  return { machine, ...(address !== undefined && { address }) };
}

export function demandAnswer({ view, plan, engine, now }: Sight): DemandAnswer {
  return {
    demand: firstOf(view?.demand ?? engine?.demand ?? { tasks: [], gangs: [], standing: [] }),
    waiting: (plan?.waiting ?? [])
      .slice(0, limits.demands)
      .map((waiting) => ({ ...waiting, text: waitingWords(waiting, now) })),
    infeasible: (plan?.infeasible ?? [])
      .slice(0, limits.demands)
      .map((each) => ({ ...each, text: infeasibleWords(each, now) })),
  };
}

/** As much of the demand as one answer holds. */
export const firstOf = ({ tasks, gangs, standing }: Demand): Demand => ({
  tasks: tasks.slice(0, limits.demands),
  gangs: gangs.slice(0, limits.demands),
  standing: standing.slice(0, limits.demands),
});

export function samplePoint(sight: Sight): SamplePoint {
  const instances = instancesOf(sight);
  const nodes = new Map<string, number>();
  for (const instance of instances) {
    if (!instance.node && !mayRun(instance.status)) continue;
    const key = instance.node || instance.unknown ? instance.type : `${instance.type}+`;
    nodes.set(key, (nodes.get(key) ?? 0) + 1);
  }
  const { queued, held, running, starting, stopping } = sight.counts;
  return {
    at: sight.now,
    nodes: Object.fromEntries(nodes),
    usage: usageOf(instances),
    queued: queued + held,
    running: running + starting + stopping,
  };
}

/** The facts behind `manta status`. */
export function statusOf(
  sight: Sight,
  failures: Pick<ClusterStatus, 'failedLaunches' | 'failedNodes'>,
  timings: ClusterStatus['timings'],
): ClusterStatus {
  const instances = instancesOf(sight);
  const nodes = instances.flatMap((instance) => (instance.node ? [statusNode(instance, instance.node)] : []));
  const launching = new Map<string, number>();
  for (const { type, status } of instances)
    if (status === 'queued' || status === 'requested') launching.set(type, (launching.get(type) ?? 0) + 1);
  return {
    at: sight.now,
    active: nodes.filter((node) => node.idleFor === 0),
    idle: nodes.filter((node) => node.idleFor > 0),
    launching: [...launching].map(([type, count]) => ({ type, count })),
    pending: instances
      .filter((instance) => !instance.node && (instance.status === 'allocated' || instance.status === 'setting-up'))
      .map((instance) => ({ instance: instance.id, type: instance.type, details: instance.status.replace('-', ' ') })),
    ...(instances.some(isOff) && { stopped: stoppedOf(sight.spec, instances.filter(isOff)) }),
    ...failures,
    demand: sight.view?.demand ?? sight.engine?.demand ?? { tasks: [], gangs: [], standing: [] },
    ...(sight.view?.silent && { silent: sight.view.silent }),
    unknown: instances.filter((instance) => instance.unknown).length,
    ...(timings && { timings }),
  };
}

const isOff = ({ status }: InstanceView): boolean => status === 'machine-stopped';

function stoppedOf(spec: ScalingSpec, machines: readonly InstanceView[]): StoppedMachines[] {
  return [...Map.groupBy(machines, ({ type }) => type)].map(([type, own]) => {
    const prices = own.map((each) => priceOf(spec, each));
    const known = prices.filter((price) => price !== undefined);
    const sum = known.reduce((total, price) => total + price, 0);
    return { type, count: own.length, ...(known.length === own.length && { pricePerHour: sum }) };
  });
}

function statusNode(instance: InstanceView, node: NonNullable<InstanceView['node']>): StatusNode {
  const busy = Object.entries(node.total).filter(([name, total]) => total - amountOf(node.available, name) > 0);
  return {
    id: node.id,
    instance: instance.id,
    type: instance.type,
    total: node.total,
    available: node.available,
    idleFor: node.idleFor,
    activity: busy.map(([name]) => `Resource: ${name} currently in use.`),
  };
}
