import type { SubmitBody } from '../../../api/types.ts';
import { clientErrors } from '../../../client/errors.ts';
import type { HttpClient } from '../../../client/http.ts';
import { openJobs } from '../../../client/jobs.ts';
import type { Io, Run } from '../../command.ts';
import { cliEvents } from '../../events.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import { rayOutput } from '../../shared/ray-output.ts';
import { localTime } from '../../shared/times.ts';
import type { jobSubmitOptions } from './declaration.ts';
import { followToEnd, interruptible } from './follow.ts';
import { submissionOf } from './submission.ts';

export const run: Run<typeof jobSubmitOptions> = async (invocation, io) => {
  const body = await submissionOf(invocation, io);
  const detaching = interruptible(io);
  return await withHead(
    invocation,
    io,
    async (http) => {
      const ray = rayOutput(invocation, io);
      await ray?.server(http);
      const jobs = await openJobs({ http, signal: detaching.signal, events: io.events });
      const whole = await withUploads(body, http, io);
      const job = await jobs.submit(whole).catch((error: unknown) => {
        if (!clientErrors.Broken.is(error) || whole.id === undefined) throw error;
        throw clientErrors.SubmitUnanswered({ job: whole.id, why: error.message }, error);
      });
      const { id, notBefore } = job;
      const leave = invocation.options.noWait || body.cron !== undefined;
      if (ray !== undefined) ray.submitted(id);
      else if (!leave) io.events.emit(cliEvents.jobSubmitted, { job: id });
      if (!leave) {
        ray?.line('Tailing logs until the job exits (disable with --no-wait):');
        return await followToEnd(jobs, id, { attempt: 1, detaching, ray }, io);
      }
      if (ray !== undefined) return 0;
      io.out(io.json ? `${JSON.stringify({ id, state: job.state })}\n` : `Job '${id}' submitted successfully\n`);
      if (body.cron === undefined) io.events.emit(cliEvents.jobNextSteps, { job: id });
      else
        io.events.emit(cliEvents.jobSchedule, {
          job: id,
          next: notBefore === undefined ? 'an unknown time' : localTime(notBefore),
        });
      return 0;
    },
    detaching.signal,
  );
};

/** The code that packs and uploads loads only when there is something to upload. */
async function withUploads(body: SubmitBody, http: HttpClient, io: Io): Promise<SubmitBody> {
  if (body.runtime_env === undefined) return body;
  const { uploadRuntimeEnv } = await import('../../../client/runtime-env.ts');
  return {
    ...body,
    runtime_env: await uploadRuntimeEnv(body.runtime_env, { http, events: io.events, env: io.env, cwd: io.cwd }),
  };
}
