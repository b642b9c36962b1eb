import type { KubeClient } from '../base/kube/client.ts';
import { kubeErrors } from '../base/kube/errors.ts';
import { jsonPatch, readObject } from '../base/kube/objects.ts';
import { type Change, changeOf, withLiveReplicas, withoutKueueFields } from '../core/kube/change.ts';
import { manifestErrors } from '../core/kube/errors.ts';
import type { Manifest } from '../core/kube/manifest.ts';
import { dig, type Json, type JsonMap, textAt } from '../core/kube/object.ts';
import { isOperatorsAlone } from '../core/kube/operator-fields.ts';
import { keeperOf, kueueQueueOf, orphanedFields, takeOver } from '../core/kube/owners.ts';
import type { NodeRoom } from '../core/kube/room.ts';
import { clusterSpecOf } from '../core/kube/rules/rules.ts';
import { scalerManager } from '../providers/kuberay/ray-cluster.ts';
import type { KubePaths } from './paths.ts';
import { lookForRoom } from './room.ts';
import { explainUnknownFields } from './unknown-fields.ts';

/** One object that is about to be applied, and what that does. */
export interface Planned {
  readonly manifest: Manifest;
  readonly namespace: string;
  readonly path: string;
  readonly object: JsonMap;
  readonly live: Json | undefined;
  readonly change: Change;
  /** Whether new pods have a place; undefined where none are made, or where nodes may not be seen. */
  readonly room?: NodeRoom;
}

export interface Applying {
  readonly client: KubeClient;
  readonly resources: KubePaths;
  /** Take fields over that somebody else owns. */
  readonly force: boolean;
  /** Namespaces that the same files create: what is in them cannot be tried before. */
  readonly fresh?: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/** Who applies, to the API server. */
export const manager = 'manta';

/** Looks at what is there and lets the server try, which changes nothing: it finds unknown fields and wrong types. */
export async function planApply(manifest: Manifest, applying: Applying): Promise<Planned> {
  const { client, resources, signal } = applying;
  const namespace = manifest.namespace ?? client.access.namespace;
  const path = await resources.pathOf(manifest.object, namespace, signal);
  const call = `read the ${manifest.kind} '${manifest.name}'`;
  const live = (await readObject(client, { path, call, signal })) as Json | undefined;
  const object = withoutKueueFields(withLiveReplicas(manifest.object, live), live);
  const planned = { manifest, namespace, path, object, live };
  if (live === undefined && applying.fresh?.has(namespace))
    return { ...planned, change: { effect: 'created', differences: [], notes: [] } };
  const after = await send(planned, applying, true);
  const change = changeOf(manifest.kind, live, after, orphanedFields(live, object));
  const room = await roomOf(planned, change, applying);
  return {
    ...planned,
    change: { ...change, notes: [...change.notes, ...ownerNotes(live, change)] },
    ...(room && { room }),
  };
}

async function roomOf(
  { manifest, object, live }: Pick<Planned, 'manifest' | 'object' | 'live'>,
  { effect }: Change,
  { client, signal }: Applying,
): Promise<NodeRoom | undefined> {
  const spec = clusterSpecOf(manifest.kind, object);
  const isSuspended = dig(object, 'spec', 'suspend') === true || kueueQueueOf(live ?? object) !== undefined;
  if (spec === undefined || isSuspended || (effect !== 'created' && effect !== 'new cluster')) return undefined;
  return await lookForRoom(client, spec, signal);
}

/** Who else has a say in the object. */
function ownerNotes(live: Json | undefined, { effect }: Change): readonly string[] {
  if (effect === 'unchanged') return [];
  const keeper = keeperOf(live);
  const queue = kueueQueueOf(live);
  const elsewhere = textAt(live, 'spec', 'managedBy');
  return [
    ...(keeper === undefined ? [] : [`${keeper} manages this object: change it there, or it may undo this`]),
    ...(queue === undefined ? [] : [`Kueue admits it (queue '${queue}'): 'suspend' is left as Kueue set it`]),
    ...(elsewhere === undefined || elsewhere === 'ray.io/kuberay-operator'
      ? []
      : [`managedBy is ${elsewhere}: KubeRay here does nothing with it`]),
  ];
}

/** Applies a planned object for real; returns what the server has now. */
export async function applyPlanned(planned: Planned, applying: Applying): Promise<Json> {
  await takeOverFields(planned, applying);
  return await send(planned, applying, false);
}

/** Fields of plain `kubectl apply` become Manta's, so that those that are no longer in the manifest go. */
async function takeOverFields({ manifest, path, live }: Planned, { client, signal }: Applying): Promise<void> {
  const owners = takeOver(live, manager);
  const version = textAt(live, 'metadata', 'resourceVersion');
  if (owners === undefined || version === undefined) return;
  const call = `take over the fields of the ${manifest.kind} '${manifest.name}'`;
  await jsonPatch(client, { path, call, signal }, [
    { op: 'replace', path: '/metadata/managedFields', value: owners },
    { op: 'replace', path: '/metadata/resourceVersion', value: version },
  ]).catch((error: unknown) => {
    // Somebody changed it meanwhile, as the operator does all the time: only a field that should go stays once more.
    if (!kubeErrors.Conflict.is(error)) throw error;
  });
}

/** Manta's planner sets `replicas`, whose list of groups is one value to the server; the live number is sent anyway. */
function isWithScalerAlone(error: unknown): boolean {
  if (!kubeErrors.Conflict.is(error)) return false;
  const others = [...error.data.detail.matchAll(/conflicts? with "([^"]+)"/g)].map(([, other]) => other);
  return others.length > 0 && others.every((other) => other === scalerManager);
}

async function send(
  { manifest, path, object, live }: Pick<Planned, 'manifest' | 'path' | 'object' | 'live'>,
  { client, force, signal }: Pick<Applying, 'client' | 'force' | 'signal'>,
  isTrial: boolean,
): Promise<Json> {
  const { kind, name } = manifest;
  // A trial cannot take over first: conflicts with those whose fields will be Manta's are none.
  const isTaken = isTrial && takeOver(live, manager) !== undefined;
  const forced = force || isTaken || isOperatorsAlone(live, manager);
  try {
    return (await client.json({
      method: 'PATCH',
      path,
      query: { fieldManager: manager, fieldValidation: 'Strict', force: forced, dryRun: isTrial ? 'All' : undefined },
      contentType: 'application/apply-patch+yaml',
      body: object,
      call: `apply the ${kind} '${name}'`,
      signal,
    })) as Json;
  } catch (error) {
    if (!forced && isWithScalerAlone(error))
      return await send({ manifest, path, object, live }, { client, force: true, signal }, isTrial);
    const unknown = await explainUnknownFields(error, manifest, client, signal);
    if (unknown !== undefined) throw unknown;
    if (kubeErrors.Conflict.is(error))
      throw manifestErrors.Conflict({ kind, name, detail: error.data.detail, keeper: keeperOf(live) }, error);
    // What is not a value of its field is an internal error to the server, also when it only tries.
    if (kubeErrors.Failed.is(error) && error.data.status === 500) throw kubeErrors.Invalid(error.data, error);
    throw error;
  }
}
