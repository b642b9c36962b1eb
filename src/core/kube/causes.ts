import type { Cause } from '../progress.ts';
import { conditionOf, dig, type Json, listAt, nameOf, numberAt, textAt } from './object.ts';
import { changedAt, seenAt } from './owners.ts';
import { unschedulableCause } from './unschedulable.ts';

/** What stands around an object of KubeRay at one instant. What may not be seen is left out. */
export interface Surroundings {
  readonly pods: readonly Json[];
  /** Warnings about the object, its clusters and its pods. */
  readonly events: readonly Json[];
  /** Asked for where a pod has no node, or may have lost its own. */
  readonly nodes?: readonly Json[];
  /** Deployments of KubeRay's operator; asked for where it has not looked at the object. */
  readonly operators?: readonly Json[];
}

export const isReady = (object: Json): boolean => textAt(conditionOf(object, 'Ready'), 'status') === 'True';
export const isHead = (pod: Json): boolean => textAt(pod, 'metadata', 'labels', 'ray.io/node-type') === 'head';
export const isLeaving = (object: Json): boolean => textAt(object, 'metadata', 'deletionTimestamp') !== undefined;

/** Warnings about an object of this name. */
export const warningsOf = (name: string, events: readonly Json[]): readonly Json[] =>
  events.filter((event) => textAt(event, 'type') === 'Warning' && textAt(event, 'involvedObject', 'name') === name);

/** Warnings about an object since it was last changed, in the order of their time. */
export function freshWarnings(object: Json, events: readonly Json[]): readonly Json[] {
  const since = changedAt(object);
  return warningsOf(nameOf(object), events)
    .filter((event) => seenAt(event) >= since)
    .sort((a, b) => (seenAt(a) < seenAt(b) ? -1 : 1));
}

/** Nobody has looked at an object: KubeRay's operator is down, or does not watch its namespace. */
export function unnoticed(operators: readonly Json[] | undefined): Cause {
  const [operator] = operators ?? [];
  const down = operator !== undefined && (numberAt(operator, 'status', 'availableReplicas') ?? 0) < 1;
  const where = `${textAt(operator, 'metadata', 'namespace') ?? ''}/${nameOf(operator)}`;
  return {
    kind: 'not noticed',
    says: down
      ? `KubeRay's operator (${where}) is not running`
      : "KubeRay's operator has not looked at it yet: it is down, busy, or does not watch this namespace",
    next: "'manta kube check' says which of these it is",
    isFinal: false,
  };
}

/** The operator's last refusal: of the spec, or to make a pod that the API server does not let it make. */
export function refusalCause(event: Json): Cause {
  const reason = textAt(event, 'reason') ?? 'warning';
  const message = textAt(event, 'message') ?? '';
  const [quota, used = ''] = wordsAfter(message, 'exceeded quota: ', ', ');
  if (quota !== undefined)
    return {
      kind: 'quota',
      says: `the quota '${quota}' of the namespace is used up: ${used.trim()}`,
      next: 'ask for less, delete what is no longer needed, or ask for a larger quota',
      isFinal: false,
    };
  const [limits, unset = ''] = wordsAfter(message, 'failed quota: ', ': must specify ');
  if (limits !== undefined)
    return {
      kind: 'quota',
      says: `the quota '${limits}' requires every container to declare its resources: ${unset.trim()}`,
      next: 'set resources.requests and resources.limits of every container',
      isFinal: true,
    };
  const [level, why = ''] = wordsAfter(message, 'violates PodSecurity "', '": ');
  if (level !== undefined)
    return {
      kind: 'pod security',
      says: `the namespace enforces the Pod Security level '${level}': ${why.trim()}`,
      next: 'set what it names in securityContext of the pod template, or use another namespace',
      isFinal: true,
    };
  return {
    kind: 'refused by the operator',
    says: `${reason}: ${message}`,
    next: 'change the manifest and apply it again',
    isFinal: reason.startsWith('Invalid'),
  };
}

