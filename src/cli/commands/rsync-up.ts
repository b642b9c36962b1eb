import { execEvents } from '../../launcher/exec-events.ts';
import { localFiles } from '../../launcher/mounts.ts';
import { headNode, hostOfNode, workerNode } from '../../launcher/node-shell.ts';
import { copyPaths, copyUp } from '../../launcher/rsync.ts';
import type { Run } from '../command.ts';
import { withRemoteMeant } from './exec-cluster.ts';
import type { rsyncUpOptions } from './launch.ts';
import { workerAddresses } from './node-list.ts';
import { onThisSide } from './rsync-paths.ts';

export const run: Run<typeof rsyncUpOptions> = (invocation, io) => {
  const [source, target] = invocation.args.slice(invocation.cluster === undefined ? 0 : 1);
  const paths = copyPaths(source === undefined ? undefined : onThisSide(source, io), target);
  return withRemoteMeant(invocation, io, async (cluster) => {
    const files = localFiles(cluster.spec, cluster.file.config.path, io.cwd);
    const all = invocation.options.allNodes;
    const workers = all ? await workerAddresses(cluster, io) : [];
    const nodes = [headNode(cluster), ...workers.map((address) => workerNode(cluster, address))];
    await Promise.all(
      nodes.map(async (node) => {
        const host = await hostOfNode(cluster, node, io.signal);
        const to = { cluster: cluster.name, host, place: node.place, files, events: io.events };
        await copyUp(to, paths, io.signal);
      }),
    );
    if (all) io.events.emit(execEvents.allNodes, { count: nodes.length });
    return 0;
  });
};
