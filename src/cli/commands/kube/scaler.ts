import { randomBytes } from 'node:crypto';
import type { KubeClient } from '../../../base/kube/client.ts';
import { kubeErrors } from '../../../base/kube/errors.ts';
import { manifestErrors } from '../../../core/kube/errors.ts';
import type { Manifest } from '../../../core/kube/manifest.ts';
import { type Json, textAt } from '../../../core/kube/object.ts';
import { kubeEvents } from '../../../kube/events.ts';
import { canHaveScaler, scalerName, scalerProblem, usualImage, withScaler } from '../../../kube/scaler.ts';
import { podRuntime } from '../../../launcher/head/pod-runtime.ts';
import type { Io } from '../../command.ts';

interface ScalerOptions {
  readonly image?: string | undefined;
  readonly scalerClaim?: string | undefined;
  readonly scalerService: boolean;
}

/** The manifests with Manta's planner in the head pods of their clusters. */
export async function addScaler(
  manifests: readonly Manifest[],
  { image = usualImage, scalerClaim: claim, scalerService: service }: ScalerOptions,
  client: KubeClient,
  { env, signal, events }: Io,
): Promise<readonly Manifest[]> {
  if (!manifests.some(canHaveScaler)) throw manifestErrors.NothingToScale({});
  for (const manifest of manifests.filter(canHaveScaler)) {
    const problem = scalerProblem(manifest);
    if (problem !== undefined) throw manifestErrors.NotScalable({ kind: manifest.kind, name: manifest.name, problem });
  }
  const runtime = await podRuntime(env, signal);
  const made: Manifest[] = [];
  for (const manifest of manifests) {
    if (!canHaveScaler(manifest)) {
      made.push(manifest);
      continue;
    }
    if (claim === undefined) events.emit(kubeEvents.queueWithPod, { kind: manifest.kind, name: manifest.name });
    const token = await ownersToken(manifest, client, signal);
    made.push(...withScaler(manifest, { image, runtime, token, claim, service }));
  }
  return made;
}

/** The one that is there: those who have it go on with it. */
async function ownersToken(manifest: Manifest, client: KubeClient, signal: AbortSignal): Promise<string> {
  const namespace = manifest.namespace ?? client.access.namespace;
  const name = scalerName(manifest.name);
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets/${encodeURIComponent(name)}`;
  try {
    const secret = (await client.json({ path, call: `read the Secret '${name}'`, signal })) as Json;
    const known = Buffer.from(textAt(secret, 'data', 'token') ?? '', 'base64').toString();
    if (known !== '') return known;
  } catch (error) {
    if (!kubeErrors.NotFound.is(error)) throw error;
  }
  return randomBytes(32).toString('base64url');
}
