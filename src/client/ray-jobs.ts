import type { SubmitBody } from '../api/types.ts';
import { ownValue } from '../base/own-value.ts';
import type { JobState } from '../core/jobs/job.ts';
import { isOver } from '../core/jobs/job.ts';
import { clientErrors } from './errors.ts';
import type { HttpClient } from './http.ts';
import type { Ending, JobFacts, JobsClient, JobsContext, ListQuery, OutputPiece, OutputQuery } from './jobs.ts';
import { readPersistently } from './persistent.ts';
import { tailFrames } from './ray-tail.ts';

// With the slash at the end: without it Ray answers 404.
const base = '/api/jobs/';
const pathOf = (id: string): string => `${base}${encodeURIComponent(id)}`;

/** Jobs by the API of a Ray head that Manta does not run. */
export class RayJobs implements JobsClient {
  readonly kind = 'ray';
  readonly #context: JobsContext;
  readonly #http: HttpClient;

  constructor(context: JobsContext) {
    this.#context = context;
    this.#http = context.http;
  }

  async submit(body: SubmitBody): Promise<JobFacts> {
    const id = await this.#submitted(rayBody(body, (what) => this.#refusal(what)));
    const { entrypoint } = body;
    return { id, state: 'queued', entrypoint, message: '', attempts: 0, answer: { submission_id: id } };
  }

