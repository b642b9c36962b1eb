import type { ClusterSpec } from '../../core/spec/cluster.ts';
import { fingerprint } from '../../core/spec/fingerprint.ts';
import { canonicalHost } from '../../core/spec/local.ts';
import type { WorkerNow } from '../reach/current-cluster.ts';

/** What becomes of the workers. Each that is there stands in one list. */
export interface WorkerPlan {
  /** As many as the file promises. */
  readonly wanted: number;
  /** Hosts that the file names; none where a cloud makes machines. */
  readonly hosts: readonly string[];
  readonly stay: readonly string[];
  /** They get the files and run their setup commands again; Ray goes on. */
  readonly updated: readonly string[];
  /** They are emptied and set up again, in turn. */
  readonly rolled: readonly string[];
  /** They join again, because Ray's head restarts. */
  readonly rejoin: readonly string[];
  /** The file no longer has their host or their type: they are emptied and ended. */
  readonly leave: readonly string[];
  /** They were on their way out already. */
  readonly ending: readonly string[];
  /** So many of those that would stay are above the limits. Which, mantad decides: idle ones go first. */
  readonly tooMany: number;
  /** So many are made, */
  readonly made: number;
  /** on these hosts, or on some of them. */
  readonly free: readonly string[];
}

export interface WorkersRequest {
  readonly spec: ClusterSpec;
  /** As it was at the last `up`. */
  readonly before: ClusterSpec | undefined;
  readonly hosts: readonly string[];
  readonly now: readonly WorkerNow[];
  readonly headRestarts: boolean;
  readonly filesChanged: boolean;
  /** Workers are left as they are, whatever changed. */
  readonly leaveWorkers: boolean;
}

export function planWorkers(request: WorkersRequest): WorkerPlan {
  const { spec, hosts, now } = request;
  const isHost = (name: string): boolean =>
    hosts.length === 0 || hosts.some((host) => canonicalHost(host) === canonicalHost(name));
  const types = new Map(spec.nodeTypes.map((type) => [type.name, type]));
  const there = now.filter(({ ending }) => !ending);
  const leave = there.filter(({ name, type }) => !types.has(type) || !isHost(name));
  const kept = there.filter((worker) => !leave.includes(worker));
  const of = (type: string): number => kept.filter((worker) => worker.type === type).length;
  const above = spec.nodeTypes.reduce((sum, type) => sum + Math.max(0, of(type.name) - type.maxWorkers), 0);
  const tooMany = Math.max(above, kept.length - (spec.maxWorkers ?? Number.POSITIVE_INFINITY));
  const missing = spec.nodeTypes.reduce((sum, type) => sum + Math.max(0, type.minWorkers - of(type.name)), 0);
  const taken = new Set(now.map(({ name }) => canonicalHost(name)));
  const groups = Map.groupBy(kept, (worker) => fateOf(worker, request));
  const namesOf = (workers: readonly WorkerNow[] = []): readonly string[] => workers.map(({ name }) => name);
  return {
    wanted: spec.nodeTypes.reduce((sum, type) => sum + type.minWorkers, 0),
    hosts,
    stay: namesOf(groups.get('stay')),
    updated: namesOf(groups.get('updated')),
    rolled: namesOf(groups.get('rolled')),
    rejoin: namesOf(groups.get('rejoin')),
    leave: namesOf(leave),
    ending: namesOf(now.filter(({ ending }) => ending)),
    tooMany,
    made: Math.max(0, Math.min(missing, (spec.maxWorkers ?? Number.POSITIVE_INFINITY) - kept.length)),
    free: hosts.filter((host) => !taken.has(canonicalHost(host))),
  };
}

type Fate = 'stay' | 'updated' | 'rolled' | 'rejoin';

function fateOf({ type }: WorkerNow, request: WorkersRequest): Fate {
  if (request.headRestarts) return 'rejoin';
  const outdated = isOutdated(type, request);
  if (!request.leaveWorkers && outdated) return 'rolled';
  // One that would need another container keeps the one it has, as it is.
  const isContained = request.before?.nodeTypes.find(({ name }) => name === type)?.worker.container !== undefined;
  return request.filesChanged && !(outdated && isContained) ? 'updated' : 'stay';
}

/** By what mantad goes by: the commands and the container of the type, with what is mounted there; of a cloud, its instances. */
function isOutdated(name: string, { spec, before }: WorkersRequest): boolean {
  const [old, now] = [before, spec].map((each) => each && madeOf(each, name));
  return old !== undefined && JSON.stringify(old) !== JSON.stringify(now);
}

function madeOf({ nodeTypes, files, provider }: ClusterSpec, name: string): unknown {
  const type = nodeTypes.find((each) => each.name === name);
  const launched = provider.kind === 'cloud' && type !== undefined ? [fingerprint(type.launchConfig)] : [];
  const mounted =
    type?.worker.container === undefined ? [] : [files.mounts.map(({ remote }) => remote), files.clusterSynced];
  return type === undefined ? undefined : [type.worker, ...launched, ...mounted];
}
