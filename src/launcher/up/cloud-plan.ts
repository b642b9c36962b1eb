import { mantaTags } from '../../core/ray-tags.ts';
import type { Offer } from '../../core/scaling.ts';
import type { ClusterSpec, PlainMap } from '../../core/spec/cluster.ts';
import { headIdentityOf, openCloud, type PreparationPlan, type PreparationStep } from '../../providers/clouds.ts';
import type { ProviderInstance } from '../../providers/provider.ts';
import { descriptorFor } from '../../providers/table.ts';
import { readLaptopRecord } from '../../state/cluster-record.ts';
import { headLaunchHash } from '../../state/launch-hash.ts';
import { type GivenFile, readConfig } from '../../state/load-spec.ts';
import { launcherErrors } from '../errors.ts';
import { type CloudRequest, clientFor, namedKeyProblem, specFor } from '../head/cloud-client.ts';
import { cloudHead } from '../head/cloud-head.ts';
import { newClusterId } from '../head/cloud-record.ts';
import { headOffers } from '../head/head-launch.ts';
import { outdatedStartWarnings } from './check-start.ts';
import { placed, placingErrors } from './place-in-file.ts';

/** What `up` is going to ask of a cloud, before it asks for anything. */
export interface CloudPlan {
  readonly cluster: string;
  readonly provider: string;
  /** The cluster is known on this machine. */
  readonly known: boolean;
  /** What is made carries it. Of a cluster that is not known yet: the one that it gets if this plan is carried out. */
  readonly clusterId: string;
  readonly head: {
    /** `launch`: there is none. `keep`: it is there, or on its way. `replace`: the file wants another one than is there. */
    readonly action: 'launch' | 'keep' | 'replace';
    readonly type: string;
    /** As the cloud names it; absent where the file leaves it to something else, such as a template. */
    readonly machine?: string;
    /** In the order in which they are tried. */
    readonly offers: readonly Offer[];
    /** Of the one that is there. */
    readonly instance?: string;
    readonly state?: ProviderInstance['state'];
  };
  /** Node types that may have workers. */
  readonly workers: readonly {
    readonly type: string;
    readonly machine?: string;
    readonly min: number;
    readonly max: number;
    /** Hosts that come together, where one alone does not: `min` and `max` count hosts. */
    readonly hostsPerSlice?: number;
    readonly offer: Offer;
  }[];
  /** So many workers to start with. */
  readonly wanted: number;
  /** Dollars an hour for what is there to start with. Absent where a price is not known. */
  readonly pricePerHour?: number;
  readonly steps: readonly PreparationStep[];
  readonly warnings: readonly string[];
}

const nothingPrepared: PreparationPlan = { steps: [], warnings: [] };

/** Looks at the cloud without one changing call. Throws for what would keep the cluster from coming up. */
export async function planCloud(request: CloudRequest, signal: AbortSignal): Promise<CloudPlan> {
  return await placingErrors(request.file, lookAtCloud(request, signal));
}

async function lookAtCloud(request: CloudRequest, signal: AbortSignal): Promise<CloudPlan> {
  const { folder, env, clock, events } = request;
  const spec = specFor(request);
  // A credential that cannot be handed over is found before anything costs money.
  await headIdentityOf(spec, env);
  refuseMoved(request, spec);
  const { remote } = readLaptopRecord(folder) ?? {};
  const clusterId = remote?.clusterId ?? newClusterId();
  const client = await clientFor(request, clusterId, 'look');
  const module = await descriptorFor(spec, 'cloud').load();
  const [there, { steps, warnings, complete }] = await Promise.all([
    cloudHead(request, signal),
    module.planPreparation?.({ ...client, clock, events }, signal) ?? nothingPrepared,
  ]);
  const key = namedKeyProblem(spec);
  const learned = complete ?? (await (await openCloud(client)).learn(signal));
  return {
    cluster: folder.name,
    provider: spec.provider.type,
    known: remote !== undefined,
    clusterId,
    head: headPlan(learned(spec), there),
    ...workersPlan(learned(spec)),
    steps,
    warnings: [
      ...outdatedStartWarnings(request.file),
      ...(key === undefined ? [] : [placed(request.file, key).message]),
      ...warnings,
      ...spotWarnings(learned(spec)),
    ],
  };
}

