import type { KubeClient } from '../base/kube/client.ts';
import { deleteObject, readObject } from '../base/kube/objects.ts';
import type { Clock, Duration } from '../base/time/clock.ts';
import { manifestErrors } from '../core/kube/errors.ts';
import { type Json, listAt } from '../core/kube/object.ts';
import { rayPath } from './surroundings.ts';

export interface Doomed {
  readonly kind: string;
  readonly plural: string;
  readonly namespace: string;
  readonly name: string;
}

export interface Deleting {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly timeout: Duration;
  readonly signal: AbortSignal;
}

const pause = 500;

/** Asks for the end of objects; returns those that were there. */
export async function deleteAll(doomed: readonly Doomed[], { client, signal }: Deleting): Promise<readonly Doomed[]> {
  const there: Doomed[] = [];
  for (const each of doomed) {
    const call = `delete the ${each.kind} '${each.name}'`;
    if (await deleteObject(client, { path: rayPath(each.namespace, each.plural, each.name), call, signal }))
      there.push(each);
  }
  return there;
}

/** Waits until objects are gone: KubeRay removes what it made for them first. */
export async function waitUntilGone(
  doomed: readonly Doomed[],
  { client, clock, timeout, signal }: Deleting,
): Promise<void> {
  const until = clock.now() + timeout;
  for (let left = doomed; ; await clock.sleep(pause, signal)) {
    const found = await Promise.all(
      left.map(async (each) => {
        const call = `read the ${each.kind} '${each.name}'`;
        const path = rayPath(each.namespace, each.plural, each.name);
        return (await readObject(client, { path, call, signal })) as Json | undefined;
      }),
    );
    left = left.filter((_, at) => found[at] !== undefined);
    if (left.length === 0) return;
    if (clock.now() <= until) continue;
    const finalizers = [...new Set(found.flatMap((object) => listAt(object, 'metadata', 'finalizers').map(String)))];
    const why = finalizers.length === 0 ? '' : ` (finalizers: ${finalizers.join(', ')})`;
    throw manifestErrors.StillThere({ objects: left.map(({ kind, name }) => `${kind}/${name}`), why });
  }
}
