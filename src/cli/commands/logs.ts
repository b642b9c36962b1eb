import { openText } from '../../launcher/exec.ts';
import { findNode, hostOfNode } from '../../launcher/node-shell.ts';
import { rayLogText, stepLogsText } from '../../launcher/node-shell-logs.ts';
import type { Run } from '../command.ts';
import { withRemote } from './exec-cluster.ts';
import { nodesOf } from './node-list.ts';

export const run: Run = (invocation, io) =>
  withRemote(invocation, io, async (cluster) => {
    const { lines, follow, file } = invocation.options as { lines: number; follow?: boolean; file?: string };
    const node = await findNode(cluster, invocation.args.at(-1)!, () => nodesOf(cluster, io));
    const host = await hostOfNode(cluster, node, io.signal);
    const request = { cluster: cluster.name, place: node.place, lines, follow: follow === true };
    const text = file === undefined ? stepLogsText(request) : rayLogText(request, file);
    return await openText({ host, stdio: ['ignore', 'inherit', 'inherit'], terminal: false }, text, io.signal);
  });
