import type { NodesAnswer } from '../../../api/types.ts';
import { HttpClient } from '../../../client/http.ts';
import { targetFor } from '../../../client/target.ts';
import { launcherErrors } from '../../../launcher/errors.ts';
import { hostOfNode, workerNode } from '../../../launcher/nodes/find-node.ts';
import { oneOf, stopNode } from '../../../launcher/nodes/kill-node.ts';
import type { RemoteCluster } from '../../../launcher/reach/remote-cluster.ts';
import type { Io, Run } from '../../command.ts';
import { confirmed } from '../../confirm.ts';
import { workerAddresses } from '../../shared/node-list.ts';
import { withRemoteMeant } from '../../shared/remote-cluster.ts';
import type { killRandomNodeOptions } from './declaration.ts';

export const run: Run<typeof killRandomNodeOptions> = (invocation, io) =>
  withRemoteMeant(invocation, io, async (cluster) => {
    const { yes, hard } = invocation.options;
    if (!(await confirmed('This will kill a node in your cluster. Confirm', yes, io))) return 1;
    const address = await (hard ? endInstance : stopRay)(cluster, io);
    io.out(io.json ? `${JSON.stringify({ address, hard })}\n` : `${address}\n`);
    return 0;
  });

/** As `ray stop` on the node does: the cluster is told, and brings the node back. */
async function stopRay(cluster: RemoteCluster, io: Io): Promise<string> {
  const node = workerNode(cluster, chosen(cluster, await workerAddresses(cluster, io)));
  const host = await hostOfNode(cluster, node, io.signal);
  await stopNode(host, cluster.name, node.place, io.signal);
  return node.address;
}

/** By the provider, which mantad orders it from: nobody on the node is told. */
async function endInstance(cluster: RemoteCluster, io: Io): Promise<string> {
  const http = new HttpClient(targetFor({ name: cluster.name }, io.env, io.events), io.signal);
  try {
    const { nodes } = await http.json<NodesAnswer>('GET', '/api/manta/v1/nodes');
    const running = nodes.filter(({ kind, status, byHand }) => kind === 'worker' && !byHand && status === 'running');
    const { instance, address, machine } = chosen(cluster, running);
    const path = `/api/manta/v1/nodes/${encodeURIComponent(instance)}/end`;
    const { accepted } = await http.json<{ accepted: boolean }>('POST', path);
    if (!accepted) throw launcherErrors.ExecNotEnded({ instance });
    return address ?? machine ?? instance;
  } finally {
    http.close();
  }
}

function chosen<Value>({ name }: RemoteCluster, values: readonly Value[]): Value {
  const [first, ...more] = values;
  if (first === undefined) throw launcherErrors.ExecNoWorkers({ name });
  return oneOf([first, ...more]);
}
