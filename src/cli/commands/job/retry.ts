import { openJobs } from '../../../client/jobs.ts';
import type { Run } from '../../command.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import type { jobRetryOptions } from './declaration.ts';
import { followToEnd, interruptible } from './follow.ts';

export const run: Run<typeof jobRetryOptions> = async (invocation, io) => {
  const detaching = interruptible(io);
  return await withHead(
    invocation,
    io,
    async (http) => {
      const jobs = await openJobs({ http, signal: detaching.signal, events: io.events });
      const before = await jobs.get(invocation.args[0]!);
      const job = await jobs.retry(before.id);
      const first = job.id === before.id ? before.attempts + 1 : 1;
      if (!invocation.options.noWait) return await followToEnd(jobs, job.id, { attempt: first, detaching }, io);
      io.out(io.json ? `${JSON.stringify({ id: job.id, state: job.state })}\n` : `Job '${job.id}' was queued again\n`);
      return 0;
    },
    detaching.signal,
  );
};
