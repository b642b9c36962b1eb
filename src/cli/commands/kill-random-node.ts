import { execErrors } from '../../launcher/exec-errors.ts';
import { cutNode, oneOf, stopNode } from '../../launcher/kill-node.ts';
import { hostOfNode, workerNode } from '../../launcher/node-shell.ts';
import type { Run } from '../command.ts';
import { confirmed } from '../confirm.ts';
import { withRemote } from './exec-cluster.ts';
import { workerAddresses } from './node-list.ts';

export const run: Run = (invocation, io) =>
  withRemote(invocation, io, async (cluster) => {
    const { yes, hard } = invocation.options;
    if (!(await confirmed('This will kill a node in your cluster. Confirm', yes === true, io))) return 1;
    const [first, ...more] = await workerAddresses(cluster, io);
    if (first === undefined) throw execErrors.NoWorkers({ name: cluster.name });
    const node = workerNode(cluster, oneOf([first, ...more]));
    const host = await hostOfNode(cluster, node, io.signal);
    await (hard === true ? cutNode : stopNode)(host, cluster.name, node.place, io.signal);
    io.out(io.json ? `${JSON.stringify({ address: node.address, hard: hard === true })}\n` : `${node.address}\n`);
    return 0;
  });
