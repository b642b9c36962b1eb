import type { KubeClient } from '../base/kube/client.ts';
import { kubeErrors } from '../base/kube/errors.ts';
import { listAll } from '../base/kube/list.ts';
import { readObject } from '../base/kube/objects.ts';
import type { PodName } from '../base/kube/pod.ts';
import { isHead, isLeaving } from '../core/kube/causes.ts';
import { type KubeClusterName, type RayKind, rayKinds, readKubeName } from '../core/kube/cluster-name.ts';
import { type Json, listAt, nameOf, numberAt, textAt } from '../core/kube/object.ts';
import { mantadPort } from '../core/kube/scaling-spec.ts';
import { clustersOf as clustersOfService } from '../core/kube/service-progress.ts';
import { kubeTargetErrors } from './errors.ts';
import { insidePath, rayPath } from './surroundings.ts';

/** What `kube:NAME` means: an object of KubeRay. Nothing of it is kept but its name; it is read again where it matters. */
export interface KubeTarget {
  readonly client: KubeClient;
  readonly kind: RayKind;
  readonly namespace: string;
  readonly name: string;
  /** As it was found. */
  readonly object: Json;
  /** Of a RayService, the cluster that is coming up in place of the active one. */
  readonly isPending: boolean;
}

export interface KubeWords {
  /** `kube:[NAMESPACE/][KIND/]NAME` */
  readonly word: string;
  /** `--pending` */
  readonly pending?: boolean | undefined;
}

/** The path of a kind of KubeRay's, or of one object of it. */
const kindPath = (namespace: string, kind: RayKind, name?: string): string =>
  name === undefined
    ? `/apis/ray.io/v1/${insidePath(namespace)}/${pluralOf(kind)}`
    : rayPath(namespace, pluralOf(kind), name);

const pluralOf = (kind: RayKind): string => `${kind.toLowerCase()}s`;

/** Finds the object that a user names. Where several kinds have the name, it is an error that lists them. */
export async function findKubeTarget(
  client: KubeClient,
  { word, pending = false }: KubeWords,
  signal: AbortSignal,
): Promise<KubeTarget> {
  const said = readKubeName(word);
  if (said === undefined) throw kubeTargetErrors.BadName({ word });
  const namespace = said.namespace ?? client.access.namespace;
  const kinds = said.kind === undefined ? Object.values(rayKinds) : [said.kind];
  const objects = await Promise.all(kinds.map((kind) => readIfThere(client, { ...said, kind, namespace }, signal)));
  const found = objects.flatMap((object, at) => (object === undefined ? [] : [{ kind: kinds[at]!, object }]));
  const [first, ...more] = found;
  if (first === undefined) throw await noneNamed(client, said, namespace, signal);
  if (more.length > 0)
    throw kubeTargetErrors.Several({
      name: said.name,
      words: found.map(
        ({ kind }) => `kube:${said.namespace === undefined ? '' : `${namespace}/`}${kind.toLowerCase()}/${said.name}`,
      ),
    });
  return { client, namespace, name: said.name, ...first, isPending: pending };
}

/** A kind that the API server does not have is not there either. */
async function readIfThere(
  client: KubeClient,
  { kind, namespace, name }: Pick<KubeTarget, 'kind' | 'namespace' | 'name'>,
  signal: AbortSignal,
): Promise<Json | undefined> {
  const call = `read the ${kind} '${name}' in the namespace '${namespace}'`;
  return (await readObject(client, { path: kindPath(namespace, kind, name), call, signal })) as Json | undefined;
}

async function noneNamed(
  client: KubeClient,
  { name }: KubeClusterName,
  namespace: string,
  signal: AbortSignal,
): Promise<Error> {
  const there = await listRayObjects(client, namespace, signal).catch(() => []);
  const names = there.map(({ object }) => nameOf(object)).slice(0, 20);
  return kubeTargetErrors.NoneNamed({ name, namespace, context: client.access.context, there: [...new Set(names)] });
}

export interface RayObject {
  readonly kind: RayKind;
  readonly object: Json;
}

