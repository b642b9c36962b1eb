import { contentsFingerprint } from '../bringup/contents.ts';
import type { NodeFiles, NodeOrder } from '../bringup/node.ts';
import { fingerprints, outdatedParts, type Part, type Restart, startsRay } from '../bringup/record.ts';
import { changedKeys, type KeyChange } from '../core/spec/changes.ts';
import type { PlainMap } from '../core/spec/cluster.ts';
import { openCluster } from '../core/spec/read.ts';
import { isMap } from '../core/spec/source.ts';
import { type ClusterFile, clusterNames, readCluster, stateFolder } from '../head/state-folder.ts';
import type { HeadLook } from './head-look.ts';
import type { RemoteCluster } from './remote-cluster.ts';

/** What `up` is going to do, before it does anything. */
export interface UpPlan {
  readonly cluster: string;
  readonly known: boolean;
  readonly head: {
    readonly host: string;
    /** `make`: nothing of this cluster is there. `restart`: Ray is started anew. `update`: what changed, without Ray. */
    readonly action: 'make' | 'restart' | 'update' | 'nothing';
    readonly parts: readonly Part[];
    /** A Ray that Manta did not start runs there. */
    readonly foreignRay: boolean;
    /** `ray up` made it, by the tags that it left; `same`: from what is this file now. */
    readonly rayUp?: { readonly status?: string; readonly same: boolean };
  };
  readonly workers: {
    readonly wanted: number;
    readonly hosts: readonly string[];
    readonly joining: readonly string[];
    readonly leaving: readonly string[];
    /** They are set up again, one after the other, each emptied first. */
    readonly rolled: boolean;
  };
  readonly changes: readonly KeyChange[];
  /** Jobs that run there and die with a restart of Ray. */
  readonly runningJobs: number;
  /** Another cluster that was started from the same file: a new name leaves it running. */
  readonly orphan?: string;
  readonly upgrade?: { readonly from: string; readonly to: string };
}

export interface PlanRequest {
  readonly cluster: RemoteCluster;
  readonly order: NodeOrder;
  readonly files: NodeFiles;
  readonly look: HeadLook;
  readonly home: string;
  readonly restart: Restart;
  readonly startOnly: boolean;
  readonly version: string;
  readonly runningJobs: () => Promise<number>;
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
  const changes = before === undefined ? [] : changesBetween(before, cluster);
  const hostsBefore = before === undefined ? [] : workerNames(before);
  const hosts = cluster.workerAddresses;
  const orphan = before === undefined ? orphanOf(request) : undefined;
  return {
    cluster: cluster.name,
    known: before !== undefined,
    head: { host: cluster.head.name, action, parts, foreignRay: look.foreignRay, ...(rayUp && { rayUp }) },
    workers: {
      wanted: cluster.spec.nodeTypes.reduce((sum, type) => sum + type.minWorkers, 0),
      hosts,
      joining: hosts.filter((host) => !hostsBefore.includes(host)),
      leaving: hostsBefore.filter((host) => !hosts.includes(host)),
      rolled:
        request.restart !== 'never' &&
        changes.some(({ effect }) => ['setup', 'start', 'container', 'initialization', 'files'].includes(effect)),
    },
    changes,
    runningJobs: action === 'restart' && look.serving !== undefined ? await request.runningJobs() : 0,
    ...(orphan !== undefined && { orphan }),
    ...(look.serving !== undefined &&
      look.serving.version !== request.version && { upgrade: { from: look.serving.version, to: request.version } }),
  };
}

const fileOf = ({ config }: Pick<ClusterFile, 'config'>): PlainMap => {
  if (config === undefined) return {};
  const { source } = openCluster(config.path, Buffer.from(config.text), config.env);
  return source !== undefined && isMap(source.value) ? source.value : {};
};

function changesBetween(before: ClusterFile, { config }: RemoteCluster): readonly KeyChange[] {
  return changedKeys(fileOf(before), fileOf({ config }));
}

function workerNames(record: ClusterFile): readonly string[] {
  const { provider } = fileOf(record);
  const workers = isMap(provider) ? provider['worker_ips'] : undefined;
  return Array.isArray(workers) ? (workers as readonly unknown[]).map(String) : [];
}

/** A cluster that this file started under another name. */
function orphanOf({ cluster, home }: PlanRequest): string | undefined {
  return clusterNames(home).find((name) => {
    if (name === cluster.name) return false;
    try {
      const record = readCluster(stateFolder(home, name));
      return record?.remote !== undefined && record.config?.path === cluster.config.path;
    } catch {
      return false;
    }
  });
}
