import type { KubeClient } from '../base/kube/client.ts';
import { kubeErrors } from '../base/kube/errors.ts';
import { listAll } from '../base/kube/list.ts';
import { isHead, isReady, type Surroundings } from '../core/kube/causes.ts';
import { conditionOf, type Json, nameOf, numberAt, textAt } from '../core/kube/object.ts';

/** Where to look: a namespace of an API server. */
export interface Place {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

export const insidePath = (namespace: string): string => `namespaces/${encodeURIComponent(namespace)}`;

/** The path of an object of KubeRay. */
export const rayPath = (namespace: string, plural: string, name: string): string =>
  `/apis/ray.io/v1/${insidePath(namespace)}/${plural}/${encodeURIComponent(name)}`;

export async function listObjects(
  { client, namespace, signal }: Place,
  group: string,
  plural: string,
  query: Readonly<Record<string, string>>,
): Promise<readonly Json[]> {
  const path = `${group}/${insidePath(namespace)}/${plural}`;
  const call = `list ${plural} in the namespace '${namespace}'`;
  return (await listAll(client, { path, query, call, signal })).items as readonly Json[];
}

export async function readRay(place: Place, kind: string, plural: string, name: string): Promise<Json> {
  const { client, namespace, signal } = place;
  return (await client.json({
    path: rayPath(namespace, plural, name),
    call: `read the ${kind} '${name}'`,
    signal,
  })) as Json;
}

/** What the user may not see is undefined. */
export async function ifAllowed<Value>(look: Promise<Value>): Promise<Value | undefined> {
  try {
    return await look;
  } catch (error) {
    if (kubeErrors.Forbidden.is(error) || kubeErrors.NotFound.is(error)) return undefined;
    throw error;
  }
}

/** Pods whose events are asked for: the first that are not ready say enough. */
const asked = 4;

/** Pods, and the warnings about them and about what they belong to; nodes and operators only where they explain something. */
export async function lookAround(
  place: Place,
  selector: string,
  objects: readonly { readonly kind: string; readonly object: Json }[],
): Promise<Surroundings> {
  const pods = await listObjects(place, '/api/v1', 'pods', { labelSelector: selector });
  const troubled = [...pods]
    .filter((pod) => !isReady(pod))
    .sort((a, b) => Number(isHead(b)) - Number(isHead(a)))
    .slice(0, asked);
  const about = [
    ...objects.map(({ kind, object }) => ({ kind, name: nameOf(object) })),
    ...troubled.map((pod) => ({ kind: 'Pod', name: nameOf(pod) })),
  ];
  const [events, nodes, operators] = await Promise.all([
    Promise.all(about.map(({ kind, name }) => warningsAbout(place, kind, name))),
    troubled.some(needsNodes) ? ifAllowed(listCluster(place, '/api/v1/nodes', 'nodes')) : undefined,
    objects.every(({ object }) => isUnseen(object)) ? ifAllowed(listOperators(place)) : undefined,
  ]);
  return { pods, events: events.flat(), ...(nodes && { nodes }), ...(operators && { operators }) };
}

const needsNodes = (pod: Json): boolean =>
  textAt(conditionOf(pod, 'PodScheduled'), 'reason') === 'Unschedulable' ||
  textAt(pod, 'status', 'phase') === 'Running';

const isUnseen = (object: Json): boolean => numberAt(object, 'status', 'observedGeneration') === undefined;

const warningsAbout = async (place: Place, kind: string, name: string): Promise<readonly Json[]> =>
  (await ifAllowed(
    listObjects(place, '/api/v1', 'events', {
      fieldSelector: `type=Warning,involvedObject.kind=${kind},involvedObject.name=${name}`,
    }),
  )) ?? [];

export async function listCluster(
  { client, signal }: Pick<Place, 'client' | 'signal'>,
  path: string,
  what: string,
  query: Readonly<Record<string, string>> = {},
): Promise<readonly Json[]> {
  return (await listAll(client, { path, query, call: `list ${what}`, signal })).items as readonly Json[];
}

const listOperators = (place: Place): Promise<readonly Json[]> =>
  listCluster(place, '/apis/apps/v1/deployments', 'deployments', {
    labelSelector: 'app.kubernetes.io/name=kuberay-operator',
  });
