import { entriesAt, type Json, listAt, nameOf, textAt } from './object.ts';
import { readQuantity } from './quantity.ts';

/** Why the scheduler finds no node for a pod, from the one sentence that it leaves in the pod's status. */
export interface Unschedulable {
  readonly kind: 'unschedulable' | 'taint' | 'no device plugin' | 'volume';
  readonly says: string;
  readonly next: string;
}

/** `nodes` is undefined where they may not be seen. */
export function unschedulableCause(pod: Json, message: string, nodes: readonly Json[] | undefined): Unschedulable {
  const named = `no node has room for the pod '${nameOf(pod)}'`;
  const volume =
    /unbound immediate PersistentVolumeClaims|persistentvolumeclaim "[^"]+" (?:not found|is being deleted)/;
  if (volume.test(message))
    return {
      kind: 'volume',
      says: `the pod '${nameOf(pod)}' waits for its volume: ${sentenceOf(message)} (claims: ${claimsOf(pod).join(', ')})`,
      next: "look at the claim with 'kubectl describe pvc'; it needs a storage class that can create it, see 'manta kube check'",
    };
  const [, all = ''] = /^0\/(\d+) nodes? /.exec(message) ?? [];
  const reasons = reasonsIn(message);
  const lacking = reasons.flatMap((reason) => /^(\d+) Insufficient (\S+)$/.exec(reason)?.[2] ?? []);
  const missing = lacking.find((resource) => resource.includes('/') && isOfferedNowhere(resource, nodes));
  const says = `${named}: ${reasons.map((reason) => inWords(reason, all, pod)).join('; ')}`;
  if (missing !== undefined)
    return {
      kind: 'no device plugin',
      says: `no node offers ${missing}, which the pod '${nameOf(pod)}' asks for`,
      next: "add nodes that have it; if there are some, install the vendor's device plugin (for NVIDIA: the GPU operator)",
    };
  const taints = reasons.some((reason) => /untolerated taint/.test(reason));
  if (taints && lacking.length === 0)
    return { kind: 'taint', says, next: 'add a toleration for the taint to the pod template, or add nodes without it' };
  return {
    kind: 'unschedulable',
    says,
    next: `ask for less ${lacking.length === 0 ? '' : `(${lacking.join(', ')}) `}in the pod template, or add nodes`,
  };
}

/** The first sentence: those behind it are about claims and preemption, on the same nodes again. */
const sentenceOf = (message: string): string =>
  message
    .replace(/^0\/\d+ nodes? (?:is|are) available: ?/, '')
    .split('. ')[0]!
    .replace(/\.\s*$/, '');

const reasonsIn = (message: string): readonly string[] =>
  sentenceOf(message)
    .split(/, (?=\d+ )/)
    .map((each) => each.trim())
    .filter((each) => each !== '');

function inWords(reason: string, all: string, pod: Json): string {
  const [, count = '', lacking] = /^(\d+) Insufficient (\S+)$/.exec(reason) ?? [];
  if (lacking !== undefined)
    return `${count} of ${all} have too little ${lacking} (it asks for ${requestOf(pod, lacking)})`;
  const [, tainted = '', taint = ''] =
    /^(\d+) node\(s\) had untolerated taint(?:\(s\))? ?(\{[^}]*\})?/.exec(reason) ?? [];
  if (tainted !== '')
    return `${tainted} of ${all} have a taint that it does not tolerate${taint === '' ? '' : ` ${taint}`}`;
  const [, apart = ''] = /^(\d+) node\(s\) didn't match Pod's node affinity\/selector/.exec(reason) ?? [];
  if (apart !== '') return `${apart} of ${all} do not have the labels that its nodeSelector or affinity wants`;
  return reason;
}

/** What all containers of a pod ask for together, as it is written where there is one. */
function requestOf(pod: Json, resource: string): string {
  const written = listAt(pod, 'spec', 'containers').flatMap((container) => {
    const entry = entriesAt(container, 'resources', 'requests').find(([name]) => name === resource);
    return entry === undefined ? [] : [String(entry[1])];
  });
  if (written.length <= 1) return written[0] ?? 'some';
  return String(written.reduce((sum, each) => sum + (readQuantity(each) ?? 0), 0));
}

const isOfferedNowhere = (resource: string, nodes: readonly Json[] | undefined): boolean =>
  nodes !== undefined &&
  !nodes.some((node) => (readQuantity(textAt(node, 'status', 'allocatable', resource) ?? '0') ?? 0) > 0);

const claimsOf = (pod: Json): readonly string[] =>
  listAt(pod, 'spec', 'volumes').flatMap((volume) => textAt(volume, 'persistentVolumeClaim', 'claimName') ?? []);
