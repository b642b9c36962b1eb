import type { JobRow, OtherRow } from '../../api/jobs.ts';
import { ownValue } from '../../base/own-value.ts';
import { redact, redactTexts } from '../../base/redact.ts';
import { Slices } from '../../base/slices.ts';
import type { Job, JobState } from '../../core/jobs/job.ts';
import { withoutOutput } from '../../core/jobs/messages.ts';
import { maskRuntimeEnv } from '../packages/runtime-env.ts';
import { JobTexts } from '../queue/job-texts.ts';
import type { OtherJob } from '../ray-api/details.ts';

const longestShown = 500;
/** Of a longer command no more is looked at: to find the credentials in all of it takes long. */
const longestRead = 2_000;
/** A credential that is cut in two may not be recognized: so much of what was read is not shown. */
const doubtful = 500;

/** A command as a row shows it. */
function shownCommand(command: string): string {
  const isCut = command.length > longestRead;
  const shown = redact(isCut ? command.slice(0, longestRead) : command);
  const sure = isCut ? shown.slice(0, -doubtful) : shown;
  return isCut || sure.length > longestShown ? `${sure.slice(0, longestShown)}…` : sure;
}

const commands = new JobTexts();
const commandOf = (job: Job): string => commands.of(job, () => shownCommand(job.entrypoint));

/** The row of a job, the same for everybody: without credentials, and without the output that a message quotes. */
function rowOf(job: Job): JobRow {
  const node = job.attempts.at(-1)?.node;
  return {
    id: job.id,
    user: job.user,
    entrypoint: commandOf(job),
    state: job.state,
    message: withoutOutput(job.message).slice(0, longestShown),
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
    entrypoint: shownCommand(job.entrypoint),
    ...(typeof job.start_time === 'number' && { submittedAt: Math.floor(job.start_time) }),
    ...(typeof job.end_time === 'number' && { endedAt: Math.floor(job.end_time) }),
  };
}

const rows = new JobTexts({ longest: 16 << 10 });

/** The row as JSON, the same text for everybody who is told of it. */
export const rowText = (job: Job): string => rows.of(job, () => JSON.stringify(rowOf(job)));

export async function rowTexts(jobs: readonly Job[]): Promise<string[]> {
  const texts: string[] = [];
  const slices = new Slices();
  for (const job of jobs) {
    texts.push(rowText(job));
    await slices.pause();
  }
  return texts;
}

/** A job in full; for others than its owner without credentials, the values of its environment and quoted output. */
export function answerOf(job: Job, full: boolean): Job {
  if (full) return job;
  return {
    ...job,
    entrypoint: redact(job.entrypoint),
    metadata: redactTexts(job.metadata),
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

/** What a row does not show is not found either: it could be guessed letter by letter. */
function mentions(job: Job, search: string): boolean {
  const has = (text: string): boolean => text.toLowerCase().includes(search);
  return has(job.id) || has(job.user) || (has(job.entrypoint.slice(0, longestRead)) && has(commandOf(job)));
}

/** A page of jobs, newest first, and how many match. What is searched in has to be made for every job, which may take long. */
export async function pageOf(
  jobs: Iterable<Job>,
  query: JobsQuery,
  signal?: AbortSignal,
): Promise<{ page: Job[]; total: number; next?: string }> {
  const search = query.search?.toLowerCase();
  const states = new Set(query.states);
  const page: Job[] = [];
  let total = 0;
  let reached = query.before === undefined;
  const slices = new Slices();
  for (const job of [...jobs].reverse()) {
    if (slices.isOver) await slices.pause();
    if (signal?.aborted) break;
    const matches =
      (states.size === 0 || states.has(job.state)) &&
      (query.user === undefined || job.user === query.user) &&
      (search === undefined || mentions(job, search));
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
