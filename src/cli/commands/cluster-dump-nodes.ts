import type { Host } from '../../base/host.ts';
import { sshHost } from '../../base/ssh/host.ts';
import { thisHost } from '../../base/this-host.ts';
import type { Place } from '../../bringup/node.ts';
import { targetOf } from '../../bringup/reach.ts';
import { ownHosts } from '../../core/spec/local.ts';
import { reachedFrom } from '../../head/state-folder.ts';
import { dumpNode } from '../../launcher/dump.ts';
import { type FoundNode, findNode, headNode, hostOfNode, workerNode } from '../../launcher/node-shell.ts';
import type { RemoteCluster } from '../../launcher/remote-cluster.ts';
import type { Invocation, Io } from '../command.ts';
import { withRemote } from './exec-cluster.ts';
import { nodesOf, workerAddresses } from './node-list.ts';

export interface NodeFile {
  readonly name: string;
  readonly what: string;
  readonly text: string;
}

/** Files of all nodes that are meant. A node that cannot be asked leaves a file that says why. */
export async function nodeFiles(invocation: Invocation, io: Io): Promise<NodeFile[]> {
  if (invocation.options['local'] === true)
    return await filesOf('this-machine', { kind: 'host' }, () => Promise.resolve(thisHost()), '', invocation, io);
  return await withRemote(invocation, io, async (cluster) => {
    const nodes = await chosen(cluster, invocation, io);
    const all = await Promise.all(
      nodes.map((node) =>
        filesOf(
          node.address,
          placeOf(node, invocation),
          () => open(cluster, node, invocation, io),
          cluster.name,
          invocation,
          io,
        ),
      ),
    );
    return all.flat();
  });
}

async function chosen(cluster: RemoteCluster, { options }: Invocation, io: Io): Promise<readonly FoundNode[]> {
  const words = (options['host'] as string | undefined)?.split(',').filter(Boolean);
  if (words !== undefined)
    return await Promise.all(words.map((word) => findNode(cluster, word.trim(), () => nodesOf(cluster, io))));
  const workers = await workerAddresses(cluster, io).catch(() => cluster.workerAddresses);
  return [headNode(cluster), ...workers.map((address) => workerNode(cluster, address))];
}

const placeOf = ({ place }: FoundNode, { options }: Invocation): Place => {
  const name = options['docker'] as string | undefined;
  return name === undefined
    ? place
    : { kind: 'container', engine: place.kind === 'host' ? 'docker' : place.engine, name };
};

/** With the user and the key of the options, where they are given. */
async function open(cluster: RemoteCluster, node: FoundNode, { options }: Invocation, io: Io): Promise<Host> {
  const { 'ssh-user': user, 'ssh-key': key } = options as { 'ssh-user'?: string; 'ssh-key'?: string };
  if (user === undefined && key === undefined) return await hostOfNode(cluster, node, io.signal);
  const { head, pools } = ownHosts(cluster.spec);
  const known = [...(head ? [head] : []), ...pools.flatMap(({ hosts }) => hosts)].find(
    ({ name }) => name === node.address,
  );
  const host = {
    ...(known ?? { name: node.address, address: node.address }),
    ...(user && { user }),
    ...(key && { key }),
  };
  return sshHost(targetOf(host, reachedFrom(cluster.folder)));
}

async function filesOf(
  address: string,
  place: Place,
  connect: () => Promise<Host>,
  cluster: string,
  { options }: Invocation,
  io: Io,
): Promise<NodeFile[]> {
  const folder = `nodes/${address.replaceAll(/[^\w.-]/g, '_')}`;
  const on = (name: string): boolean => options[name] !== false;
  try {
    const host = await connect();
    const request = {
      cluster,
      host,
      place,
      logs: on('logs'),
      debugState: on('debug-state'),
      pip: on('pip'),
      processes: on('processes'),
      processesVerbose: on('processes-verbose'),
    };
    const files = await dumpNode(request, io.signal);
    return files.map(({ name, content }) => ({
      name: `${folder}/${name}`,
      what: `of ${address}`,
      text: content.toString('utf8'),
    }));
  } catch (error) {
    io.signal.throwIfAborted();
    return [
      { name: `${folder}/problem.txt`, what: 'why it could not be asked', text: `${(error as Error).message}\n` },
    ];
  }
}
