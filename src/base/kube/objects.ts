import type { KubeClient } from './client.ts';
import { kubeErrors } from './errors.ts';

/** One object of the API server: where it is, and what is done to it, for messages (`read the RayCluster 'a'`). */
export interface ObjectCall {
  readonly path: string;
  readonly call: string;
  readonly signal: AbortSignal;
}

/** A step of a JSON patch (RFC 6902); `test` refuses the whole patch where something else stands. */
export type PatchStep =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/** An object, or undefined where there is none. */
export const readObject = (client: KubeClient, call: ObjectCall): Promise<unknown> => orNothing(client.json(call));

/**
 * All steps or none. A step that does not hold is `Invalid`, which is how a `test` of what was read before tells that somebody
 * was faster. Resolves with the object as it is then.
 */
export const jsonPatch = (client: KubeClient, call: ObjectCall, steps: readonly PatchStep[]): Promise<unknown> =>
  client.json({ ...call, method: 'PATCH', contentType: 'application/json-patch+json', body: steps });

/** Sets what the patch has, removes what it has as null, leaves the rest. Lists are replaced whole. */
export const mergePatch = (client: KubeClient, call: ObjectCall, patch: unknown): Promise<unknown> =>
  client.json({ ...call, method: 'PATCH', contentType: 'application/merge-patch+json', body: patch });

/** Asks for an object's end; false where there is none. What depends on it goes in the background, finalizers first. */
export async function deleteObject(client: KubeClient, call: ObjectCall): Promise<boolean> {
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' };
  return (await orNothing(client.json({ ...call, method: 'DELETE', body }))) !== undefined;
}

async function orNothing(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (kubeErrors.NotFound.is(error)) return undefined;
    throw error;
  }
}