  async get(id: string): Promise<JobFacts> {
    return factsOf(await this.#http.json<RayJob>('GET', pathOf(id)));
  }

  async *list({ state, user, search, limit = Number.POSITIVE_INFINITY }: ListQuery): AsyncGenerator<JobFacts> {
    if (user !== undefined) throw this.#refusal('--user (it has no users)');
    const states = state?.split(',');
    const wanted = search?.toLowerCase();
    const answer = await this.#http.json<RayJob[]>('GET', base);
    if (!Array.isArray(answer)) throw clientErrors.NoHead({ address: this.#http.shown, path: base });
    const jobs = answer.map(factsOf);
    let left = limit;
    for (const job of jobs.sort((a, b) => (b.submittedAt ?? 0) - (a.submittedAt ?? 0))) {
      if (states !== undefined && !states.includes(job.state)) continue;
      if (wanted !== undefined && !`${job.id}\n${job.entrypoint}`.toLowerCase().includes(wanted)) continue;
      if (left-- <= 0) return;
      yield job;
    }
  }

  async stop(id: string): Promise<void> {
    await this.#http.json('POST', `${pathOf(id)}/stop`, { repeatable: true });
  }

  async remove(id: string): Promise<void> {
    await this.#http.json('DELETE', pathOf(id));
  }

  retry(): Promise<JobFacts> {
    return Promise.reject(this.#refusal('job retry'));
  }

  async *read(id: string, { attempt, tail, grep, since }: OutputQuery): AsyncGenerator<OutputPiece> {
    this.#checkOutputQuery(attempt, since);
    const lines = (await this.#logs(id)).toString('utf8').split(/(?<=\n)/);
    const found = grep === undefined ? lines : lines.filter((line) => line.includes(grep));
    const text = (tail === undefined ? found : found.slice(-tail || found.length)).join('');
    if (text !== '') yield { attempt: 1, offset: 0, bytes: Buffer.from(text) };
  }

  async *follow(id: string, { attempt, tail, since }: OutputQuery): AsyncGenerator<OutputPiece, Ending> {
    this.#checkOutputQuery(attempt, since);
    const { signal, events } = this.#context;
    const given = { to: tail === undefined ? 0 : startOfLastLines(await this.#logs(id), tail) };
    return yield* readPersistently<OutputPiece, Ending>((opened) => this.#followOnce(id, given, opened), {
      signal,
      events,
      address: () => this.#http.shown,
    });
  }

  async *#followOnce(
    id: string,
    given: { to: number },
    opened: () => void,
  ): AsyncGenerator<OutputPiece, Ending | undefined> {
    // Ray's tail begins at the first byte each time.
    let at = 0;
    for await (const frame of tailFrames(this.#http, id, this.#context.signal, opened)) {
      const bytes = Buffer.from(frame);
      yield* fresh(bytes, at, given);
      at += bytes.length;
    }
    // It also ends while the job runs, or before the last lines: only the job's state says that it is over.
    const job = await this.get(id);
    if (!isOver(job.state)) return undefined;
    yield* fresh(await this.#logs(id), 0, given);
    const { state, exitCode, cause } = job;
    return { state, ...(exitCode !== undefined && { exitCode }), ...(cause && { cause }) };
  }

  /** Sent again where the answer was lost; then Ray may say that it has the id already. */
  async #submitted(sent: Readonly<Record<string, unknown>>): Promise<string> {
    const { submission_id: own } = sent;
    const ask = async (repeatable: boolean): Promise<string> =>
      (await this.#http.json<{ submission_id: string }>('POST', base, { json: sent, repeatable })).submission_id;
    if (typeof own !== 'string') return await ask(false);
    try {
      return await ask(false);
    } catch (error) {
      if (!clientErrors.Broken.is(error)) throw error;
    }
    return await ask(true).catch((error: unknown) => {
      if (clientErrors.Refused.is(error) && error.data.exists === true) return own;
      throw error;
    });
  }

  async #logs(id: string): Promise<Buffer> {
    return Buffer.from((await this.#http.json<{ logs: string }>('GET', `${pathOf(id)}/logs`)).logs);
  }

  #checkOutputQuery(attempt: number | undefined, since: number | undefined): void {
    if (attempt !== undefined || since !== undefined)
      throw this.#refusal('--attempt and --since (it keeps one output per job, without timestamps)');
  }

  #refusal(what: string): Error {
    return clientErrors.NotManta({ address: this.#http.shown, what });
  }
}

/** What of the bytes was not given yet; `at` is where they stand. */
function* fresh(bytes: Buffer, at: number, given: { to: number }): Generator<OutputPiece> {
  const rest = bytes.subarray(Math.max(0, given.to - at));
  if (rest.length > 0) yield { attempt: 1, offset: given.to, bytes: rest };
  given.to += rest.length;
}

interface RayJob {
  readonly type: string;
  readonly job_id: string | null;
  readonly submission_id: string | null;
  readonly status: string;
  readonly entrypoint: string;
  readonly message: string | null;
  readonly error_type: string | null;
  readonly start_time: number | null;
  readonly end_time: number | null;
  readonly driver_node_id: string | null;
  readonly driver_exit_code: number | null;
}

const states: Readonly<Record<string, JobState>> = {
  PENDING: 'queued',
  RUNNING: 'running',
  STOPPED: 'stopped',
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
};

function factsOf(job: RayJob): JobFacts {
  return {
    id: job.submission_id ?? job.job_id ?? '',
    state: ownValue(states, job.status) ?? 'queued',
    entrypoint: job.entrypoint,
    message: job.message ?? '',
    attempts: 1,
    ...(job.start_time !== null && { submittedAt: job.start_time, startedAt: job.start_time }),
    ...(job.end_time !== null && { endedAt: job.end_time }),
    ...(job.driver_exit_code !== null && { exitCode: job.driver_exit_code }),
    ...(job.error_type !== null && { errorType: job.error_type }),
    ...(job.driver_node_id !== null && { node: job.driver_node_id }),
    ...(job.status === 'FAILED' && job.driver_exit_code === null && { cause: 'setup-failed' as const }),
    answer: job,
  };
}

/** What a submission is to Ray; what Ray has no word for is refused rather than dropped. */
function rayBody(body: SubmitBody, refuse: (what: string) => Error): Record<string, unknown> {
  const { id, entrypoint, runtime_env, metadata, resources = {}, labels, ...own } = body;
  const [extra] = Object.keys(own);
  if (extra !== undefined) throw refuse(`the option --${extra.replace(/_s$/, '').replaceAll('_', '-')}`);
  const { CPU, GPU, memory, ...custom } = resources;
  return {
    entrypoint,
    ...(id !== undefined && { submission_id: id }),
    ...(runtime_env && { runtime_env }),
    ...(metadata && { metadata }),
    ...(CPU !== undefined && { entrypoint_num_cpus: CPU }),
    ...(GPU !== undefined && { entrypoint_num_gpus: GPU }),
    ...(memory !== undefined && { entrypoint_memory: memory }),
    ...(Object.keys(custom).length > 0 && { entrypoint_resources: custom }),
    ...(labels && { entrypoint_label_selector: labels }),
  };
}

function startOfLastLines(bytes: Buffer, lines: number): number {
  let at = bytes.at(-1) === 10 ? bytes.length - 1 : bytes.length;
  for (let left = lines; left > 0 && at >= 0; left--) at = at === 0 ? -1 : bytes.lastIndexOf(10, at - 1);
  return lines === 0 ? bytes.length : at + 1;
}
