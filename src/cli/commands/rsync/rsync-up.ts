import { launcherEvents } from '../../../launcher/events.ts';
import { copyPaths, copyUp } from '../../../launcher/exec/rsync.ts';
import { headNode, hostOfNode, workerNode } from '../../../launcher/nodes/find-node.ts';
import { localFiles } from '../../../launcher/up/mounts.ts';
import type { Run } from '../../command.ts';
import { kubeMeant } from '../../shared/find-cluster.ts';
import { workerAddresses } from '../../shared/node-list.ts';
import { withRemoteMeant } from '../../shared/remote-cluster.ts';
import type { rsyncUpOptions } from './declaration.ts';
import { onThisSide } from './paths.ts';

export const run: Run<typeof rsyncUpOptions> = async (invocation, io) => {
  const [source, target] = invocation.args.slice(invocation.cluster === undefined ? 0 : 1);
  const paths = copyPaths(source === undefined ? undefined : onThisSide(source, io), target);
  const onKube = kubeMeant(invocation, io);
  if (onKube !== undefined) {
    const { copyOnKube } = await import('./kube.ts');
    return await copyOnKube(onKube, { direction: 'up', paths, isForAll: invocation.options.allNodes }, io);
  }
  return await withRemoteMeant(invocation, io, async (cluster) => {
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
    if (all) io.events.emit(launcherEvents.execAllNodes, { count: nodes.length });
    return 0;
  });
};
