import type { Labels, Resources } from '../../core/resources.ts';
import type { ClusterSpec, NodeType } from '../../core/spec/cluster.ts';
import type { NodeFiles, NodeOrder } from './node.ts';

/** What is the same for every node of a cluster. */
export interface ClusterOrder {
  readonly spec: ClusterSpec;
  readonly headAddress: string;
  readonly loginShells: boolean;
  readonly usageStats: boolean;
  readonly token?: string;
  readonly dashboardPort: number;
}

export function headOrder(cluster: ClusterOrder, instance: string, files: NodeFiles): NodeOrder {
  const { spec } = cluster;
  const type = spec.nodeTypes.find((each) => each.name === spec.headType);
  const known = spec.maxWorkers !== undefined && { mostWorkers: spec.maxWorkers };
  return {
    ...shared(cluster, type),
    ...known,
    instance,
    kind: 'head',
    type: spec.headType,
    commands: spec.head,
    files,
  };
}

/** What one host of a slice has beyond what its type has. */
export interface HostOfSlice {
  readonly resources?: Resources;
  readonly labels?: Labels;
  readonly environment?: Readonly<Record<string, string>>;
}

export function workerOrder(
  cluster: ClusterOrder,
  type: NodeType,
  instance: string,
  files: NodeFiles,
  slice: HostOfSlice = {},
): NodeOrder {
  const common = shared(cluster, type);
  const { resources, labels, environment } = slice;
  return {
    ...common,
    ...(resources && { resources: { ...common.resources, ...resources } }),
    ...(labels && { labels: { ...labels, ...common.labels } }),
    ...(environment && { environment }),
    instance,
    kind: 'worker',
    type: type.name,
    commands: type.worker,
    files,
  };
}

function shared(
  { spec, headAddress, loginShells, usageStats, token, dashboardPort }: ClusterOrder,
  type: NodeType | undefined,
): Omit<NodeOrder, 'instance' | 'kind' | 'type' | 'commands' | 'files'> {
  // Where the file says nothing Ray looks for itself.
  const overrides = type?.resourcesKnown === true;
  const labels = type !== undefined && Object.keys(type.labels).length > 0;
  return {
    cluster: spec.name,
    headAddress,
    loginShells,
    usageStats,
    dashboardPort,
    ...(token !== undefined && { token }),
    ...(overrides && { resources: type.resources }),
    ...(labels && { labels: type.labels }),
  };
}

/** The port that the head's start commands give to the GCS. */
export function gcsPortOf(spec: ClusterSpec): number {
  for (const command of spec.head.start) {
    const start = command.search(/\bray\s+start\b/);
    const port = start < 0 ? undefined : /--port[= ]\s*(\d+)/.exec(command.slice(start))?.[1];
    if (port !== undefined && /--head\b/.test(command)) return Number(port);
  }
  return 6379;
}
