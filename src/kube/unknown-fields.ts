import type { KubeClient } from '../base/kube/client.ts';
import { kubeErrors } from '../base/kube/errors.ts';
import { manifestErrors } from '../core/kube/errors.ts';
import { kindSchemaIn, unknownFieldsIn } from '../core/kube/fields.ts';
import type { Manifest } from '../core/kube/manifest.ts';
import { type Json, textAt } from '../core/kube/object.ts';

/** An error that says which fields the server does not know, where they stand, and what may be meant; undefined for others. */
export async function explainUnknownFields(
  error: unknown,
  manifest: Manifest,
  client: KubeClient,
  signal: AbortSignal,
): Promise<Error | undefined> {
  if (!kubeErrors.Failed.is(error) && !kubeErrors.Invalid.is(error)) return undefined;
  const apiVersion = textAt(manifest.object, 'apiVersion') ?? '';
  const { detail } = error.data;
  if (!detail.includes('field not declared in schema') && !detail.includes('unknown field')) return undefined;
  const path = `/openapi/v3/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}`;
  // Everyone who is logged in may read it; without it there is no nearest name, and the rest stands.
  const schema = await client
    .json({ path, call: `read the schema of ${apiVersion}`, signal })
    .then((all) => kindSchemaIn(all as Json, manifest.kind))
    .catch(() => undefined);
  const { kind, name } = manifest;
  const fields = unknownFieldsIn(detail, manifest, schema);
  return fields.length === 0 ? undefined : manifestErrors.UnknownFields({ kind, name, fields }, error);
}
