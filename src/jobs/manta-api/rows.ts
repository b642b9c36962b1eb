import type { JobRow, OtherRow } from '../../api/jobs.ts';
import { ownValue } from '../../base/own-value.ts';
import type { Job, JobState } from '../../core/jobs/job.ts';
import { withoutOutput } from '../../core/jobs/messages.ts';
import type { OtherJob } from '../ray-api/details.ts';
import { maskRuntimeEnv } from '../runtime-env.ts';

/** The row of a job. Output that Ray's message of a failure quotes is not part of it. */
export function rowOf(job: Job): JobRow {
  const node = job.attempts.at(-1)?.node;
  return {
    id: job.id,
    user: job.user,
    entrypoint: job.entrypoint.length > 500 ? `${job.entrypoint.slice(0, 500)}…` : job.entrypoint,
    state: job.state,
    message: withoutOutput(job.message).slice(0, 500),
    priority: job.priority,
    resources: job.resources,
    attempts: job.attempts.length,
    submittedAt: job.submittedAt,
    ...(job.startedAt !== undefined && { startedAt: job.startedAt }),
    ...(job.endedAt !== undefined && { endedAt: job.endedAt }),
    ...(job.exitCode !== undefined && { exitCode: job.exitCode }),
    ...(node !== undefined && { node }),
  };
}

const statesOfRay: Readonly<Record<string, JobState>> = {
  PENDING: 'queued',
  RUNNING: 'running',
  SUCCEEDED: 'succeeded',
  STOPPED: 'stopped',
};

export function otherRow(job: OtherJob): OtherRow {
  return {
    id: job.submission_id ?? job.job_id ?? '',
    submittedTo: 'ray',
    state: ownValue(statesOfRay, job.status) ?? 'failed',
    entrypoint: job.entrypoint.slice(0, 500),
    ...(typeof job.start_time === 'number' && { submittedAt: Math.floor(job.start_time) }),
    ...(typeof job.end_time === 'number' && { endedAt: Math.floor(job.end_time) }),
  };
}

const rows = new WeakMap<Job, string>();

/** The row as JSON, made once a job: jobs are replaced, never changed. */
export function rowText(job: Job): string {
  let text = rows.get(job);
  if (text === undefined) {
    text = JSON.stringify(rowOf(job));
    rows.set(job, text);
  }
  return text;
}

/** A job in full; for others than its owner without the values of its environment and without quoted output. */
export function answerOf(job: Job, full: boolean): Job {
  if (full) return job;
  return {
    ...job,
    runtimeEnv: maskRuntimeEnv(job.runtimeEnv),
    message: withoutOutput(job.message),
    attempts: job.attempts.map((attempt) =>
      attempt.message === undefined ? attempt : { ...attempt, message: withoutOutput(attempt.message) },
    ),
  };
}

export interface JobsQuery {
  readonly states: readonly string[];
  readonly user?: string;
  readonly search?: string;
  readonly limit: number;
  /** Id of the last job of the page before. */
  readonly before?: string;
}

/** A page of jobs, newest first, and how many match. */
export function pageOf(jobs: Iterable<Job>, query: JobsQuery): { page: Job[]; total: number; next?: string } {
  const search = query.search?.toLowerCase();
  const states = new Set(query.states);
  const page: Job[] = [];
  let total = 0;
  let reached = query.before === undefined;
  for (const job of [...jobs].reverse()) {
    const matches =
      (states.size === 0 || states.has(job.state)) &&
      (query.user === undefined || job.user === query.user) &&
      (search === undefined || [job.id, job.entrypoint, job.user].some((each) => each.toLowerCase().includes(search)));
    if (matches) {
      total += 1;
      if (reached && page.length <= query.limit) page.push(job);
    }
    if (job.id === query.before) reached = true;
  }
  const more = page.length > query.limit;
  if (more) page.pop();
  const last = page.at(-1);
  return { page, total, ...(more && last && { next: last.id }) };
}
