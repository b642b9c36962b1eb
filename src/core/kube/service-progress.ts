import type { Cause, Headway } from '../progress.ts';
import { readServeConfig } from '../serve/config.ts';
import { serveProgress } from '../serve/progress.ts';
import { freshWarnings, isHead, isLeaving, type Surroundings, unnoticed } from './causes.ts';
import { conditionOf, dig, type Json, listAt, nameOf, numberAt, textAt } from './object.ts';
import { changedAt, kueueQueueOf, seenAt } from './owners.ts';
import { clusterCause, waitsInQueue } from './progress.ts';

/** A RayService and what stands around it, at one instant. */
export interface RayServiceState extends Surroundings {
  readonly service: Json;
  /** The RayClusters that were made for it. */
  readonly clusters: readonly Json[];
  /** What Serve answers on the cluster that is to serve; undefined where it does not answer, or may not be asked. */
  readonly serve: Json | undefined;
  /** Slices of the Service that clients use; undefined where they may not be seen. */
  readonly endpoints: readonly Json[] | undefined;
  /** Serve may not be asked: what the operator says of it has to do. */
  readonly isBlind?: true;
}

/** Names of the clusters of a RayService: the one that serves, and the one that is to take over. */
export function clustersOf(service: Json): { readonly active?: string; readonly pending?: string } {
  const [active, pending] = ['activeServiceStatus', 'pendingServiceStatus'].map((key) =>
    textAt(service, 'status', key, 'rayClusterName'),
  );
  return { ...(active && { active }), ...(pending && { pending }) };
}

/** The Service through which clients reach the applications. */
export const serveServiceOf = (service: Json): string =>
  textAt(service, 'spec', 'serveService', 'metadata', 'name') ?? `${nameOf(service)}-serve-svc`;

/**
 * Whether a RayService serves what its spec says. `Ready` stays true with the old code, and `observedGeneration` and
 * `RUNNING` are written before Serve has even started on a change: so Serve itself is asked, and the addresses behind
 * the Service have to be pods of the active cluster.
 */
export function serviceProgress(state: RayServiceState): Headway {
  const { service, serve } = state;
  const { active, pending } = clustersOf(service);
  const isObserved = numberAt(service, 'status', 'observedGeneration') === numberAt(service, 'metadata', 'generation');
  if (dig(service, 'spec', 'suspend') === true || dig(service, 'spec', 'rayClusterConfig', 'suspend') === true)
    return suspended(service, state.pods.length);
  const { config } = readServeConfig(textAt(service, 'spec', 'serveConfigV2') ?? '', 'operator', {
    file: nameOf(service),
  });
  const applications = config?.applications ?? [];
  const told = serve === undefined ? undefined : serveProgress(serve, applications);
  const endpoints = numberAt(service, 'status', 'numServeEndpoints') ?? 0;
  const upgrade = textAt(conditionOf(service, 'UpgradeInProgress'), 'status');
  const runs = state.isBlind ? runsByStatus(service, applications.length) : told?.state === 'done';
  const isDone =
    isObserved && upgrade === 'False' && pending === undefined && active !== undefined && endpoints > 0 && runs;
  if (isDone && pointsTo(active, state.endpoints, state.pods))
    return { state: 'done', says: `serving with the cluster '${active}'` };
  const says = saysOf(active, pending, told?.says);
  const cause = serviceCause(state, isObserved, told);
  return { state: 'waiting', says, ...(cause !== undefined && { cause }) };
}

function saysOf(active: string | undefined, pending: string | undefined, told: string | undefined): string {
  if (pending !== undefined && active !== undefined)
    return `the new cluster '${pending}' comes up, '${active}' serves${told === undefined ? '' : `; on the new one ${told}`}`;
  const cluster = pending ?? active;
  if (cluster === undefined) return 'no cluster yet';
  return `${told ?? 'Serve has not answered yet'} on the cluster '${cluster}'`;
}

function suspended(service: Json, pods: number): Headway {
  const queue = kueueQueueOf(service);
  if (queue !== undefined) return { state: 'waiting', says: 'suspended', cause: waitsInQueue(queue) };
  return pods === 0
    ? { state: 'done', says: 'suspended' }
    : { state: 'waiting', says: `suspending, ${pods} pods left` };
}

const runsByStatus = (service: Json, wanted: number): boolean => {
  const statuses = Object.values(
    (dig(service, 'status', 'activeServiceStatus', 'applicationStatuses') ?? {}) as object,
  ) as Json[];
  return statuses.length >= wanted && statuses.every((app) => textAt(app, 'status') === 'RUNNING');
};

/** Every address behind the Service is a pod of the cluster. */
function pointsTo(cluster: string, slices: readonly Json[] | undefined, pods: readonly Json[]): boolean {
  if (slices === undefined) return true;
  const ours = new Set(
    pods.filter((pod) => textAt(pod, 'metadata', 'labels', 'ray.io/cluster') === cluster).map((pod) => nameOf(pod)),
  );
  const ready = slices
    .flatMap((slice) => listAt(slice, 'endpoints'))
    .filter((endpoint) => dig(endpoint, 'conditions', 'ready') !== false);
  return ready.length > 0 && ready.every((endpoint) => ours.has(textAt(endpoint, 'targetRef', 'name') ?? ''));
}

