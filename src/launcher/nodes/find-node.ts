import type { Host } from '../../base/host.ts';
import type { CommandPlace } from '../../bringup/node/node.ts';
import type { ContainerSpec } from '../../core/spec/cluster.ts';
import { canonicalHost, ownHosts } from '../../core/spec/local.ts';
import { launcherErrors } from '../errors.ts';
import type { RemoteCluster } from '../reach/remote-cluster.ts';
import { reachWorker } from '../reach/worker-key.ts';

/** A node of the cluster as users name it. */
export interface FoundNode {
  readonly kind: 'head' | 'worker';
  readonly address: string;
  /** Where its commands run. */
  readonly place: CommandPlace;
}

/** A node by all its names. */
export interface KnownNode {
  readonly instance: string;
  readonly node?: string;
  readonly kind: 'head' | 'worker';
  readonly address: string;
}

/** Letters of an id from which on it may stand for all of it. */
const shortestId = 6;

/**
 * The node that is meant: the word `head`, an address, the id of an instance, or the beginning of an id of Ray's. The head
 * is asked only where the cluster file does not answer.
 */
export async function findNode(
  cluster: RemoteCluster,
  word: string,
  askNodes: () => Promise<readonly KnownNode[]>,
): Promise<FoundNode> {
  const same = (address: string): boolean => canonicalHost(address) === canonicalHost(word);
  if (word === 'head' || same(cluster.headAddress) || same(cluster.headInside)) return headNode(cluster);
  const named = cluster.workerAddresses.find(same);
  if (named !== undefined) return workerNode(cluster, named);
  const matches = (await askNodes()).filter(({ instance, node }) =>
    [instance, node].some((id) => id === word || (word.length >= shortestId && id?.startsWith(word))),
  );
  const [first, second] = matches;
  const exact = matches.find(({ instance, node }) => instance === word || node === word);
  if (second !== undefined && exact === undefined)
    throw launcherErrors.ExecAmbiguousNode({ word, matches: matches.map(({ instance }) => instance) });
  const match = exact ?? first;
  if (match !== undefined) return match.kind === 'head' ? headNode(cluster) : workerNode(cluster, match.address);
  const known = ['head', cluster.headAddress, ...cluster.workerAddresses];
  throw launcherErrors.ExecUnknownNode({ word, name: cluster.name, known });
}

export const headNode = (cluster: RemoteCluster): FoundNode => ({
  kind: 'head',
  address: cluster.headAddress,
  place: cluster.place,
});

export function workerNode({ spec }: RemoteCluster, address: string): FoundNode {
  const pool = ownHosts(spec).pools.find(({ hosts }) => hosts.some((host) => host.name === address));
  const type = spec.nodeTypes.find(({ name }) => name === pool?.type);
  return { kind: 'worker', address, place: placeIn(type?.worker.container) };
}

const placeIn = (container: ContainerSpec | undefined): CommandPlace =>
  container ? { kind: 'container', engine: container.engine, name: container.name } : { kind: 'host' };

/** The node's host, reached directly or, where this machine does not see it, through the head. */
export async function hostOfNode(cluster: RemoteCluster, node: FoundNode, signal: AbortSignal): Promise<Host> {
  if (node.kind === 'head') return cluster.head;
  const direct = cluster.hostOf(node.address);
  return direct.isKept?.() === true ? direct : await reachWorker(cluster, node.address, signal);
}
