import type { JobFacts } from '../../../client/jobs.ts';
import { openJobs } from '../../../client/jobs.ts';
import type { Run } from '../../command.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import { jobDetailsText, rayOutput } from '../../shared/ray-output.ts';
import { jobTable } from '../../shared/tables.ts';
import type { jobListOptions } from './declaration.ts';

export const run: Run<typeof jobListOptions> = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const ray = rayOutput(invocation, io);
    if (ray !== undefined) {
      await ray.server(http);
      ray.line(jobDetailsText(await http.json<Record<string, unknown>[]>('GET', '/api/jobs/')));
      return 0;
    }
    const { state, user, search, limit } = invocation.options;
    const jobs = await openJobs({ http, signal: io.signal, events: io.events });
    const found: JobFacts[] = [];
    const query = { ...(state && { state: state.join(',') }), ...(user && { user }), ...(search && { search }) };
    for await (const job of jobs.list({ ...query, ...(limit !== undefined && { limit }) })) {
      if (io.json) io.out(`${JSON.stringify(job.answer)}\n`);
      else found.push(job);
    }
    if (!io.json) io.out(found.length === 0 ? 'no jobs\n' : jobTable(found, Date.now(), io));
    return 0;
  });