function serviceCause(state: RayServiceState, isObserved: boolean, told: Headway | undefined): Cause | undefined {
  const { service, events } = state;
  const { active, pending } = clustersOf(service);
  const ready = conditionOf(service, 'Ready');
  const warnings = freshWarnings(service, events);
  const refusal = refusalOf(ready, warnings, isObserved, changedAt(service));
  if (refusal !== undefined) return refusal;
  if (told?.state === 'waiting' && told.cause?.isFinal) return told.cause;
  const cluster = state.clusters.find((each) => nameOf(each) === (pending ?? active));
  if (cluster === undefined)
    return numberAt(service, 'status', 'observedGeneration') === undefined && warnings.length === 0
      ? unnoticed(state.operators)
      : otherWarning(warnings);
  const found = causeOnCluster(state, cluster);
  if (found !== undefined)
    return pending !== undefined && active !== undefined ? besideActive(found, active, pending) : found;
  return (told?.state === 'waiting' ? told.cause : undefined) ?? otherWarning(warnings);
}

/** Its workers are ready only with a replica of Serve on them: that they are not yet is fine. */
function causeOnCluster(state: RayServiceState, cluster: Json): Cause | undefined {
  const pods = state.pods.filter(
    (pod) => textAt(pod, 'metadata', 'labels', 'ray.io/cluster') === nameOf(cluster) && !isLeaving(pod),
  );
  const withoutReplica = (pod: Json): boolean =>
    !isHead(pod) &&
    textAt(pod, 'status', 'phase') === 'Running' &&
    listAt(pod, 'status', 'containerStatuses').every((status) => dig(status, 'state', 'running') !== undefined);
  const troubled = pods.filter((pod) => !withoutReplica(pod));
  return clusterCause({
    ...state,
    cluster,
    isReplaced: false,
    pods: troubled.length === 0 ? pods.filter(isHead) : troubled,
  });
}

/** Both clusters live until the new one serves: what does not fit then is the second one. */
function besideActive(cause: Cause, active: string, pending: string): Cause {
  if (!['unschedulable', 'no device plugin', 'quota', 'taint'].includes(cause.kind)) return cause;
  return {
    ...cause,
    kind: 'no room for a second cluster',
    says: `there is no room for the new cluster '${pending}' beside '${active}', which serves until the new one does: ${cause.says}`,
    next: "add nodes; or go back with 'manta kube apply --rollback'; or set upgradeStrategy.type: None, delete the RayService and create it again",
  };
}

function refusalOf(
  ready: Json | undefined,
  warnings: readonly Json[],
  isObserved: boolean,
  since: string,
): Cause | undefined {
  const reason = textAt(ready, 'reason');
  const said = textAt(ready, 'message') ?? '';
  const invalid = warnings.findLast((event) => textAt(event, 'reason')?.startsWith('Invalid'));
  if (reason === 'ValidationFailed' || invalid !== undefined)
    return {
      kind: 'refused by the operator',
      says: textAt(invalid, 'message') ?? said,
      next: 'change the manifest and apply it again',
      isFinal: true,
    };
  if (reason === 'InitializingTimeout')
    return {
      kind: 'timed out',
      says: `it did not serve within its ray.io/initializing-timeout: ${said}`,
      next: 'KubeRay does not try again: delete it and create it again, with more time',
      isFinal: true,
    };
  if (isObserved) return undefined;
  // Times are whole seconds: one of the second of the change may be about the config before. KubeRay tries again, and tells again.
  const refused = warnings.findLast(
    (event) => textAt(event, 'reason') === 'FailedToUpdateServeApplications' && seenAt(event) > since,
  );
  const words = textAt(refused, 'message') ?? '';
  if (refused === undefined || !/\b(?:UpdateDeployments fail: )?400\b/.test(words)) return undefined;
  return {
    kind: 'serve config',
    says: `Serve refuses its config: ${words.slice(words.search(/\b400\b/)).slice(0, 2_000)}`,
    next: 'correct serveConfigV2 and apply it again; the previous config keeps running',
    isFinal: true,
  };
}

function otherWarning(warnings: readonly Json[]): Cause | undefined {
  const last = warnings.at(-1);
  if (last === undefined) return undefined;
  const reason = textAt(last, 'reason') ?? '';
  const isGateway = /Gateway|HTTPRoute/.test(reason);
  return {
    kind: isGateway ? 'no gateway' : 'refused by the operator',
    says: `${reason}: ${textAt(last, 'message') ?? ''}`,
    next: isGateway
      ? 'an incremental upgrade needs the Gateway API, and a controller for the gatewayClassName'
      : 'KubeRay keeps trying; if this does not change, see its log',
    isFinal: false,
  };
}
