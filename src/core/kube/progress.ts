import { conditionOf, dig, type Json, listAt, nameOf, numberAt, textAt } from './object.ts';

/** A RayCluster and what stands around it, at one instant. */
export interface RayClusterState {
  readonly cluster: Json;
  /** Its pods are replaced by the change: those that are there may still be the old ones. */
  readonly isReplaced: boolean;
  readonly pods: readonly Json[];
  /** Events about the cluster itself. */
  readonly events: readonly Json[];
}

export interface Cause {
  readonly kind:
    | 'not noticed'
    | 'refused by the operator'
    | 'unschedulable'
    | 'gated'
    | 'image'
    | 'crash'
    | 'out of memory'
    | 'container settings'
    | 'waits for the head'
    | 'not ready';
  readonly says: string;
  readonly next: string;
  /** Waiting does not help. */
  readonly isFinal: boolean;
  /** Whose last lines say more. */
  readonly logs?: { readonly pod: string; readonly container: string };
}

export type RayClusterProgress =
  | { readonly state: 'done'; readonly says: string }
  | { readonly state: 'waiting'; readonly says: string; readonly cause?: Cause };

const isReady = (pod: Json): boolean => textAt(conditionOf(pod, 'Ready'), 'status') === 'True';
const isHead = (pod: Json): boolean => textAt(pod, 'metadata', 'labels', 'ray.io/node-type') === 'head';

/**
 * Whether a RayCluster is what its spec says. `state: ready` and `RayClusterProvisioned` never become false again, and
 * conditions lag behind a new spec, so pods are counted. The operator writes `observedGeneration` only when something else
 * in the status changes too: it tells of replaced pods, and of nothing else.
 */
export function progressOf(state: RayClusterState): RayClusterProgress {
  const { cluster } = state;
  const pods = state.pods.filter((pod) => textAt(pod, 'metadata', 'deletionTimestamp') === undefined);
  const current =
    !state.isReplaced ||
    numberAt(cluster, 'status', 'observedGeneration') === numberAt(cluster, 'metadata', 'generation');
  if (dig(cluster, 'spec', 'suspend') === true) {
    const isSuspended = textAt(conditionOf(cluster, 'RayClusterSuspended'), 'status') === 'True';
    return isSuspended && pods.length === 0
      ? { state: 'done', says: 'suspended' }
      : { state: 'waiting', says: `suspending, ${pods.length} pods left` };
  }
  const wanted = 1 + wantedWorkers(cluster);
  const ready = pods.filter(isReady).length;
  const says = `${ready} of ${wanted} pods ready`;
  if (current && pods.some((pod) => isHead(pod) && isReady(pod)) && ready === wanted && pods.length === wanted)
    return { state: 'done', says };
  const cause = firstCause({ ...state, pods }, current);
  return { state: 'waiting', says, ...(cause !== undefined && { cause }) };
}

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
function firstCause({ cluster, pods, events }: RayClusterState, isCurrent: boolean): Cause | undefined {
  const refusal = events.findLast((event) => textAt(event, 'type') === 'Warning');
  const missing = pods.length === 0;
  if (refusal !== undefined && (missing || !isCurrent))
    return {
      kind: 'refused by the operator',
      says: `${textAt(refusal, 'reason') ?? 'warning'}: ${textAt(refusal, 'message') ?? ''}`,
      next: 'change the manifest, the quota or the rules of the namespace, and apply it again',
      isFinal: false,
    };
  if (missing && numberAt(cluster, 'status', 'observedGeneration') === undefined)
    return {
      kind: 'not noticed',
      says: "KubeRay's operator has not looked at it yet",
      next: "check that the operator runs and watches this namespace: 'manta kube check'",
      isFinal: false,
    };
  const ordered = [...pods].sort((a, b) => Number(isHead(b)) - Number(isHead(a)));
  return ordered.map(podCause).find((cause) => cause !== undefined);
}

function podCause(pod: Json): Cause | undefined {
  if (isReady(pod)) return undefined;
  const name = nameOf(pod);
  const scheduled = conditionOf(pod, 'PodScheduled');
  if (textAt(scheduled, 'reason') === 'SchedulingGated')
    return {
      kind: 'gated',
      says: `the pod '${name}' is held back by a scheduling gate`,
      next: 'Kueue or another admission controller lets it go when it has quota for it',
      isFinal: false,
    };
  if (textAt(scheduled, 'reason') === 'Unschedulable')
    return {
      kind: 'unschedulable',
      says: `no node has room for the pod '${name}': ${textAt(scheduled, 'message') ?? ''}`,
      next: 'ask for less, add nodes, or add the tolerations that the taints need',
      isFinal: false,
    };
  const statuses = [...listAt(pod, 'status', 'initContainerStatuses'), ...listAt(pod, 'status', 'containerStatuses')];
  const found = statuses.map((status) => containerCause(name, status)).find((cause) => cause !== undefined);
  if (found !== undefined) return found;
  const waits = listAt(pod, 'status', 'initContainerStatuses').find(
    (status) => textAt(status, 'name') === 'wait-gcs-ready' && dig(status, 'state', 'running') !== undefined,
  );
  if (waits !== undefined)
    return {
      kind: 'waits for the head',
      says: `the pod '${name}' waits until it reaches the head`,
      next: 'if the head is ready, DNS or a network policy may be in the way',
      isFinal: false,
    };
  if (textAt(pod, 'status', 'phase') !== 'Running') return undefined;
  return {
    kind: 'not ready',
    says: `the pod '${name}' runs, and its readiness probe has not passed yet`,
    next: 'if it stays so: the probe needs wget in images of Ray before 2.53, and rayVersion must be that of the image',
    isFinal: false,
  };
}

const imageReasons = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'RegistryUnavailable',
]);

function containerCause(pod: string, status: Json): Cause | undefined {
  const container = textAt(status, 'name') ?? '';
  const waiting = dig(status, 'state', 'waiting');
  const reason = textAt(waiting, 'reason') ?? '';
  const message = textAt(waiting, 'message') ?? '';
  if (imageReasons.has(reason))
    return {
      kind: 'image',
      says: `the image '${textAt(status, 'image') ?? ''}' of the pod '${pod}' cannot be pulled: ${message || reason}`,
      next: 'check its name and tag; a private registry needs imagePullSecrets in the pod template',
      isFinal: reason === 'ImagePullBackOff' || reason === 'InvalidImageName',
    };
  if (reason === 'CreateContainerConfigError' || reason === 'CreateContainerError' || reason === 'RunContainerError')
    return {
      kind: 'container settings',
      says: `the container '${container}' of the pod '${pod}' cannot be made: ${message || reason}`,
      next: 'check the secrets, config maps, mounts and command that it names',
      isFinal: reason === 'CreateContainerConfigError',
    };
  const ended = dig(status, 'lastState', 'terminated') ?? dig(status, 'state', 'terminated');
  const code = numberAt(ended, 'exitCode') ?? 0;
  if (ended === undefined || code === 0) return undefined;
  const isFinal = reason === 'CrashLoopBackOff';
  if (textAt(ended, 'reason') === 'OOMKilled')
    return {
      kind: 'out of memory',
      says: `the container '${container}' of the pod '${pod}' used more memory than its limit`,
      next: 'raise resources.limits.memory',
      isFinal,
    };
  return {
    kind: 'crash',
    says: `the container '${container}' of the pod '${pod}' ended with exit code ${code}${message === '' ? '' : ` (${reason})`}`,
    next: 'its last lines say why',
    isFinal,
    logs: { pod, container },
  };
}