/** What stands behind a word up to a sign, and what stands behind that: API servers write no data, only sentences. */
function wordsAfter(text: string, word: string, sign: string): readonly [string, string] | readonly [] {
  const from = text.indexOf(word);
  const end = from < 0 ? -1 : text.indexOf(sign, from + word.length);
  return end < 0 ? [] : [text.slice(from + word.length, end), text.slice(end + sign.length)];
}

/** The first trouble among pods: the head's before that of workers. */
export function podsCause({ pods, events, nodes }: Surroundings): Cause | undefined {
  const ordered = [...pods].sort((a, b) => Number(isHead(b)) - Number(isHead(a)));
  return ordered
    .map((pod) => podCause(pod, warningsOf(nameOf(pod), events), nodes))
    .find((cause) => cause !== undefined);
}

function podCause(pod: Json, events: readonly Json[], nodes: readonly Json[] | undefined): Cause | undefined {
  if (isReady(pod) || textAt(pod, 'status', 'phase') === 'Succeeded') return undefined;
  return (
    schedulingCause(pod, nodes) ??
    lostNode(pod, nodes) ??
    containersCause(pod, events) ??
    mountCause(pod, events) ??
    waitsForHead(pod) ??
    probeCause(pod, events)
  );
}

function schedulingCause(pod: Json, nodes: readonly Json[] | undefined): Cause | undefined {
  const scheduled = conditionOf(pod, 'PodScheduled');
  const reason = textAt(scheduled, 'reason');
  if (reason === 'SchedulingGated') {
    const gates = listAt(pod, 'spec', 'schedulingGates').map((gate) => textAt(gate, 'name') ?? '');
    return {
      kind: 'gated',
      says: `the pod '${nameOf(pod)}' is held back by ${gates.join(', ') || 'a scheduling gate'}`,
      next: 'Kueue or another admission controller releases it when there is room in its queue',
      isFinal: false,
    };
  }
  if (reason !== 'Unschedulable') return undefined;
  return { ...unschedulableCause(pod, textAt(scheduled, 'message') ?? '', nodes), isFinal: false };
}

function lostNode(pod: Json, nodes: readonly Json[] | undefined): Cause | undefined {
  const name = textAt(pod, 'spec', 'nodeName');
  const node = name === undefined ? undefined : nodes?.find((each) => nameOf(each) === name);
  if (name === undefined || nodes === undefined || (node !== undefined && isReady(node))) return undefined;
  const why = node === undefined ? 'it is gone' : (textAt(conditionOf(node, 'Ready'), 'message') ?? 'it is not ready');
  return {
    kind: 'node lost',
    says: `the node '${name}' of the pod '${nameOf(pod)}' is lost: ${why}`,
    next: `look at it with 'kubectl describe node ${name}'; its pods move when Kubernetes gives it up (5 minutes)`,
    isFinal: false,
  };
}

function containersCause(pod: Json, events: readonly Json[]): Cause | undefined {
  const statuses = [...listAt(pod, 'status', 'initContainerStatuses'), ...listAt(pod, 'status', 'containerStatuses')];
  return statuses.map((status) => containerCause(pod, status, events)).find((cause) => cause !== undefined);
}

const imageReasons = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'RegistryUnavailable',
]);

function containerCause(pod: Json, status: Json, events: readonly Json[]): Cause | undefined {
  const waiting = dig(status, 'state', 'waiting');
  const reason = textAt(waiting, 'reason') ?? '';
  const said = textAt(waiting, 'message') ?? '';
  if (imageReasons.has(reason)) return imageCause(pod, status, reason, said, events);
  const container = textAt(status, 'name') ?? '';
  if (reason === 'CreateContainerConfigError' || reason === 'CreateContainerError' || reason === 'RunContainerError')
    return {
      kind: 'container settings',
      says: `the container '${container}' of the pod '${nameOf(pod)}' cannot be created: ${said || reason}`,
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
      says: `the container '${container}' of the pod '${nameOf(pod)}' used more memory than its limit`,
      next: 'raise resources.limits.memory of the container',
      isFinal,
    };
  return {
    kind: 'crash',
    says: `the container '${container}' of the pod '${nameOf(pod)}' ended with exit code ${code}`,
    next: 'its last lines say why',
    isFinal,
    logs: { pod: nameOf(pod), container },
  };
}

