import type { Cause, Headway } from '../progress.ts';
import {
  freshWarnings,
  isHead,
  isLeaving,
  isReady,
  podsCause,
  refusalCause,
  type Surroundings,
  unnoticed,
  warningsOf,
} from './causes.ts';
import { conditionOf, dig, type Json, listAt, nameOf, numberAt, textAt } from './object.ts';
import { kueueQueueOf } from './owners.ts';

/** A RayCluster and what stands around it, at one instant. */
export interface RayClusterState extends Surroundings {
  readonly cluster: Json;
  /** Its pods are replaced by the change: those that are there may still be the old ones. */
  readonly isReplaced: boolean;
}

/**
 * Whether a RayCluster is what its spec says. `state: ready` and `RayClusterProvisioned` never become false again, and
 * conditions lag behind a new spec, so pods are counted. The operator writes `observedGeneration` only when something else
 * in the status changes too: it tells of replaced pods, and of nothing else.
 */
export function progressOf(state: RayClusterState): Headway {
  const { cluster } = state;
  const pods = state.pods.filter((pod) => !isLeaving(pod));
  const current =
    !state.isReplaced ||
    numberAt(cluster, 'status', 'observedGeneration') === numberAt(cluster, 'metadata', 'generation');
  if (dig(cluster, 'spec', 'suspend') === true) return suspendedProgress(cluster, pods.length);
  const wanted = 1 + wantedWorkers(cluster);
  const ready = pods.filter(isReady).length;
  const says = `${ready} of ${wanted} pods ready`;
  if (current && pods.some((pod) => isHead(pod) && isReady(pod)) && ready === wanted && pods.length === wanted)
    return { state: 'done', says };
  const cause = clusterCause({ ...state, pods }, current);
  return { state: 'waiting', says, ...(cause !== undefined && { cause }) };
}

/** Kueue suspends what it has not admitted: that is not what anybody asked for. */
function suspendedProgress(cluster: Json, pods: number): Headway {
  const queue = kueueQueueOf(cluster);
  if (queue !== undefined) return { state: 'waiting', says: 'suspended', cause: waitsInQueue(queue) };
  const isSuspended = textAt(conditionOf(cluster, 'RayClusterSuspended'), 'status') === 'True';
  return isSuspended && pods === 0
    ? { state: 'done', says: 'suspended' }
    : { state: 'waiting', says: `suspending, ${pods} pods left` };
}

export const waitsInQueue = (queue: string): Cause => ({
  kind: 'gated',
  says: `Kueue has not admitted it yet (queue '${queue}')`,
  next: "look at its workload with 'kubectl describe workloads'; it starts when the queue has quota for it",
  isFinal: false,
});

function wantedWorkers(cluster: Json): number {
  return listAt(cluster, 'spec', 'workerGroupSpecs')
    .filter((group) => dig(group, 'suspend') !== true)
    .reduce<number>((sum, group) => {
      const least = numberAt(group, 'minReplicas') ?? 0;
      const most = numberAt(group, 'maxReplicas') ?? Number.POSITIVE_INFINITY;
      const replicas = Math.min(most, Math.max(least, numberAt(group, 'replicas') ?? 0));
      return sum + replicas * (numberAt(group, 'numOfHosts') ?? 1);
    }, 0);
}

/** What stands in the way of everything else: the operator's refusal, then the head's trouble, then that of workers. */
export function clusterCause(state: RayClusterState, isCurrent = true): Cause | undefined {
  const { cluster, pods, events } = state;
  const missing = pods.length === 0;
  // Without a pod the last refusal counts however old it is: the operator's next try may be minutes away.
  const refusal = (missing ? warningsOf(nameOf(cluster), events) : freshWarnings(cluster, events)).at(-1);
  const lacksWorkers = pods.length < 1 + wantedWorkers(cluster);
  if (refusal !== undefined && (missing || !isCurrent || lacksWorkers)) return refusalCause(refusal);
  if (missing && numberAt(cluster, 'status', 'observedGeneration') === undefined) return unnoticed(state.operators);
  return podsCause(state);
}