/** All RayClusters, RayServices and RayJobs of a namespace, or of all; kinds that the server does not have are left out. */
export async function listRayObjects(
  client: KubeClient,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<RayObject[]> {
  const lists = await Promise.all(
    Object.values(rayKinds).map(async (kind) => {
      const path = namespace === undefined ? `/apis/ray.io/v1/${pluralOf(kind)}` : kindPath(namespace, kind);
      const where = namespace === undefined ? 'in all namespaces' : `in the namespace '${namespace}'`;
      try {
        const { items } = await listAll(client, { path, call: `list ${pluralOf(kind)} ${where}`, signal });
        return (items as readonly Json[]).map((object) => ({ kind, object }));
      } catch (error) {
        if (kubeErrors.NotFound.is(error)) return [];
        throw error;
      }
    }),
  );
  return lists.flat();
}

/** The names of the RayClusters behind an object, as its status has them. */
export function clustersOf({ kind, object }: RayObject): { active: string | undefined; pending: string | undefined } {
  if (kind === 'RayCluster') return { active: nameOf(object), pending: undefined };
  // An empty text is the operator's way to say that there is none.
  if (kind === 'RayJob') return { active: textAt(object, 'status', 'rayClusterName') || undefined, pending: undefined };
  return { active: undefined, pending: undefined, ...clustersOfService(object) };
}

/** The RayCluster that is meant now: a RayService changes it with every upgrade. */
export async function clusterNow(target: KubeTarget, signal: AbortSignal): Promise<string> {
  if (target.kind === 'RayCluster') return target.name;
  const object = (await readIfThere(target.client, target, signal)) ?? target.object;
  return clusterOf({ ...target, object });
}

/** As `clusterNow`, by what was found at first. */
function clusterOf(target: KubeTarget): string {
  const { kind, namespace, name, isPending } = target;
  const { active, pending } = clustersOf(target);
  if (isPending && pending === undefined) throw kubeTargetErrors.NoPending({ kind, namespace, name });
  const found = isPending ? pending : active;
  if (found === undefined) throw kubeTargetErrors.NoActive({ kind, namespace, name, pending });
  return found;
}

/** The pods of a RayCluster, the head first; those that are ending are left out. */
export async function podsOf(
  { client, namespace }: Pick<KubeTarget, 'client' | 'namespace'>,
  cluster: string,
  signal: AbortSignal,
): Promise<readonly Json[]> {
  const { items } = await listAll(client, {
    path: `/api/v1/${insidePath(namespace)}/pods`,
    query: { labelSelector: `ray.io/cluster=${cluster}` },
    call: `list pods in the namespace '${namespace}'`,
    signal,
  });
  return (items as readonly Json[])
    .filter((pod) => !isLeaving(pod))
    .toSorted((a, b) => Number(isHead(b)) - Number(isHead(a)) || (nameOf(a) < nameOf(b) ? -1 : 1));
}

/** The first container is Ray's: KubeRay adds others behind it. */
export const rayContainer = (pod: Json): string | undefined => textAt(pod, 'spec', 'containers', 0, 'name');

/** The head pod of the cluster that is meant now. It has to run, not to be ready. */
export async function headPod(target: KubeTarget, signal: AbortSignal): Promise<PodName> {
  return await podNamed(target, 'head', signal);
}

/** A pod of the cluster: `head`, its name or its address. */
export async function podNamed(target: KubeTarget, word: string, signal: AbortSignal): Promise<PodName> {
  const { namespace } = target;
  const cluster = await clusterNow(target, signal);
  const pods = await podsOf(target, cluster, signal);
  const heads = pods.filter(isHead);
  const found =
    word === 'head'
      ? (heads.find(isRunning) ?? heads[0])
      : pods.find((pod) => nameOf(pod) === word || textAt(pod, 'status', 'podIP') === word);
  if (found === undefined && word !== 'head') throw kubeTargetErrors.NoPod({ cluster, word, pods: pods.map(nameOf) });
  if (found === undefined || !isRunning(found))
    throw kubeTargetErrors.NoHead({ cluster, namespace, phase: textAt(found, 'status', 'phase') });
  return { namespace, pod: nameOf(found), container: rayContainer(found) };
}

const isRunning = (pod: Json): boolean => textAt(pod, 'status', 'phase') === 'Running';

/** Ports of the head container by their names, where its spec has them; else KubeRay's own. */
export async function headPort(
  target: KubeTarget,
  port: { readonly name: string; readonly usual: number },
  signal: AbortSignal,
): Promise<number> {
  const cluster = await clusterNow(target, signal);
  const head = (await podsOf(target, cluster, signal)).find(isHead);
  const found = listAt(head, 'spec', 'containers', 0, 'ports').find((each) => textAt(each, 'name') === port.name);
  return numberAt(found, 'containerPort') ?? port.usual;
}

/** Ray's token, where the cluster asks for one (`authOptions.mode: token`). */
export async function rayToken(target: KubeTarget, signal: AbortSignal): Promise<string | undefined> {
  const { client, namespace } = target;
  const name = await clusterNow(target, signal);
  const cluster = await readIfThere(client, { kind: 'RayCluster', namespace, name }, signal);
  if (textAt(cluster, 'spec', 'authOptions', 'mode') !== 'token') return undefined;
  // KubeRay names the Secret after the cluster, of whose name it keeps the end.
  const secret = textAt(cluster, 'spec', 'authOptions', 'secretName') ?? name.slice(-50);
  return await readSecret(client, { namespace, name: secret, key: 'auth_token' }, signal);
}

async function readSecret(
  client: KubeClient,
  { namespace, name, key }: { readonly namespace: string; readonly name: string; readonly key: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const path = `/api/v1/${insidePath(namespace)}/secrets/${encodeURIComponent(name)}`;
  const secret = (await readObject(client, { path, call: `read the Secret '${name}'`, signal })) as Json | undefined;
  const encoded = textAt(secret, 'data', key);
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString().trim();
}

/** Where Manta's own daemon serves in the head pod. */
export interface PodMantad {
  readonly port: number;
  readonly token: string | undefined;
}

/** The annotation of an object whose head pod runs mantad: the Secret that has its owner's token. */
export const mantadAnnotation = 'manta/owner-token';

/** Manta's daemon in the head pod, or undefined where Ray runs alone there. */
export async function mantadOf(target: KubeTarget, signal: AbortSignal): Promise<PodMantad | undefined> {
  const { client, namespace } = target;
  const secret = textAt(target.object, 'metadata', 'annotations', mantadAnnotation);
  if (secret === undefined) return undefined;
  return { port: mantadPort, token: await readSecret(client, { namespace, name: secret, key: 'token' }, signal) };
}
