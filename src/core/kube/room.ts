import { isReady } from './causes.ts';
import { dig, entriesAt, isMap, type Json, listAt, nameOf, numberAt, textAt } from './object.ts';
import { bytesText, readQuantity } from './quantity.ts';

type Amounts = ReadonlyMap<string, number>;

interface Wanted {
  readonly named: string;
  readonly amounts: Amounts;
  readonly spec: Json | undefined;
}

interface Free {
  readonly node: Json;
  readonly amounts: Map<string, number>;
}

/** Whether the pods of a RayClusterSpec fit onto nodes beside the pods that are there; the words say what does not. */
export interface NodeRoom {
  readonly fits: boolean;
  readonly says: string;
}

/** First fit, largest pods first: the scheduler may find room where this finds none, but hardly the other way round. */
export function roomFor(spec: Json, nodes: readonly Json[], pods: readonly Json[]): NodeRoom {
  const free = nodes
    .filter((node) => isReady(node) && dig(node, 'spec', 'unschedulable') !== true)
    .map((node): Free => ({ node, amounts: freeOn(node, pods) }));
  const wanted = [...podsOf(spec)].sort((a, b) => size(b) - size(a));
  for (const pod of wanted) {
    const place = free.find((each) => isAllowed(pod.spec, each.node) && fits(pod.amounts, each.amounts));
    if (place === undefined) return { fits: false, says: whyNot(pod, nodes, free) };
    for (const [resource, amount] of pod.amounts)
      place.amounts.set(resource, (place.amounts.get(resource) ?? 0) - amount);
  }
  return { fits: true, says: `there is room for its ${wanted.length} ${wanted.length === 1 ? 'pod' : 'pods'}` };
}

const size = ({ amounts }: Wanted): number => (amounts.get('memory') ?? 0) + (amounts.get('cpu') ?? 0) * 2 ** 30;

function podsOf(spec: Json): readonly Wanted[] {
  const one = (group: Json | undefined, named: string): Wanted => ({
    named,
    amounts: requestsOf(dig(group, 'template', 'spec')),
    spec: dig(group, 'template', 'spec'),
  });
  const workers = listAt(spec, 'workerGroupSpecs').flatMap((group) => {
    const count =
      Math.max(numberAt(group, 'replicas') ?? 0, numberAt(group, 'minReplicas') ?? 0) *
      (numberAt(group, 'numOfHosts') ?? 1);
    const named = `a worker of '${textAt(group, 'groupName') ?? ''}'`;
    // More than a plan needs to know.
    return Array.from({ length: Math.min(count, 1_000) }, () => one(group, named));
  });
  return [one(dig(spec, 'headGroupSpec'), 'the head'), ...workers];
}

/** What a pod asks for: requests, or limits where only those are set. */
function requestsOf(pod: Json | undefined): Amounts {
  const sum = new Map<string, number>([['pods', 1]]);
  for (const container of listAt(pod, 'containers')) {
    const limits = dig(container, 'resources', 'limits');
    const requests = dig(container, 'resources', 'requests');
    const both = { ...(isMap(limits) ? limits : {}), ...(isMap(requests) ? requests : {}) };
    for (const [resource, value] of Object.entries(both))
      sum.set(resource, (sum.get(resource) ?? 0) + (readQuantity(value) ?? 0));
  }
  return sum;
}

function freeOn(node: Json, pods: readonly Json[]): Map<string, number> {
  const free = new Map(
    entriesAt(node, 'status', 'allocatable').map(([resource, value]) => [resource, readQuantity(value) ?? 0]),
  );
  for (const pod of pods) {
    const isThere = textAt(pod, 'spec', 'nodeName') === nameOf(node);
    if (!isThere || ['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase') ?? '')) continue;
    for (const [resource, amount] of requestsOf(dig(pod, 'spec')))
      free.set(resource, (free.get(resource) ?? 0) - amount);
  }
  return free;
}

const fits = (wanted: Amounts, free: Amounts): boolean =>
  [...wanted].every(([resource, amount]) => amount === 0 || (free.get(resource) ?? 0) >= amount);

/** Taints and node selectors; affinities are the scheduler's. */
const isAllowed = (pod: Json | undefined, node: Json): boolean =>
  untolerated(pod, node) === undefined &&
  entriesAt(pod, 'nodeSelector').every(([label, value]) => dig(node, 'metadata', 'labels', label) === value);

function untolerated(pod: Json | undefined, node: Json): string | undefined {
  const taint = listAt(node, 'spec', 'taints').find(
    (each) =>
      textAt(each, 'effect') !== 'PreferNoSchedule' &&
      // Taken off a little later than the node is ready.
      textAt(each, 'key') !== 'node.kubernetes.io/not-ready' &&
      !listAt(pod, 'tolerations').some((one) => tolerates(one, each)),
  );
  return taint === undefined
    ? undefined
    : `${textAt(taint, 'key') ?? ''}=${textAt(taint, 'value') ?? ''}:${textAt(taint, 'effect') ?? ''}`;
}

function tolerates(toleration: Json, taint: Json): boolean {
  const [key, effect] = [textAt(toleration, 'key'), textAt(toleration, 'effect')];
  if (effect !== undefined && effect !== '' && effect !== textAt(taint, 'effect')) return false;
  if (key === undefined || key === '') return textAt(toleration, 'operator') === 'Exists';
  if (key !== textAt(taint, 'key')) return false;
  return (
    textAt(toleration, 'operator') === 'Exists' ||
    (textAt(toleration, 'value') ?? '') === (textAt(taint, 'value') ?? '')
  );
}

const shown = (resource: string, amount: number): string =>
  /memory|storage/.test(resource) ? `${bytesText(amount)} of ${resource}` : `${Number(amount.toFixed(2))} ${resource}`;

function whyNot(pod: Wanted, nodes: readonly Json[], free: readonly Free[]): string {
  if (nodes.length === 0) return 'the cluster has no nodes';
  const allowed = free.filter(({ node }) => isAllowed(pod.spec, node));
  if (allowed.length === 0) {
    const taints = [...new Set(free.flatMap(({ node }) => untolerated(pod.spec, node) ?? []))];
    return taints.length > 0
      ? `${pod.named} does not tolerate the taints of any node (${taints.join(', ')})`
      : `no ready node has the labels that ${pod.named} wants`;
  }
  const lacking = [...pod.amounts].filter(
    ([resource, amount]) => amount > 0 && !allowed.some(({ amounts }) => (amounts.get(resource) ?? 0) >= amount),
  );
  const most = (resource: string): number => Math.max(...allowed.map(({ amounts }) => amounts.get(resource) ?? 0), 0);
  if (lacking.length === 0) return `no node has free all that ${pod.named} asks for`;
  return lacking
    .map(
      ([resource, amount]) =>
        `${pod.named} asks for ${shown(resource, amount)}, and the most that a node has free is ${shown(resource, most(resource))}`,
    )
    .join('; ');
}
