import type { Run } from '../command.ts';
import { withRemoteMeant } from './exec-cluster.ts';
import type { getWorkerIpsOptions } from './launch.ts';
import { workerAddresses } from './node-list.ts';

export const run: Run<typeof getWorkerIpsOptions> = (invocation, io) =>
  withRemoteMeant(invocation, io, async (cluster) => {
    const addresses = await workerAddresses(cluster, io);
    io.out(io.json ? `${JSON.stringify({ addresses })}\n` : addresses.map((address) => `${address}\n`).join(''));
    return 0;
  });