const denied =
  /\b401\b|unauthorized|authorization failed|access denied|no basic auth credentials|authentication required/i;

function imageCause(pod: Json, status: Json, reason: string, said: string, events: readonly Json[]): Cause {
  // A pull that is backed off says no more than that: the events before it have the registry's answer.
  const pulls = events
    .filter((event) => textAt(event, 'reason') === 'Failed')
    .map((event) => textAt(event, 'message') ?? '');
  const texts = [said, ...pulls.filter((each) => /pull/i.test(each))];
  const why = texts.find((each) => denied.test(each)) ?? texts.find((each) => !each.startsWith('Back-off')) ?? said;
  const says = `the image '${textAt(status, 'image') ?? ''}' of the pod '${nameOf(pod)}' cannot be pulled: ${why || reason}`;
  const isFinal = reason === 'ImagePullBackOff' || reason === 'InvalidImageName';
  const secrets = listAt(pod, 'spec', 'imagePullSecrets').map((secret) => textAt(secret, 'name') ?? '');
  const named = secrets.map((name) => `'${name}'`).join(', ');
  if (!texts.some((each) => denied.test(each)))
    return { kind: 'image', says, next: 'check its name and tag, and that nodes can reach the registry', isFinal };
  const next =
    secrets.length === 0
      ? "the registry requires a login: 'kubectl create secret docker-registry NAME …', and name it in imagePullSecrets of the pod template"
      : `the registry rejects the login in the pull secret ${named}: check that it exists and is for this registry`;
  return { kind: 'image', says, next, isFinal };
}

function mountCause(pod: Json, events: readonly Json[]): Cause | undefined {
  if (textAt(pod, 'status', 'phase') !== 'Pending') return undefined;
  const failed = events.findLast((event) =>
    ['FailedMount', 'FailedAttachVolume', 'FailedCreatePodSandBox'].includes(textAt(event, 'reason') ?? ''),
  );
  if (failed === undefined) return undefined;
  return {
    kind: 'container settings',
    says: `the pod '${nameOf(pod)}' cannot start: ${textAt(failed, 'message') ?? textAt(failed, 'reason') ?? ''}`,
    next: 'check the volumes, secrets and config maps that the pod template names',
    isFinal: false,
  };
}

function waitsForHead(pod: Json): Cause | undefined {
  const waits = listAt(pod, 'status', 'initContainerStatuses').some(
    (status) => textAt(status, 'name') === 'wait-gcs-ready' && dig(status, 'state', 'running') !== undefined,
  );
  if (!waits) return undefined;
  return {
    kind: 'waits for the head',
    says: `the pod '${nameOf(pod)}' is waiting to reach the GCS of the head`,
    next: 'if the head is ready, DNS inside pods or a network policy may block it',
    isFinal: false,
  };
}

function probeCause(pod: Json, events: readonly Json[]): Cause | undefined {
  if (textAt(pod, 'status', 'phase') !== 'Running') return undefined;
  const failed = events.findLast((event) => textAt(event, 'reason') === 'Unhealthy');
  const said = textAt(failed, 'message') ?? '';
  const named = `the pod '${nameOf(pod)}' runs, and its probe`;
  if (said.includes('wget') && /not found|no such file/i.test(said))
    return {
      kind: 'probe',
      says: `${named} fails because its image has no wget`,
      next: 'set rayVersion to 2.53 or newer if the image has that Ray (its probe needs no wget), or add wget to the image',
      isFinal: false,
    };
  if (/HTTP probe failed with statuscode: 404/.test(said))
    return {
      kind: 'probe',
      says: `${named} asks for an address that its Ray does not have (${said})`,
      next: 'set rayVersion to the version of Ray in the image',
      isFinal: false,
    };
  return {
    kind: 'not ready',
    says: `${named} has not passed yet${said === '' ? '' : `: ${said.trim().split('\n')[0]}`}`,
    next: 'if this does not change, check that rayVersion is the version of Ray in the image, and look at its log',
    isFinal: false,
  };
}
