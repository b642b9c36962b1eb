/** What KubeRay's operator does with worker groups, as its source says (`reconcilePods` of v1.6.2). See behaviour.md. */

export interface Group {
  groupName: string;
  replicas: number;
  minReplicas: number;
  maxReplicas: number;
  numOfHosts: number;
  scaleStrategy?: { workersToDelete?: string[] };
  template?: unknown;
}

export interface Cluster {
  metadata: {
    name: string;
    namespace: string;
    resourceVersion: string;
    annotations?: Record<string, string>;
  };
  spec: { enableInTreeAutoscaling: boolean; workerGroupSpecs: Group[] };
  status: { conditions: { type: string; status: string; reason: string; message: string }[] };
}

export interface Pod {
  metadata: {
    name: string;
    labels: Record<string, string>;
    creationTimestamp: string;
    deletionTimestamp?: string;
  };
  status: {
    phase: 'Pending' | 'Running' | 'Failed';
    podIP?: string;
    conditions: { type: string; status: string; reason: string; message: string; lastTransitionTime: string }[];
  };
}

export interface World {
  readonly cluster: Cluster;
  readonly pods: readonly Pod[];
  make(group: Group, labels: Readonly<Record<string, string>>): void;
  delete(pod: Pod): void;
}

/** One reconciliation. Throws what the operator would try again. */
export function reconcile(world: World): void {
  for (const group of world.cluster.spec.workerGroupSpecs) {
    const pods = world.pods.filter(({ metadata }) => metadata.labels['ray.io/group'] === group.groupName);
    if (group.numOfHosts > 1) reconcileSlices(world, group, pods);
    else reconcilePods(world, group, pods);
  }
}

function reconcilePods(world: World, group: Group, pods: readonly Pod[]): void {
  const failed = pods.filter(({ status }) => status.phase === 'Failed');
  for (const pod of failed) world.delete(pod);
  if (failed.length > 0) throw new Error(`delete ${failed.length} unhealthy worker Pods`);
  const named = group.scaleStrategy?.workersToDelete ?? [];
  const leaving = pods.filter(({ metadata }) => named.includes(metadata.name));
  for (const pod of leaving) world.delete(pod);
  const missing = desired(group) - (pods.length - leaving.length);
  for (let made = 0; made < missing; made++) world.make(group, {});
  if (missing < 0 && !world.cluster.spec.enableInTreeAutoscaling)
    for (const pod of pods.slice(0, -missing)) world.delete(pod);
}

function reconcileSlices(world: World, group: Group, pods: readonly Pod[]): void {
  const slices = Map.groupBy(pods, ({ metadata }) => metadata.labels['ray.io/worker-group-replica-name'] ?? '');
  for (const [name, members] of slices)
    if (members.length < group.numOfHosts) {
      for (const pod of members) world.delete(pod);
      throw new Error(`cleaned up incomplete replica group ${name}, requeueing`);
    }
  const named = group.scaleStrategy?.workersToDelete ?? [];
  const leaving = [...slices.values()].filter((members) =>
    members.some(({ metadata }) => named.includes(metadata.name)),
  );
  for (const pod of leaving.flat()) world.delete(pod);
  if (leaving.length > 0) throw new Error('deleted worker Pods based on ScaleStrategy, requeueing');
  const missing = desired(group) - slices.size;
  for (let made = 0; made < missing; made++) {
    const replica = `${group.groupName}-${word()}`;
    for (let host = 0; host < group.numOfHosts; host++)
      world.make(group, {
        'ray.io/worker-group-replica-name': replica,
        'ray.io/replica-host-index': String(host),
      });
  }
}

const desired = ({ replicas, minReplicas, maxReplicas }: Group): number =>
  replicas < minReplicas ? minReplicas : Math.min(replicas, maxReplicas);

/** As `generateName` ends. */
export const word = (): string => Math.random().toString(36).slice(2, 7).padEnd(5, 'x');
