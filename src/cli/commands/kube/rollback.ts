import type { KubeClient } from '../../../base/kube/client.ts';
import { readObject } from '../../../base/kube/objects.ts';
import { manifestErrors } from '../../../core/kube/errors.ts';
import type { Manifest } from '../../../core/kube/manifest.ts';
import { type Json, textAt } from '../../../core/kube/object.ts';
import { lastGood } from '../../../kube/last-good.ts';
import { rayPath } from '../../../kube/surroundings.ts';
import type { Io } from '../../command.ts';
import { openNames } from './names.ts';

/** For each object that is named, or that is in a file, the spec that it goes back to. */
export async function rollbackManifests(
  words: readonly string[],
  client: KubeClient,
  io: Io,
): Promise<readonly Manifest[]> {
  const manifests: Manifest[] = [];
  for (const { kind, plural, namespace = client.access.namespace, name } of await openNames(words, io)) {
    const { signal } = io;
    const call = `read the ${kind} '${name}'`;
    const live = (await readObject(client, { path: rayPath(namespace, plural, name), call, signal })) as
      | Json
      | undefined;
    const object = await lastGood({ kind, namespace, name }, live, { client, signal });
    if (object === undefined) throw manifestErrors.NothingToRollBack({ kind, name });
    const at = () => ({ line: 1, column: 1 });
    manifests.push({
      file: `${kind}/${name}`,
      kind,
      name,
      namespace: textAt(object, 'metadata', 'namespace') ?? namespace,
      object,
      at,
      within: at,
    });
  }
  return manifests;
}
