import type { RayKind } from './cluster-name.ts';
import { conditionOf, dig, type Json, listAt, nameOf, namespaceOf, numberAt, textAt } from './object.ts';

/** An object of KubeRay in a line of `manta list --kube`. */
export interface ListedObject {
  readonly kind: RayKind;
  readonly namespace: string;
  readonly name: string;
  /** In a few words, by the status alone: it may lag behind. */
  readonly state: string;
  /** Names of the RayClusters behind it. */
  readonly clusters: readonly string[];
  readonly workers: string;
  readonly created: string;
}

export function listedObject(kind: RayKind, object: Json): ListedObject {
  const shared = {
    kind,
    namespace: namespaceOf(object),
    name: nameOf(object),
    created: textAt(object, 'metadata', 'creationTimestamp') ?? '',
  };
  if (kind === 'RayCluster') return { ...shared, ...clusterFacts(object) };
  if (kind === 'RayJob') {
    const cluster = textAt(object, 'status', 'rayClusterName');
    const state = [textAt(object, 'status', 'jobDeploymentStatus'), textAt(object, 'status', 'jobStatus')];
    return {
      ...shared,
      state: [...new Set(state.filter((each) => each).map((each) => each!.toLowerCase()))].join(', ') || 'not started',
      clusters: cluster ? [cluster] : [],
      workers: workersOf(dig(object, 'status', 'rayClusterStatus')),
    };
  }
  const [active, pending] = ['activeServiceStatus', 'pendingServiceStatus'].map((key) => dig(object, 'status', key));
  const clusters = [active, pending].flatMap((each) => textAt(each, 'rayClusterName') || []);
  return {
    ...shared,
    state: serviceState(object, clusters.length),
    clusters,
    workers: workersOf(dig(active, 'rayClusterStatus')),
  };
}

function clusterFacts(cluster: Json): Pick<ListedObject, 'state' | 'clusters' | 'workers'> {
  const workers = workersOf(dig(cluster, 'status'));
  const ended = textAt(cluster, 'metadata', 'deletionTimestamp') !== undefined;
  if (ended) return { state: 'being deleted', clusters: [], workers };
  if (isTrue(cluster, 'RayClusterSuspended') || dig(cluster, 'spec', 'suspend') === true)
    return { state: 'suspended', clusters: [], workers };
  const head = conditionOf(cluster, 'HeadPodReady');
  if (textAt(head, 'status') !== 'True') {
    const reason = textAt(head, 'reason');
    return { state: reason === undefined ? 'not noticed' : `head not ready (${reason})`, clusters: [], workers };
  }
  const [ready, wanted] = workerNumbers(dig(cluster, 'status'));
  return { state: ready === wanted ? 'ready' : 'workers missing', clusters: [], workers };
}

function serviceState(service: Json, clusters: number): string {
  if (textAt(service, 'metadata', 'deletionTimestamp') !== undefined) return 'being deleted';
  if (isTrue(service, 'Suspended') || dig(service, 'spec', 'suspend') === true) return 'suspended';
  const ready = conditionOf(service, 'Ready');
  if (clusters > 1 || isTrue(service, 'UpgradeInProgress')) return 'upgrading';
  if (textAt(ready, 'status') === 'True') return 'serving';
  return textAt(ready, 'reason') === undefined ? 'not noticed' : `not serving (${textAt(ready, 'reason')})`;
}

const isTrue = (object: Json, type: string): boolean => textAt(conditionOf(object, type), 'status') === 'True';

const workerNumbers = (status: Json | undefined): readonly [number, number] => [
  numberAt(status, 'readyWorkerReplicas') ?? 0,
  numberAt(status, 'desiredWorkerReplicas') ?? 0,
];

function workersOf(status: Json | undefined): string {
  if (status === undefined || (listAt(status, 'conditions').length === 0 && dig(status, 'head') === undefined))
    return '';
  const [ready, wanted] = workerNumbers(status);
  return `${ready}/${wanted}`;
}
