import { openJobs } from '../../../client/jobs.ts';
import type { Run } from '../../command.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import { rayOutput } from '../../shared/ray-output.ts';
import { jobText } from '../../shared/tables.ts';
import type { jobOptions } from './declaration.ts';

export const run: Run<typeof jobOptions> = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const jobs = await openJobs({ http, signal: io.signal, events: io.events });
    const ray = rayOutput(invocation, io);
    await ray?.server(http);
    const job = await jobs.get(invocation.args[0]!);
    if (ray !== undefined) ray.status(job);
    else io.out(io.json ? `${JSON.stringify(job.answer)}\n` : jobText(job));
    return 0;
  });
