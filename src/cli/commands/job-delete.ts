import { openJobs } from '../../head/client/jobs.ts';
import type { Run } from '../command.ts';
import { withHead } from './cluster-connection.ts';

export const run: Run = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const jobs = await openJobs({ http, signal: io.signal, events: io.events });
    for (const id of invocation.args) {
      await jobs.remove(id);
      io.out(io.json ? `${JSON.stringify({ id, deleted: true })}\n` : `Job '${id}' deleted successfully\n`);
    }
    return 0;
  });
