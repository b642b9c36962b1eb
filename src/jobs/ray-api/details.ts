import { redact, redactTexts } from '../../base/redact.ts';
import type { Job, JobState } from '../../core/jobs/job.ts';
import { withoutOutput } from '../../core/jobs/messages.ts';
import type { Driver } from '../../engines/runner.ts';
import { maskRuntimeEnv } from '../packages/runtime-env.ts';
import { JobTexts } from '../queue/job-texts.ts';

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

/** Ray's JobDetails, key for key; `full` for the owner, who alone may read output, credentials and values of `env_vars`. */
export function jobDetails(
  job: Job,
  full: boolean,
  driver?: Driver,
  runtimeEnv = full ? job.runtimeEnv : maskRuntimeEnv(job.runtimeEnv),
): Record<string, unknown> {
  const attempt = job.attempts.at(-1);
  return {
    type: 'SUBMISSION',
    job_id: driver?.id ?? null,
    submission_id: job.id,
    driver_info: driver ? { id: driver.id, node_ip_address: driver.address, pid: driver.pid } : null,
    status: rayStatus(job.state),
    entrypoint: full ? job.entrypoint : redact(job.entrypoint),
    message: full ? job.message : withoutOutput(job.message),
    error_type: job.errorType ?? null,
    start_time: job.submittedAt,
    end_time: job.endedAt ?? null,
    metadata: full ? job.metadata : redactTexts(job.metadata),
    runtime_env: runtimeEnv,
    driver_agent_http_address: null,
    driver_node_id: attempt?.node ?? null,
    driver_exit_code: job.exitCode ?? null,
  };
}

const longestListedMessage = 2_000;
const listed = { owner: new JobTexts(), others: new JobTexts() };

/**
 * A job in a listing, as JSON: its environment masked for everybody, quoted output and credentials for its owner alone.
 * Its text is made once, but for a `driver` that is not journalled yet.
 */
export function listedJob(job: Job, owner: boolean, driver?: Driver): string {
  const make = (): string => {
    const message = owner ? job.message : withoutOutput(job.message);
    const shown = message.length > longestListedMessage ? `${message.slice(0, longestListedMessage)}…` : message;
    return JSON.stringify({
      ...jobDetails(job, owner, driver ?? job.attempts.at(-1)?.driver, maskRuntimeEnv(job.runtimeEnv)),
      message: shown,
    });
  };
  return driver ? make() : (owner ? listed.owner : listed.others).of(job, make);
}

/** A job that somebody submitted to Ray itself, or a driver that was started by hand, as Ray tells of it. */
export interface OtherJob {
  readonly type: string;
  readonly job_id: string | null;
  readonly submission_id: string | null;
  readonly status: string;
  readonly entrypoint: string;
  readonly message?: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly runtime_env?: Readonly<Record<string, unknown>> | null;
  readonly start_time?: number | null;
  readonly end_time?: number | null;
}

const othersWithin = 3_000;

/** None where they cannot be had in time: the queue answers also while Ray does not. */
export async function othersOf({
  others,
}: {
  readonly others?: (signal: AbortSignal) => Promise<readonly OtherJob[]>;
}): Promise<readonly OtherJob[]> {
  return (await others?.(AbortSignal.timeout(othersWithin)).catch(() => [])) ?? [];
}

/** Such a job in a listing, said to be none of Manta's. Ray's token is for administrators, and so is what it brought about. */
export function listedOther(job: OtherJob, admin: boolean): string {
  const message = (admin ? job.message : withoutOutput(job.message ?? '')) ?? '';
  return JSON.stringify({
    ...job,
    entrypoint: admin ? job.entrypoint : redact(job.entrypoint),
    message: message.slice(0, longestListedMessage),
    runtime_env: job.runtime_env ? maskRuntimeEnv(job.runtime_env) : (job.runtime_env ?? null),
    metadata: { ...(admin ? job.metadata : redactTexts(job.metadata)), submitted_to: 'ray' },
  });
}
