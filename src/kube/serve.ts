import { kubeErrors } from '../base/kube/errors.ts';
import { readObject } from '../base/kube/objects.ts';
import { askService } from '../base/kube/service-proxy.ts';
import { readOutsideJson } from '../base/outside-json.ts';
import { readWhole } from '../base/read-whole.ts';
import { dig, type Json, nameOf, textAt } from '../core/kube/object.ts';
import { servePath } from '../core/serve/api.ts';
import { ifAllowed, insidePath, type Place } from './surroundings.ts';

/** A look that takes longer counts as no answer: the next one is a second away. */
const patience = 5_000;

interface ServeLook {
  /** Undefined where nobody answers. */
  readonly details: Json | undefined;
  /** The user may not ask. */
  readonly isBlind?: true;
}

/** What Serve on the pods of a RayCluster says of itself, asked through the API server. */
export async function lookAtServe(place: Place, cluster: Json): Promise<ServeLook> {
  const late = AbortSignal.timeout(patience);
  try {
    return { details: await ask(place, cluster, AbortSignal.any([place.signal, late])) };
  } catch (error) {
    place.signal.throwIfAborted();
    if (kubeErrors.Forbidden.is(error)) return { details: undefined, isBlind: true };
    const isSilent = kubeErrors.Failed.is(error) || kubeErrors.NotFound.is(error) || kubeErrors.LoginRefused.is(error);
    if (late.aborted || isSilent || error instanceof SyntaxError) return { details: undefined };
    throw error;
  }
}

async function ask(place: Place, cluster: Json, signal: AbortSignal): Promise<Json> {
  const name = nameOf(cluster);
  const token = await rayToken(place, cluster);
  const answer = await askService(place.client, {
    namespace: place.namespace,
    service: textAt(cluster, 'status', 'head', 'serviceName') || `${name}-head-svc`,
    port: textAt(cluster, 'status', 'endpoints', 'dashboard') ?? '8265',
    path: servePath,
    // What stands between keeps `authorization` to itself.
    headers: token === undefined ? {} : { 'x-ray-authorization': `Bearer ${token}` },
    call: `ask Serve on the RayCluster '${name}'`,
    signal,
  });
  return readOutsideJson((await readWhole(answer)).toString('utf8')) as Json;
}

/** Ray's own token, where the cluster wants one; KubeRay keeps it in a Secret. */
async function rayToken({ client, namespace, signal }: Place, cluster: Json): Promise<string | undefined> {
  if (textAt(cluster, 'spec', 'authOptions', 'mode') !== 'token') return undefined;
  const secret = textAt(cluster, 'spec', 'authOptions', 'secretName') ?? nameOf(cluster).slice(-50);
  const path = `/api/v1/${insidePath(namespace)}/secrets/${encodeURIComponent(secret)}`;
  const found = await ifAllowed(readObject(client, { path, call: `read the Secret '${secret}'`, signal }));
  const value = textAt(dig(found as Json | undefined, 'data'), 'auth_token');
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8').trim();
}
