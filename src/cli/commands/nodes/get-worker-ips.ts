import type { Run } from '../../command.ts';
import { workerAddresses } from '../../shared/node-list.ts';
import { withRemoteMeant } from '../../shared/remote-cluster.ts';
import type { getWorkerIpsOptions } from './declaration.ts';

export const run: Run<typeof getWorkerIpsOptions> = (invocation, io) =>
  withRemoteMeant(invocation, io, async (cluster) => {
    const addresses = await workerAddresses(cluster, io);
    io.out(io.json ? `${JSON.stringify({ addresses })}\n` : addresses.map((address) => `${address}\n`).join(''));
    return 0;
  });
