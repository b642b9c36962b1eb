import type { NodeAnswer } from '../../head/api/types.ts';
import { HttpClient } from '../../head/client/http.ts';
import { chooseTarget } from '../../head/client/target.ts';
import type { RemoteCluster } from '../../launcher/remote-cluster.ts';
import type { Io } from '../command.ts';

/** The nodes that mantad knows; none where it does not answer. */
export async function nodesOf(cluster: RemoteCluster, io: Io): Promise<readonly NodeAnswer[]> {
  return (await askedNodes(cluster, io)) ?? [];
}

/** As `nodesOf`, and undefined where mantad does not answer. */
export async function askedNodes(cluster: RemoteCluster, io: Io): Promise<readonly NodeAnswer[] | undefined> {
  let http: HttpClient | undefined;
  try {
    http = new HttpClient(chooseTarget({ name: cluster.name }, io.env, io.events), io.signal);
    const { nodes } = await http.json<{ nodes: readonly NodeAnswer[] }>('GET', '/api/manta/v1/nodes', {
      silence: 10_000,
    });
    return nodes;
  } catch {
    io.signal.throwIfAborted();
    return undefined;
  } finally {
    http?.close();
  }
}
