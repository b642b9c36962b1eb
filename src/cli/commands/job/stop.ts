import { openJobs } from '../../../client/jobs.ts';
import { isOver } from '../../../core/jobs/job.ts';
import type { Run } from '../../command.ts';
import { cliEvents } from '../../events.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import { rayOutput } from '../../shared/ray-output.ts';
import { jobText } from '../../shared/tables.ts';
import type { jobStopOptions } from './declaration.ts';
import { whenOver } from './wait.ts';

export const run: Run<typeof jobStopOptions> = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const jobs = await openJobs({ http, signal: io.signal, events: io.events });
    const ray = rayOutput(invocation, io);
    await ray?.server(http);
    // All are asked first: waiting for one must not keep the others running.
    for (const id of invocation.args) {
      if (ray === undefined) io.events.emit(cliEvents.jobStopping, { job: id });
      else ray.line(`Attempting to stop job '${id}'`);
      await jobs.stop(id);
    }
    if (ray !== undefined && invocation.options.noWait) return 0;
    for (const id of invocation.args) {
      ray?.line(`Waiting for job '${id}' to exit (disable with --no-wait):`);
      const job = invocation.options.noWait ? await jobs.get(id) : await whenOver(jobs, id, io.signal);
      const over = isOver(job.state) ? jobText(job) : `Stopping job '${id}', which is ${job.state}\n`;
      if (ray !== undefined) ray.status(job);
      else io.out(io.json ? `${JSON.stringify({ id, state: job.state, exitCode: job.exitCode })}\n` : over);
    }
    return 0;
  });