/** Keys under `provider` that say in which cloud, and where in it, a cluster is. */
const placeKeys = ['region', 'location', 'project_id', 'subscription_id', 'endpoint'] as const;

const placeOf = ({ provider: { type, config } }: ClusterSpec): string =>
  [type, ...placeKeys.flatMap((key) => (typeof config[key] === 'string' ? [config[key]] : []))].join(' ');

/** A cluster that runs elsewhere would go on running there, and nobody here would know of it any more. */
function refuseMoved({ folder, file }: CloudRequest, spec: ClusterSpec): void {
  const { config, remote } = readLaptopRecord(folder) ?? {};
  if (config === undefined || (remote?.askedAt === undefined && remote?.prepared === undefined)) return;
  const [before, now] = [placeIn(config, file), placeOf(spec)];
  if (before !== undefined && before !== now) throw launcherErrors.HeadMoved({ name: folder.name, before, now });
}

function placeIn(config: GivenFile['config'], file: GivenFile): string | undefined {
  try {
    return placeOf(readConfig(config, file).spec);
  } catch {
    // Written by another Manta, perhaps.
    return undefined;
  }
}

function headPlan(spec: ClusterSpec, there: ProviderInstance | undefined): CloudPlan['head'] {
  const shared = { type: spec.headType, ...machineIn(spec, spec.head.launchConfig), offers: headOffers(spec) };
  if (there === undefined) return { action: 'launch', ...shared };
  const made = there.tags[mantaTags.launchHash];
  // One of an earlier version says nothing of what it was made with: it stays.
  const outdated = made !== undefined && made !== headLaunchHash(spec);
  return { action: outdated ? 'replace' : 'keep', ...shared, instance: there.id, state: there.state };
}

function machineIn(spec: ClusterSpec, launch: PlainMap): { readonly machine?: string } {
  const machine = descriptorFor(spec, 'cloud').machineOf?.(launch);
  return machine === undefined ? {} : { machine };
}

function workersPlan(spec: ClusterSpec): Pick<CloudPlan, 'workers' | 'wanted' | 'pricePerHour'> {
  const types = spec.nodeTypes.filter(({ name, maxWorkers }) => name !== spec.headType || maxWorkers > 0);
  const workers = types.map(
    ({ name: type, minWorkers: min, maxWorkers: max, hostsPerSlice, offers, launchConfig }) => ({
      type,
      ...machineIn(spec, launchConfig),
      min,
      max: Math.min(max, spec.maxWorkers ?? max),
      ...(hostsPerSlice > 1 && { hostsPerSlice }),
      offer: offers[0] ?? { market: 'on-demand' as const },
    }),
  );
  const head = headOffers(spec)[0]?.pricePerHour;
  const parts = [head, ...workers.map(({ min, offer }) => (min === 0 ? 0 : timesOf(min, offer)))];
  const known = parts.filter((part) => part !== undefined);
  return {
    workers: workers.filter(({ max }) => max > 0),
    wanted: workers.reduce((sum, { min }) => sum + min, 0),
    ...(known.length === parts.length && { pricePerHour: known.reduce((sum, part) => sum + part, 0) }),
  };
}

const timesOf = (count: number, { pricePerHour }: Offer): number | undefined =>
  pricePerHour === undefined ? undefined : count * pricePerHour;

function spotWarnings(spec: ClusterSpec): readonly string[] {
  if (headOffers(spec)[0]?.market !== 'spot') return [];
  return [
    `the head (${spec.headType}) is a spot instance, as the file says: if the cloud takes it back, the queue and all running jobs are lost`,
  ];
}
