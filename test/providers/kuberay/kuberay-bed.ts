import type { TestContext } from 'node:test';
import { type KubeRayWorld, serveKubeRay } from '../../../lab/kuberay/server.ts';
import { KubeClient } from '../../../src/base/kube/client.ts';
import { wallClock } from '../../../src/base/time/wall-clock.ts';
import { type KubeRayOptions, KubeRayProvider } from '../../../src/providers/kuberay/provider.ts';
import type { Patience } from '../../../src/providers/kuberay/settle.ts';

/** Nothing in the stand-in takes longer than a few milliseconds. */
const impatient: Patience = { unschedulable: 200, refused: 200, shown: 60_000 };

export async function standIn(
  t: TestContext,
  groups: Parameters<typeof serveKubeRay>[0] = [{}],
): Promise<KubeRayWorld> {
  const world = await serveKubeRay(groups);
  t.after(() => world.close());
  return world;
}

/** A provider as a head pod makes it at its start. */
export function providerOf(
  t: TestContext,
  { url, namespace, name }: KubeRayWorld,
  { patience = impatient, ...more }: Partial<Pick<KubeRayOptions, 'events' | 'patience' | 'head'>> = {},
): KubeRayProvider {
  const client = new KubeClient({ server: url, context: 'lab', namespace, options: async () => ({}) }, wallClock);
  t.after(() => client.close());
  return new KubeRayProvider({ client, namespace, name, clock: wallClock, patience, ...more });
}
