import type { KubeClient } from '../base/kube/client.ts';
import { kubeErrors } from '../base/kube/errors.ts';
import { readObject } from '../base/kube/objects.ts';
import { type Change, changeOf, withLiveReplicas } from '../core/kube/change.ts';
import type { Manifest } from '../core/kube/manifest.ts';
import type { Json, JsonMap } from '../core/kube/object.ts';
import type { KubePaths } from './paths.ts';

/** One object that is about to be applied, and what that does. */
export interface Planned {
  readonly manifest: Manifest;
  readonly namespace: string;
  readonly path: string;
  readonly object: JsonMap;
  readonly change: Change;
}

interface Applying {
  readonly client: KubeClient;
  readonly resources: KubePaths;
  /** Take fields over that somebody else owns. */
  readonly force: boolean;
  readonly signal: AbortSignal;
}

/** Looks at what is there and lets the server try, which changes nothing: it finds unknown fields and wrong types. */
export async function planApply(manifest: Manifest, applying: Applying): Promise<Planned> {
  const { client, resources, signal } = applying;
  const namespace = manifest.namespace ?? client.access.namespace;
  const path = await resources.pathOf(manifest.object, namespace, signal);
  const call = `read the ${manifest.kind} '${manifest.name}'`;
  const live = (await readObject(client, { path, call, signal })) as Json | undefined;
  const object = withLiveReplicas(manifest.object, live);
  const planned = { manifest, namespace, path, object };
  const after = await send(planned, applying, true).catch(asRefusal);
  return { ...planned, change: changeOf(manifest.kind, live, after) };
}

/** A field that does not exist is an internal error to the server, also when it only tries. */
function asRefusal(error: unknown): never {
  if (kubeErrors.Failed.is(error) && error.data.status === 500) throw kubeErrors.Invalid(error.data, error);
  throw error;
}

/** Applies a planned object for real; returns what the server has now. */
export const applyPlanned = (planned: Planned, applying: Applying): Promise<Json> => send(planned, applying, false);

async function send(
  { manifest, path, object }: Pick<Planned, 'manifest' | 'path' | 'object'>,
  { client, force, signal }: Applying,
  isTrial: boolean,
): Promise<Json> {
  return (await client.json({
    method: 'PATCH',
    path,
    query: { fieldManager: 'manta', fieldValidation: 'Strict', force, dryRun: isTrial ? 'All' : undefined },
    contentType: 'application/apply-patch+yaml',
    body: object,
    call: `apply the ${manifest.kind} '${manifest.name}'`,
    signal,
  })) as Json;
}
