import { findNode } from '../../launcher/node-shell.ts';
import { acceptKey, lookAtKey } from '../../launcher/node-shell-key.ts';
import type { Run } from '../command.ts';
import { confirmed } from '../confirm.ts';
import { withRemoteMeant } from './exec-cluster.ts';
import type { hostKeyAcceptOptions } from './launch.ts';
import { nodesOf } from './node-list.ts';

export const run: Run<typeof hostKeyAcceptOptions> = (invocation, io) =>
  withRemoteMeant(invocation, io, async (cluster) => {
    const node = await findNode(cluster, invocation.args.at(-1)!, () => nodesOf(cluster, io));
    const state = await lookAtKey(cluster, node, io.signal);
    const pinned = state.pinned.map(({ type, fingerprint }) => `${type} ${fingerprint}`).join(', ');
    if (state.kind === 'same') {
      io.out(
        io.json
          ? `${JSON.stringify({ changed: false, pinned })}\n`
          : `${node.address} shows the pinned key: ${pinned}\n`,
      );
      return 0;
    }
    const offered = state.offered ?? 'a key of another type';
    const question = `${node.address} had the key ${pinned} and shows ${offered} now. Take the new one?`;
    if (!(await confirmed(question, invocation.options.yes, io))) return 1;
    const taken = await acceptKey(cluster, node, state.offered, io.signal);
    const now = taken.map(({ type, fingerprint }) => `${type} ${fingerprint}`).join(', ');
    io.out(
      io.json ? `${JSON.stringify({ changed: true, pinned: now })}\n` : `${node.address} is known by ${now} now.\n`,
    );
    return 0;
  });
