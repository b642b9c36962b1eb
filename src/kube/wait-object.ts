import type { Planned } from './apply.ts';
import type { KubeWait } from './wait.ts';
import { waitForCluster } from './wait-cluster.ts';
import { waitForJob } from './wait-job.ts';
import { waitForService } from './wait-service.ts';

/** Waits until an applied object is what its spec says; false for kinds that nobody waits for. */
export async function waitForObject({ manifest, namespace, change }: Planned, waiting: KubeWait): Promise<boolean> {
  const { kind, name } = manifest;
  if (kind === 'RayCluster')
    await waitForCluster({ namespace, name, isReplaced: change.effect === 'new pods' }, waiting);
  else if (kind === 'RayService') await waitForService({ namespace, name }, waiting);
  else if (kind === 'RayJob') await waitForJob({ namespace, name }, waiting);
  else return false;
  return true;
}
