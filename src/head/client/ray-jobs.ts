import type { SubmitBody } from '../../api/types.ts';
import { ownValue } from '../../base/own-value.ts';
import type { JobState } from '../../core/jobs/job.ts';
import { isOver } from '../../core/jobs/job.ts';
import { clientErrors } from './errors.ts';
import type { Ending, JobFacts, JobsClient, JobsContext, OutputPiece } from './jobs.ts';
import { readPersistently } from './persistent.ts';
import { tailFrames } from './ray-tail.ts';

// With the slash at the end: without it Ray answers 404.
const base = '/api/jobs/';
const pathOf = (id: string): string => `${base}${encodeURIComponent(id)}`;

/** Jobs by the API of a Ray head that Manta does not run. */
export function rayJobs({ http, signal, events }: JobsContext): JobsClient {
  const refuse = (what: string): Error => clientErrors.NotManta({ address: http.shown, what });
  const get = async (id: string): Promise<JobFacts> => factsOf(await http.json<RayJob>('GET', pathOf(id)));
  const logs = async (id: string): Promise<Buffer> =>
    Buffer.from((await http.json<{ logs: string }>('GET', `${pathOf(id)}/logs`)).logs);

  /** Sent again where the answer was lost; then Ray may say that it has the id already. */
  const submitted = async (sent: Readonly<Record<string, unknown>>): Promise<string> => {
    const { submission_id: own } = sent;
    const ask = async (repeatable: boolean): Promise<string> =>
      (await http.json<{ submission_id: string }>('POST', base, { json: sent, repeatable })).submission_id;
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
  };

  return {
    kind: 'ray',
    async submit(body) {
      const sent = rayBody(body, refuse);
      const id = await submitted(sent);
      return {
        id,
        state: 'queued',
        entrypoint: body.entrypoint,
        message: '',
        attempts: 0,
        answer: { submission_id: id },
      };
    },
    get,
    async *list({ state, user, search, limit = Number.POSITIVE_INFINITY }) {
      if (user !== undefined) throw refuse('--user: it knows no users');
      const states = state?.split(',');
      const wanted = search?.toLowerCase();
      const answer = await http.json<RayJob[]>('GET', base);
      if (!Array.isArray(answer)) throw clientErrors.NoHead({ address: http.shown, path: base });
      const jobs = answer.map(factsOf);
      let left = limit;
      for (const job of jobs.sort((a, b) => (b.submittedAt ?? 0) - (a.submittedAt ?? 0))) {
        if (states !== undefined && !states.includes(job.state)) continue;
        if (wanted !== undefined && !`${job.id}\n${job.entrypoint}`.toLowerCase().includes(wanted)) continue;
        if (left-- <= 0) return;
        yield job;
      }
    },
    stop: async (id) => void (await http.json('POST', `${pathOf(id)}/stop`, { repeatable: true })),
    remove: async (id) => void (await http.json('DELETE', pathOf(id))),
    retry: () => Promise.reject(refuse('job retry')),
    async *read(id, { attempt, tail, grep, since }) {
      if (attempt !== undefined || since !== undefined)
        throw refuse('--attempt and --since: it keeps one output a job, without times');
      const lines = (await logs(id)).toString('utf8').split(/(?<=\n)/);
      const found = grep === undefined ? lines : lines.filter((line) => line.includes(grep));
      const text = (tail === undefined ? found : found.slice(-tail || found.length)).join('');
      if (text !== '') yield { attempt: 1, offset: 0, bytes: Buffer.from(text) };
    },
    async *follow(id, { attempt, tail, since }) {
      if (attempt !== undefined || since !== undefined)
        throw refuse('--attempt and --since: it keeps one output a job, without times');
      let given = 0;
      const fresh = function* (bytes: Buffer, at: number): Generator<OutputPiece> {
        const rest = bytes.subarray(Math.max(0, given - at));
        if (rest.length > 0) yield { attempt: 1, offset: given, bytes: rest };
        given += rest.length;
      };
      if (tail !== undefined) given = startOfLastLines(await logs(id), tail);
      return yield* readPersistently<OutputPiece, Ending>(
        async function* (opened) {
          // Ray's tail begins at the first byte each time.
          let at = 0;
          for await (const frame of tailFrames(http, id, signal, opened)) {
            const bytes = Buffer.from(frame);
            yield* fresh(bytes, at);
            at += bytes.length;
          }
          // It also ends while the job runs, or before the last lines: only the job's state says that it is over.
          const job = await get(id);
          if (!isOver(job.state)) return undefined;
          yield* fresh(await logs(id), 0);
          const { state, exitCode, cause } = job;
          return { state, ...(exitCode !== undefined && { exitCode }), ...(cause && { cause }) };
        },
        { signal, events, address: () => http.shown },
      );
    },
  };
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
