import type { NodeAnswer, NodesAnswer } from '../../api/types.ts';
import { HttpClient } from '../../client/http.ts';
import { targetFor } from '../../client/target.ts';
import type { KnownNode } from '../../launcher/nodes/find-node.ts';
import { claimedNodes } from '../../launcher/reach/node-claims.ts';
import type { RemoteCluster } from '../../launcher/reach/remote-cluster.ts';
import type { Io } from '../command.ts';

/** The nodes by all their names: the claims on the head, and what mantad says of them where it answers. */
export async function nodesOf(cluster: RemoteCluster, io: Io): Promise<readonly KnownNode[]> {
  const claims = (await claimedNodes(cluster.head, cluster.name, { signal: io.signal })) ?? [];
  const answers = claims.length === 0 ? [] : await askNodes(cluster, io);
  return claims.map(({ instance, kind, address }) => {
    const node = answers.find((answer) => answer.instance === instance)?.node;
    return { instance, kind, address, ...(node !== undefined && { node }) };
  });
}

/** Addresses of the workers that the cluster has; where Manta is not on the head, those that the file names. */
export async function workerAddresses(cluster: RemoteCluster, io: Io): Promise<readonly string[]> {
  const claims = await claimedNodes(cluster.head, cluster.name, { signal: io.signal });
  if (claims === undefined) return cluster.workerAddresses;
  return claims.filter(({ kind, state }) => kind === 'worker' && state === 'held').map(({ address }) => address);
}

async function askNodes(cluster: RemoteCluster, io: Io): Promise<readonly NodeAnswer[]> {
  let http: HttpClient | undefined;
  try {
    http = new HttpClient(targetFor({ name: cluster.name }, io.env, io.events), io.signal);
    const path = '/api/manta/v1/nodes';
    return (await http.json<NodesAnswer>('GET', path, { silence: 10_000 })).nodes;
  } catch {
    io.signal.throwIfAborted();
    return [];
  } finally {
    http?.close();
  }
}
