import { progressOf, type RayClusterState } from '../core/kube/progress.ts';
import { lookAround, type Place, readRay } from './surroundings.ts';
import { type KubeWait, waitFor } from './wait.ts';

export interface WaitedCluster {
  readonly namespace: string;
  readonly name: string;
  /** As in `RayClusterState`. */
  readonly isReplaced: boolean;
}

/** Waits until a RayCluster is what its spec says; throws its first cause when waiting does not help, or is over. */
export async function waitForCluster({ namespace, name, isReplaced }: WaitedCluster, waiting: KubeWait): Promise<void> {
  const kind = 'RayCluster';
  const place = { ...waiting, namespace };
  const look = async () => progressOf({ ...(await lookAtCluster(place, name)), isReplaced });
  await waitFor({ kind, namespace, name }, look, waiting);
}

/** Everything that says how far a RayCluster is. */
export async function lookAtCluster(place: Place, name: string): Promise<Omit<RayClusterState, 'isReplaced'>> {
  const kind = 'RayCluster';
  const cluster = await readRay(place, kind, 'rayclusters', name);
  return { ...(await lookAround(place, `ray.io/cluster=${name}`, [{ kind, object: cluster }])), cluster };
}
