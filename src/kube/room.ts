import type { KubeClient } from '../base/kube/client.ts';
import type { Json } from '../core/kube/object.ts';
import { type NodeRoom, roomFor } from '../core/kube/room.ts';
import { ifAllowed, listCluster } from './surroundings.ts';

/** Beyond it, the pods of a cluster are too many to list for a hint. */
const mostNodes = 200;

/** Whether pods of a RayClusterSpec have a place now; undefined where nodes or pods may not be seen. */
export async function lookForRoom(client: KubeClient, spec: Json, signal: AbortSignal): Promise<NodeRoom | undefined> {
  const nodes = await ifAllowed(listCluster({ client, signal }, '/api/v1/nodes', 'nodes'));
  if (nodes === undefined || nodes.length > mostNodes) return undefined;
  const fieldSelector = 'status.phase!=Succeeded,status.phase!=Failed';
  const pods = await ifAllowed(listCluster({ client, signal }, '/api/v1/pods', 'pods', { fieldSelector }));
  return pods === undefined ? undefined : roomFor(spec, nodes, pods);
}
