import type { Instant } from '../../base/time/clock.ts';
import { conditionOf, dig, entriesAt, type Json, listAt, nameOf, numberAt, textAt } from '../../core/kube/object.ts';

/** KubeRay's names on pods. */
const labels = {
  cluster: 'ray.io/cluster',
  kind: 'ray.io/node-type',
  group: 'ray.io/group',
  /** Of a group with several hosts to a replica: the replica, and the place in it. */
  replica: 'ray.io/worker-group-replica-name',
  host: 'ray.io/replica-host-index',
} as const;

/** Workers of a RayCluster alone: its head is nobody's to scale. */
export const workersOf = (cluster: string): string => `${labels.cluster}=${cluster},${labels.kind}=worker`;

export const podsPath = (namespace: string): string => `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;

/** As what the API server notes who sets `replicas`. */
export const scalerManager = 'manta-scaler';

/** A worker group, as far as its number of pods goes. */
export interface WorkerGroup {
  readonly name: string;
  /** Its place in `workerGroupSpecs`, by which patches name it. */
  readonly at: number;
  readonly replicas: number;
  readonly least: number;
  readonly most: number;
  /** Pods in one replica: the hosts of a slice. */
  readonly hosts: number;
  readonly workersToDelete: readonly string[];
  readonly isSuspended: boolean;
}

export interface ScaledCluster {
  readonly groups: readonly WorkerGroup[];
  /** What Manta has written down there; undefined where it never has. */
  readonly note: string | undefined;
  readonly hasAnnotations: boolean;
  readonly version: string;
  /** Why the operator could not make pods, in its words. */
  readonly refusal: string | undefined;
}

/** On the RayCluster: which launch asked for which replica. */
export const noteName = 'manta/launches';

/** As KubeRay's default for a group that gives no limit. */
const noLimit = 2 ** 31 - 1;

export function readScaledCluster(object: Json): ScaledCluster {
  const isSuspended = dig(object, 'spec', 'suspend') === true;
  const failure = conditionOf(object, 'ReplicaFailure');
  const isOfWorkers = textAt(failure, 'reason') === 'FailedCreateWorkerPod' && textAt(failure, 'status') === 'True';
  return {
    groups: listAt(object, 'spec', 'workerGroupSpecs').map((group, at) => ({
      name: textAt(group, 'groupName') ?? '',
      at,
      replicas: numberAt(group, 'replicas') ?? 0,
      least: numberAt(group, 'minReplicas') ?? 0,
      most: numberAt(group, 'maxReplicas') ?? noLimit,
      hosts: Math.max(1, numberAt(group, 'numOfHosts') ?? 1),
      workersToDelete: listAt(group, 'scaleStrategy', 'workersToDelete').filter((each) => typeof each === 'string'),
      isSuspended: isSuspended || dig(group, 'suspend') === true,
    })),
    note: textAt(object, 'metadata', 'annotations', noteName),
    hasAnnotations: dig(object, 'metadata', 'annotations') !== undefined,
    version: textAt(object, 'metadata', 'resourceVersion') ?? '',
    refusal: isOfWorkers ? textAt(failure, 'message') : undefined,
  };
}

/** How many replicas the operator makes: limits of the group win over `replicas`. */
export const desiredReplicas = ({ replicas, least, most, isSuspended }: WorkerGroup): number =>
  isSuspended ? 0 : replicas < least ? least : Math.min(replicas, most);

export interface WorkerPod {
  readonly name: string;
  readonly group: string;
  /** What is made and ended together: the pod itself, or the replica that it is a host of. */
  readonly unit: string;
  readonly host: number;
  readonly createdAt: Instant;
  readonly state: 'pending' | 'running' | 'stopping';
  readonly address?: string;
  /** No node has had room for it since then, in the scheduler's words. */
  readonly unschedulable?: { readonly since: Instant; readonly says: string };
}

export function readWorkerPod(pod: Json): WorkerPod {
  const label = new Map(entriesAt(pod, 'metadata', 'labels'));
  const text = (name: string): string | undefined => {
    const value = label.get(name);
    return typeof value === 'string' ? value : undefined;
  };
  const scheduled = conditionOf(pod, 'PodScheduled');
  const address = textAt(pod, 'status', 'podIP');
  return {
    name: nameOf(pod),
    group: text(labels.group) ?? '',
    unit: text(labels.replica) ?? nameOf(pod),
    host: Number(text(labels.host) ?? 0),
    createdAt: instantAt(pod, 'metadata', 'creationTimestamp'),
    state: stateOf(pod),
    ...(address !== undefined && { address }),
    ...(textAt(scheduled, 'reason') === 'Unschedulable' && {
      unschedulable: {
        since: instantAt(scheduled, 'lastTransitionTime'),
        says: textAt(scheduled, 'message') ?? 'no node has room for it',
      },
    }),
  };
}

/** A pod that has failed is deleted by the operator. */
function stateOf(pod: Json): WorkerPod['state'] {
  const phase = textAt(pod, 'status', 'phase');
  if (textAt(pod, 'metadata', 'deletionTimestamp') !== undefined || phase === 'Failed' || phase === 'Succeeded')
    return 'stopping';
  return phase === 'Running' || phase === 'Unknown' ? 'running' : 'pending';
}

const instantAt = (value: Json | undefined, ...path: readonly string[]): Instant =>
  Date.parse(textAt(value, ...path) ?? '') || 0;
