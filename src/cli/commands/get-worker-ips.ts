import type { Run } from '../command.ts';
import { withRemote } from './exec-cluster.ts';
import { workerAddresses } from './node-list.ts';

export const run: Run = (invocation, io) =>
  withRemote(invocation, io, async (cluster) => {
    const addresses = await workerAddresses(cluster, io);
    io.out(io.json ? `${JSON.stringify({ addresses })}\n` : addresses.map((address) => `${address}\n`).join(''));
    return 0;
  });
