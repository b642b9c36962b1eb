import type { NodeFiles, NodeOrder } from '../../bringup/node/node.ts';
import { fingerprints, outdatedParts, type Part, type Restart, startsRay } from '../../bringup/node/record.ts';
import { contentsFingerprint } from '../../bringup/sync/contents.ts';
import { changedKeys, type KeyChange } from '../../core/spec/changes.ts';
import type { ClusterSpec, PlainMap } from '../../core/spec/cluster.ts';
import { openCluster } from '../../core/spec/read.ts';
import { isMap, type Source } from '../../core/spec/source.ts';
import { providers } from '../../providers/table.ts';
import { type HeadRecord, readLaptopRecord } from '../../state/cluster-record.ts';
import { readConfig, specOf } from '../../state/load-spec.ts';
import { clusterNames, stateFolder } from '../../state/state-folder.ts';
import type { HeadLook } from '../head/look.ts';
import type { RunningJobs, WorkerNow } from '../reach/current-cluster.ts';
import type { RemoteCluster } from '../reach/remote-cluster.ts';
import { planWorkers, type WorkerPlan } from './plan-workers.ts';

/** What `up` is going to do, before it does anything. */
export interface UpPlan {
  readonly cluster: string;
  readonly known: boolean;
  readonly head: {
    readonly host: string;
    /** `make`: nothing of this cluster is there. `restart`: Ray is restarted. `update`: what changed, without Ray. */
    readonly action: 'make' | 'restart' | 'update' | 'nothing';
    readonly parts: readonly Part[];
    /** A Ray that Manta did not start runs there. */
    readonly foreignRay: boolean;
    /** `ray up` made it, by the tags that it left; `same`: from what is this file now. */
    readonly rayUp?: { readonly status?: string; readonly same: boolean };
  };
  readonly workers: WorkerPlan;
  readonly changes: readonly KeyChange[];
  /** What runs there and dies with a restart of Ray. */
  readonly runningJobs: RunningJobs;
  /** Another cluster that was started from the same file, or else with the same head: a new name leaves it running. */
  readonly orphan?: { readonly name: string; readonly sameFile: boolean };
  /** Another cluster holds the host of the head, so that this one is refused. */
  readonly heldBy?: { readonly cluster: string; readonly owner: string };
  readonly upgrade?: { readonly from: string; readonly to: string };
}

export interface PlanRequest {
  readonly cluster: RemoteCluster;
  readonly order: NodeOrder;
  readonly files: NodeFiles;
  readonly look: HeadLook;
  readonly home: string;
  readonly clusterId: string;
  readonly restart: Restart;
  readonly startOnly: boolean;
  readonly version: string;
  readonly workersNow: () => Promise<readonly WorkerNow[]>;
  readonly runningJobs: () => Promise<RunningJobs>;
  readonly madeByRay: () => Promise<UpPlan['head']['rayUp']>;
}

export async function planUp(request: PlanRequest): Promise<UpPlan> {
  const { cluster, look, order } = request;
  const wanted = fingerprints(order, await contentsFingerprint(request.files));
  const rayUp = look.cluster === undefined && look.foreignRay ? await request.madeByRay() : undefined;
  const outdated = request.startOnly ? new Set<Part>(['start']) : outdatedParts(look.record, wanted);
  const has = (part: Part): boolean => part !== 'container' || order.commands.container !== undefined;
  const starts = startsRay(request.restart, {
    rayAlive: look.rayAlive,
    remade: has('container') && outdated.has('container'),
    outdated,
  });
  const parts = [...outdated].filter((part) => (part !== 'start' || starts) && has(part));
  const action = look.record === undefined ? 'make' : starts ? 'restart' : parts.length > 0 ? 'update' : 'nothing';
  const before = look.cluster;
  const then = before && readBefore(before, cluster);
  const changes = then === undefined ? [] : changedKeys(keysIn(then.source), keysIn(cluster.file.source));
  const orphan = before === undefined ? orphanOf(request) : undefined;
  const holder = look.claims.find(({ clusterId }) => clusterId !== request.clusterId);
  return {
    cluster: cluster.name,
    known: before !== undefined,
    head: { host: cluster.head.name, action, parts, foreignRay: look.foreignRay, ...(rayUp && { rayUp }) },
    workers: planWorkers({
      spec: cluster.spec,
      before: then?.spec,
      hosts: cluster.workerAddresses,
      now: before === undefined ? [] : await request.workersNow(),
      headRestarts: starts,
      filesChanged: outdated.has('files'),
      leaveWorkers: request.restart === 'never',
    }),
    changes,
    runningJobs:
      action === 'restart' && look.serving !== undefined ? await request.runningJobs() : { total: 0, names: [] },
    ...(orphan !== undefined && { orphan }),
    ...(holder !== undefined && { heldBy: { cluster: holder.cluster, owner: holder.owner } }),
    ...(look.serving !== undefined &&
      look.serving.version !== request.version && { upgrade: { from: look.serving.version, to: request.version } }),
  };
}

const keysIn = (source: Source | undefined): PlainMap => (source && isMap(source.value) ? source.value : {});

/** What the cluster was before; without a spec where this Manta does not take its file any more. */
function readBefore(
  { config, overrides }: HeadRecord,
  { file }: RemoteCluster,
): { readonly source?: Source; readonly spec?: ClusterSpec } {
  if (config === undefined) return {};
  try {
    const read = readConfig(config, file);
    return { source: read.source, spec: specOf(read, overrides) };
  } catch {
    const { source } = openCluster(config.path, Buffer.from(config.text), config.env, providers);
    return source === undefined ? {} : { source };
  }
}

/** A cluster of another name that this file, or another one with the same head, has started. */
function orphanOf({ cluster, home }: PlanRequest): UpPlan['orphan'] {
  const others = clusterNames(home).flatMap((name) => {
    if (name === cluster.name) return [];
    try {
      const { remote, config } = readLaptopRecord(stateFolder(home, name)) ?? {};
      if (remote === undefined) return [];
      const sameFile = config?.path === cluster.file.config.path;
      return sameFile || remote.address === cluster.headAddress ? [{ name, sameFile }] : [];
    } catch {
      return [];
    }
  });
  return others.find(({ sameFile }) => sameFile) ?? others[0];
}
