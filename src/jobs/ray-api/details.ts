import type { Job, JobState } from '../../core/jobs/job.ts';
import { maskRuntimeEnv } from '../runtime-env.ts';

/** Ray's five words. */
function rayStatus(state: JobState): string {
  switch (state) {
    case 'held':
    case 'queued':
    case 'starting':
      return 'PENDING';
    case 'running':
    case 'stopping':
      return 'RUNNING';
    case 'succeeded':
      return 'SUCCEEDED';
    case 'failed':
      return 'FAILED';
    case 'stopped':
      return 'STOPPED';
  }
}

/** Ray's JobDetails, key for key. */
export function jobDetails(job: Job, full: boolean): Record<string, unknown> {
  const attempt = job.attempts.at(-1);
  return {
    type: 'SUBMISSION',
    job_id: null,
    submission_id: job.id,
    driver_info: null,
    status: rayStatus(job.state),
    entrypoint: job.entrypoint,
    message: job.message,
    error_type: job.errorType ?? null,
    start_time: job.submittedAt,
    end_time: job.endedAt ?? null,
    metadata: job.metadata,
    runtime_env: full ? job.runtimeEnv : maskRuntimeEnv(job.runtimeEnv),
    driver_agent_http_address: null,
    driver_node_id: attempt?.node ?? null,
    driver_exit_code: job.exitCode ?? null,
  };
}

const longestListedMessage = 2_000;
const listed = new WeakMap<Job, string>();

/** A job in a listing, as JSON. A job is never changed, only replaced: its text is made once. */
export function listedJob(job: Job): string {
  let text = listed.get(job);
  if (text === undefined) {
    const message =
      job.message.length > longestListedMessage ? `${job.message.slice(0, longestListedMessage)}…` : job.message;
    text = JSON.stringify({ ...jobDetails(job, false), message });
    listed.set(job, text);
  }
  return text;
}
