import { openText } from '../../../launcher/exec/exec.ts';
import { findNode, hostOfNode } from '../../../launcher/nodes/find-node.ts';
import { rayLogText, stepLogsText } from '../../../launcher/nodes/logs.ts';
import type { Run } from '../../command.ts';
import { kubeMeant } from '../../shared/find-cluster.ts';
import { nodesOf } from '../../shared/node-list.ts';
import { withRemoteMeant } from '../../shared/remote-cluster.ts';
import type { logsOptions } from './declaration.ts';

export const run: Run<typeof logsOptions> = async (invocation, io) => {
  const onKube = kubeMeant(invocation, io);
  if (onKube !== undefined)
    return await (await import('./kube-logs.ts')).logsOnKube(onKube, invocation.args.at(-1)!, invocation.options, io);
  return await withRemoteMeant(invocation, io, async (cluster) => {
    const { lines, follow, file } = invocation.options;
    const node = await findNode(cluster, invocation.args.at(-1)!, () => nodesOf(cluster, io));
    const host = await hostOfNode(cluster, node, io.signal);
    const request = { cluster: cluster.name, place: node.place, lines, follow };
    const text = file === undefined ? stepLogsText(request) : rayLogText(request, file);
    return await openText({ host, stdio: ['ignore', 'inherit', 'inherit'], terminal: false }, text, io.signal);
  });
};
