import { progressOf } from '../core/kube/progress.ts';
import { lookAround, readRay } from './surroundings.ts';
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
  const look = async () => {
    const cluster = await readRay(place, kind, 'rayclusters', name);
    const around = await lookAround(place, `ray.io/cluster=${name}`, [{ kind, object: cluster }]);
    return progressOf({ ...around, cluster, isReplaced });
  };
  await waitFor({ kind, namespace, name }, look, waiting);
}
