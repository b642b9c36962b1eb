import { wallClock } from '../../../base/time/wall-clock.ts';
import type { JobFacts, JobsClient } from '../../../client/jobs.ts';
import { openJobs } from '../../../client/jobs.ts';
import { isPassing } from '../../../client/persistent.ts';
import { durationOf } from '../../../core/duration.ts';
import { isOver } from '../../../core/jobs/job.ts';
import type { Run } from '../../command.ts';
import { cliErrors } from '../../errors.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import { jobText } from '../../shared/tables.ts';
import type { jobWaitOptions } from './declaration.ts';
import { exitCodeOf } from './follow.ts';

export const run: Run<typeof jobWaitOptions> = (invocation, io) => {
  const { timeout: text } = invocation.options;
  const timeout = text === undefined ? undefined : durationOf(text);
  if (text !== undefined && timeout === undefined)
    throw cliErrors.BadValue({
      command: 'manta job wait',
      option: '--timeout',
      value: text,
      expected: 'a duration such as 90s or 2h',
    });
  const deadline = timeout === undefined ? undefined : AbortSignal.timeout(timeout);
  const signal = deadline === undefined ? io.signal : AbortSignal.any([io.signal, deadline]);
  return withHead(invocation, io, async (http) => {
    const jobs = await openJobs({ http, signal: io.signal, events: io.events });
    let exit = 0;
    for (const id of invocation.args) {
      const job = await whenOver(jobs, id, signal).catch((error: unknown) => {
        if (deadline?.aborted === true && !io.signal.aborted) return undefined;
        throw error;
      });
      const shown = job ?? (await jobs.get(id));
      const { state, exitCode, cause } = shown;
      io.out(io.json ? `${JSON.stringify({ id, state, exitCode, cause })}\n` : jobText(shown));
      if (exit === 0) exit = job === undefined ? 1 : exitCodeOf(job);
    }
    return exit;
  });
};

const longestPause = 1_000;
/** A head that has not answered for so long is given up. */
const patience = 600_000;

/** The job once it is over, through restarts of its head. */
export async function whenOver(jobs: JobsClient, id: string, signal: AbortSignal): Promise<JobFacts> {
  let heardAt = performance.now();
  for (let pause = 50; ; pause = Math.min(longestPause, pause * 1.5)) {
    try {
      const job = await jobs.get(id);
      if (isOver(job.state)) return job;
      heardAt = performance.now();
    } catch (error) {
      if (!isPassing(error) || performance.now() - heardAt > patience) throw error;
    }
    await wallClock.sleep(pause, signal);
  }
}
