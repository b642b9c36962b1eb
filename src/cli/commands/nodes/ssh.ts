import { openText } from '../../../launcher/exec/exec.ts';
import { findNode, hostOfNode } from '../../../launcher/nodes/find-node.ts';
import { portForwards } from '../../../launcher/reach/port-forward.ts';
import type { Run } from '../../command.ts';
import { quoted } from '../../quote.ts';
import { atTerminal } from '../../shared/cluster-head.ts';
import { nodesOf } from '../../shared/node-list.ts';
import { withRemoteMeant } from '../../shared/remote-cluster.ts';
import type { sshOptions } from './declaration.ts';

export const run: Run<typeof sshOptions> = (invocation, io) =>
  withRemoteMeant(invocation, io, async (cluster) => {
    const forwards = await portForwards(invocation.options.portForward ?? []);
    const node = await findNode(cluster, invocation.args.at(-1)!, () => nodesOf(cluster, io));
    const host = await hostOfNode(cluster, node, io.signal);
    const words = invocation.rest;
    // One word is a line for the shell there; several stay the words that they are.
    const line = words.length === 1 ? words[0]! : words.map(quoted).join(' ');
    const text = words.length === 0 ? 'exec "${SHELL:-/bin/sh}" -l' : line;
    const terminal = atTerminal();
    return await openText(
      { host, stdio: 'inherit', terminal, ...(forwards.length > 0 && { forwards }) },
      text,
      io.signal,
    );
  });
