import type { KubeClient } from '../base/kube/client.ts';
import { readObject } from '../base/kube/objects.ts';
import { readOutsideJson } from '../base/outside-json.ts';
import { isMap, type Json, type JsonMap, nameOf, numberAt, textAt } from '../core/kube/object.ts';
import { manager, type Planned } from './apply.ts';
import { insidePath } from './surroundings.ts';

/** A spec that came up. */
interface Kept {
  readonly object: JsonMap;
  /** Of the object in the API server when it came up. */
  readonly generation: number;
}

interface Named {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

interface Asking {
  readonly client: KubeClient;
  readonly signal: AbortSignal;
}

const secretName = ({ kind, name }: Named): string => `manta-${kind.toLowerCase()}-${name}`;
const pathOf = (named: Named): string =>
  `/api/v1/${insidePath(named.namespace)}/secrets/${encodeURIComponent(secretName(named))}`;

/**
 * Keeps a spec that has come up, and the one before it, in a Secret that goes with the object: manifests may hold what is
 * secret, and KubeRay keeps no history.
 */
export async function keepGood(
  { manifest, namespace, object }: Planned,
  live: Json,
  { client, signal }: Asking,
): Promise<void> {
  const named = { kind: manifest.kind, namespace, name: manifest.name };
  const [current, previous] = await readKept(named, { client, signal });
  const generation = numberAt(live, 'metadata', 'generation') ?? 0;
  const kept: Kept = { object, generation };
  const isSame = current !== undefined && JSON.stringify(current.object) === JSON.stringify(object);
  const older = isSame ? previous : current;
  const data = { current: encode(kept), ...(older !== undefined && { previous: encode(older) }) };
  const owner = {
    apiVersion: textAt(live, 'apiVersion') ?? 'ray.io/v1',
    kind: manifest.kind,
    name: nameOf(live),
    uid: textAt(live, 'metadata', 'uid') ?? '',
  };
  await client.json({
    method: 'PATCH',
    path: pathOf(named),
    query: { fieldManager: manager, force: true },
    contentType: 'application/apply-patch+yaml',
    body: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: secretName(named), namespace, ownerReferences: [owner] },
      type: 'manta/last-good',
      data,
    },
    call: `keep the spec of the ${manifest.kind} '${manifest.name}' for a rollback`,
    signal,
  });
}

/** The spec to go back to: the last that came up, or the one before it where that is what there is now. */
export async function lastGood(named: Named, live: Json | undefined, asking: Asking): Promise<JsonMap | undefined> {
  const [current, previous] = await readKept(named, asking);
  const isNow = current !== undefined && current.generation === numberAt(live, 'metadata', 'generation');
  return isNow ? previous?.object : current?.object;
}

async function readKept(
  named: Named,
  { client, signal }: Asking,
): Promise<readonly [Kept | undefined, Kept | undefined]> {
  const call = `read the specs that are kept of the ${named.kind} '${named.name}'`;
  const secret = (await readObject(client, { path: pathOf(named), call, signal })) as Json | undefined;
  return [decode(textAt(secret, 'data', 'current')), decode(textAt(secret, 'data', 'previous'))];
}

const encode = (kept: Kept): string => Buffer.from(JSON.stringify(kept)).toString('base64');

function decode(text: string | undefined): Kept | undefined {
  if (text === undefined) return undefined;
  const value = readOutsideJson(Buffer.from(text, 'base64').toString('utf8')) as Json;
  const object = isMap(value) ? value['object'] : undefined;
  return isMap(object) ? { object, generation: numberAt(value, 'generation') ?? 0 } : undefined;
}
