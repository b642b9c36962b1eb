import { openJobs } from '../../head/client/jobs.ts';
import type { Run } from '../command.ts';
import { withHead } from './cluster-connection.ts';
import { jobText } from './job-text.ts';

export const run: Run = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const jobs = await openJobs({ http, signal: io.signal, events: io.events });
    const job = await jobs.get(invocation.args[0]!);
    io.out(io.json ? `${JSON.stringify(job.answer)}\n` : jobText(job));
    return 0;
  });
