import { isHead, isReady } from '../core/kube/causes.ts';
import { type Json, nameOf, textAt } from '../core/kube/object.ts';
import { clustersOf, type RayServiceState, serveServiceOf, serviceProgress } from '../core/kube/service-progress.ts';
import { lookAtServe } from './serve.ts';
import { onceSettled } from './settle.ts';
import { ifAllowed, listObjects, lookAround, type Place, readRay } from './surroundings.ts';
import { type KubeWait, waitFor } from './wait.ts';

const kind = 'RayService';

/** Waits until a RayService serves what its spec says; throws its first cause when waiting does not help, or is over. */
export async function waitForService(
  waited: { readonly namespace: string; readonly name: string },
  waiting: KubeWait,
): Promise<void> {
  const { namespace, name } = waited;
  const place = { ...waiting, namespace };
  const settled = onceSettled(waiting.clock);
  const look = async () => {
    const seen = await lookAtService(place, name);
    return settled(serviceProgress(seen), seen.endpoints);
  };
  await waitFor({ kind, namespace, name }, look, waiting);
}

/** Everything that says how far a RayService is. */
export async function lookAtService(place: Place, name: string): Promise<RayServiceState> {
  const service = await readRay(place, kind, 'rayservices', name);
  const clusters = await listObjects(place, '/apis/ray.io/v1', 'rayclusters', {
    labelSelector: `ray.io/originated-from-cr-name=${name},ray.io/originated-from-crd=RayService`,
  });
  const { active, pending } = clustersOf(service);
  const meant = clusters.find((cluster) => nameOf(cluster) === (pending ?? active));
  const names = clusters.map(nameOf);
  const selector = names.length === 0 ? 'ray.io/cluster=,ray.io/none' : `ray.io/cluster in (${names.join(',')})`;
  const objects = [{ kind, object: service }, ...(meant === undefined ? [] : [{ kind: 'RayCluster', object: meant }])];
  const [around, endpoints] = await Promise.all([
    lookAround(place, selector, objects),
    ifAllowed(
      listObjects(place, '/apis/discovery.k8s.io/v1', 'endpointslices', {
        labelSelector: `kubernetes.io/service-name=${serveServiceOf(service)}`,
      }),
    ),
  ]);
  const serve = await askServe(place, meant, around.pods);
  return { ...around, service, clusters, endpoints, serve: serve.details, ...(serve.isBlind && { isBlind: true }) };
}

/** Before the head is ready nobody answers. */
async function askServe(
  place: Place,
  cluster: Json | undefined,
  pods: readonly Json[],
): Promise<{ readonly details: Json | undefined; readonly isBlind?: boolean }> {
  const isUp = (pod: Json): boolean =>
    isHead(pod) && isReady(pod) && textAt(pod, 'metadata', 'labels', 'ray.io/cluster') === nameOf(cluster);
  if (cluster === undefined || !pods.some(isUp)) return { details: undefined };
  return await lookAtServe(place, cluster);
}
