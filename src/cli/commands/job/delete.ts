import { openJobs } from '../../../client/jobs.ts';
import type { Run } from '../../command.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import { rayOutput } from '../../shared/ray-output.ts';
import type { jobOptions } from './declaration.ts';

export const run: Run<typeof jobOptions> = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const jobs = await openJobs({ http, signal: io.signal, events: io.events });
    const ray = rayOutput(invocation, io);
    await ray?.server(http);
    for (const id of invocation.args) {
      await jobs.remove(id);
      if (ray !== undefined) ray.line(`Job '${id}' deleted successfully`);
      else io.out(io.json ? `${JSON.stringify({ id, deleted: true })}\n` : `Job '${id}' deleted successfully\n`);
    }
    return 0;
  });
