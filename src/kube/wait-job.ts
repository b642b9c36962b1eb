import { jobProgress, type RayJobState } from '../core/kube/job-progress.ts';
import { type Json, textAt } from '../core/kube/object.ts';
import { ifAllowed, lookAround, type Place, readRay } from './surroundings.ts';
import { type KubeWait, waitFor } from './wait.ts';

/** Waits until a RayJob runs; throws its first cause when waiting does not help, or is over. */
export async function waitForJob(
  waited: { readonly namespace: string; readonly name: string },
  waiting: KubeWait,
): Promise<void> {
  const kind = 'RayJob';
  const { namespace, name } = waited;
  const place = { ...waiting, namespace };
  await waitFor({ kind, namespace, name }, async () => jobProgress(await lookAtJob(place, name)), waiting);
}

/** Everything that says how far a RayJob is. */
export async function lookAtJob(place: Place, name: string): Promise<RayJobState> {
  const kind = 'RayJob';
  const job = await readRay(place, kind, 'rayjobs', name);
  const named = textAt(job, 'status', 'rayClusterName') || textAt(job, 'spec', 'clusterSelector', 'ray.io/cluster');
  const cluster: Json | undefined = named
    ? await ifAllowed(readRay(place, 'RayCluster', 'rayclusters', named))
    : undefined;
  const objects = [{ kind, object: job }, ...(cluster === undefined ? [] : [{ kind: 'RayCluster', object: cluster }])];
  const [around, submitters] = await Promise.all([
    lookAround(place, `ray.io/cluster=${named || 'none'}`, objects),
    lookAround(place, `job-name=${name}`, []),
  ]);
  const pods = [...around.pods, ...submitters.pods];
  return { ...around, job, cluster, pods, events: [...around.events, ...submitters.events] };
}
