import type { Host } from '../../../base/host.ts';
import { sshHost } from '../../../base/ssh/host.ts';
import { thisHost } from '../../../base/this-host.ts';
import type { CommandPlace } from '../../../bringup/node/node.ts';
import { targetOf } from '../../../bringup/node/reach.ts';
import type { MeantCluster } from '../../../client/target.ts';
import { ownHosts } from '../../../core/spec/local.ts';
import { dumpNode } from '../../../launcher/nodes/dump.ts';
import { type FoundNode, findNode, headNode, hostOfNode, workerNode } from '../../../launcher/nodes/find-node.ts';
import type { RemoteCluster } from '../../../launcher/reach/remote-cluster.ts';
import { reachedFrom } from '../../../state/state-folder.ts';
import type { Io } from '../../command.ts';
import type { OptionValues } from '../../option-values.ts';
import { nodesOf, workerAddresses } from '../../shared/node-list.ts';
import { withRemote } from '../../shared/remote-cluster.ts';
import type { clusterDumpOptions } from './declaration.ts';

export interface NodeFile {
  readonly name: string;
  readonly what: string;
  readonly text: string;
}

type Options = OptionValues<typeof clusterDumpOptions>;

/** Files of all nodes that are meant. A node that cannot be asked leaves a file that says why. */
export async function nodeFiles(meant: MeantCluster | undefined, options: Options, io: Io): Promise<NodeFile[]> {
  if (options.local || meant === undefined)
    return await filesOf('this-machine', { kind: 'host' }, () => Promise.resolve(thisHost()), '', options, io);
  return await withRemote(meant, io, async (cluster) => {
    const nodes = await chosen(cluster, options, io);
    const all = await Promise.all(
      nodes.map((node) =>
        filesOf(
          node.address,
          placeOf(node, options),
          () => open(cluster, node, options, io),
          cluster.name,
          options,
          io,
        ),
      ),
    );
    return all.flat();
  });
}

async function chosen(cluster: RemoteCluster, options: Options, io: Io): Promise<readonly FoundNode[]> {
  const words = options.host?.split(',').filter(Boolean);
  if (words !== undefined)
    return await Promise.all(words.map((word) => findNode(cluster, word.trim(), () => nodesOf(cluster, io))));
  const workers = await workerAddresses(cluster, io).catch(() => cluster.workerAddresses);
  return [headNode(cluster), ...workers.map((address) => workerNode(cluster, address))];
}

const placeOf = ({ place }: FoundNode, options: Options): CommandPlace => {
  const name = options.docker;
  return name === undefined
    ? place
    : { kind: 'container', engine: place.kind === 'host' ? 'docker' : place.engine, name };
};

/** With the user and the key of the options, where they are given. */
async function open(cluster: RemoteCluster, node: FoundNode, options: Options, io: Io): Promise<Host> {
  const { sshUser: user, sshKey: key } = options;
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
  place: CommandPlace,
  connect: () => Promise<Host>,
  cluster: string,
  options: Options,
  io: Io,
): Promise<NodeFile[]> {
  const folder = `nodes/${address.replaceAll(/[^\w.-]/g, '_')}`;
  try {
    const host = await connect();
    const request = {
      cluster,
      host,
      place,
      logs: options.logs,
      debugState: options.debugState,
      pip: options.pip,
      processes: options.processes,
      processesVerbose: options.processesVerbose,
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
      { name: `${folder}/problem.txt`, what: 'why it could not be collected', text: `${(error as Error).message}\n` },
    ];
  }
}
