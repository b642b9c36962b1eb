import { manifestErrors } from '../../../core/kube/errors.ts';
import type { Manifest } from '../../../core/kube/manifest.ts';
import { dig, isMap } from '../../../core/kube/object.ts';
import type { Io } from '../../command.ts';
import { openServeConfig } from '../serve/open-config.ts';

/** Puts a Serve config, as `aana build` or `serve build` wrote it, into the RayService of the manifests. */
export async function withServeConfig(
  manifests: readonly Manifest[],
  file: string | undefined,
  io: Io,
): Promise<readonly Manifest[]> {
  if (file === undefined) return manifests;
  const services = manifests.filter(({ kind }) => kind === 'RayService');
  if (services.length !== 1) throw manifestErrors.NoService({ found: services.length });
  const { text } = await openServeConfig(file, io);
  return manifests.map((manifest) => {
    if (manifest !== services[0]) return manifest;
    const spec = dig(manifest.object, 'spec');
    return { ...manifest, object: { ...manifest.object, spec: { ...(isMap(spec) ? spec : {}), serveConfigV2: text } } };
  });
}
