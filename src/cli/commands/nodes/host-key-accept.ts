import { findNode } from '../../../launcher/nodes/find-node.ts';
import { acceptKey, lookAtKey } from '../../../launcher/nodes/host-key.ts';
import type { Run } from '../../command.ts';
import { confirmed } from '../../confirm.ts';
import { nodesOf } from '../../shared/node-list.ts';
import { withRemoteMeant } from '../../shared/remote-cluster.ts';
import type { hostKeyAcceptOptions } from './declaration.ts';

export const run: Run<typeof hostKeyAcceptOptions> = (invocation, io) =>
  withRemoteMeant(invocation, io, async (cluster) => {
    const node = await findNode(cluster, invocation.args.at(-1)!, () => nodesOf(cluster, io));
    const state = await lookAtKey(cluster, node, io.signal);
    const pinned = state.pinned.map(({ type, fingerprint }) => `${type} ${fingerprint}`).join(', ');
    if (state.kind === 'same') {
      io.out(
        io.json
          ? `${JSON.stringify({ changed: false, pinned })}\n`
          : `${node.address} still has the pinned key: ${pinned}\n`,
      );
      return 0;
    }
    const offered = state.offered ?? 'a key of another type';
    const question = `The host key of ${node.address} changed from ${pinned} to ${offered}. Accept the new key?`;
    if (!(await confirmed(question, invocation.options.yes, io))) return 1;
    const taken = await acceptKey(cluster, node, state.offered, io.signal);
    const now = taken.map(({ type, fingerprint }) => `${type} ${fingerprint}`).join(', ');
    io.out(
      io.json
        ? `${JSON.stringify({ changed: true, pinned: now })}\n`
        : `Accepted the new key of ${node.address}: ${now}\n`,
    );
    return 0;
  });
