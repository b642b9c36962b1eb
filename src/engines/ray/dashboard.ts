import { request } from 'node:http';
import type { EndCause } from '../../core/jobs/job.ts';
import { engineErrors } from '../errors.ts';
import type { AttemptReport } from '../runner.ts';
import { rayErrors } from './errors.ts';

export interface DashboardOptions {
  /** `http://host:port` of Ray's dashboard, on loopback or through a tunnel. */
  readonly url: string;
  readonly token?: string;
}

/** Of Ray's JobDetails those fields that are read here. */
interface JobDetails {
  readonly type: 'SUBMISSION' | 'DRIVER';
  readonly submission_id: string | null;
  readonly status: 'PENDING' | 'RUNNING' | 'STOPPED' | 'SUCCEEDED' | 'FAILED';
  readonly message: string | null;
  readonly error_type: string | null;
  readonly start_time: number | null;
  readonly end_time: number | null;
  readonly driver_node_id: string | null;
  readonly driver_exit_code: number | null;
}

/** Largest list of jobs that is read. */
const largestAnswer = 256 << 20;

/** Jobs that were submitted to Ray's own jobs API, as attempts. */
export async function readJobs(options: DashboardOptions, signal: AbortSignal): Promise<AttemptReport[]> {
  // Without the closing slash there is no such path.
  const jobs = (await getJson(options, '/api/jobs/', signal)) as readonly JobDetails[];
  return jobs.flatMap((job) =>
    job.type === 'SUBMISSION' && job.submission_id ? [readJob(job, job.submission_id)] : [],
  );
}

function readJob(job: JobDetails, id: string): AttemptReport {
  const ended = job.status !== 'PENDING' && job.status !== 'RUNNING';
  return {
    id,
    state: ended ? 'ended' : job.status === 'RUNNING' ? 'running' : 'waiting',
    ...(job.driver_node_id ? { node: job.driver_node_id } : {}),
    ...(job.status !== 'PENDING' && job.start_time ? { startedAt: job.start_time } : {}),
    ...(ended && job.end_time ? { endedAt: job.end_time } : {}),
    ...(ended ? { cause: causeOf(job) } : {}),
    ...(job.driver_exit_code === null ? {} : { exitCode: job.driver_exit_code }),
    ...(job.message ? { message: job.message } : {}),
    logSize: 0,
  };
}

function causeOf({ status, error_type }: JobDetails): EndCause {
  if (status === 'SUCCEEDED') return 'succeeded';
  if (status === 'STOPPED') return 'stopped';
  if (error_type === 'RUNTIME_ENV_SETUP_FAILURE') return 'setup-failed';
  if (error_type === 'JOB_SUPERVISOR_ACTOR_DIED') return 'node-lost';
  return error_type?.startsWith('JOB_SUPERVISOR_ACTOR') ? 'start-failed' : 'failed';
}

/** By node:http: Ray takes what `fetch` sends for a browser's request, and its older versions need a User-Agent. */
function getJson({ url, token }: DashboardOptions, path: string, signal: AbortSignal): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const call = `GET ${path}`;
  const headers = { 'user-agent': 'manta', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  const lost = (error: Error): void =>
    reject(signal.aborted ? error : engineErrors.Unreachable({ call, detail: error.message }, error));
  const asked = request(new URL(path, url), { headers, signal, timeout: 10_000 }, (answer) => {
    const parts: Buffer[] = [];
    let size = 0;
    answer.on('error', lost);
    answer.on('data', (bytes: Buffer) => {
      size += bytes.length;
      if (size > largestAnswer) answer.destroy(new RangeError('the answer is too long'));
      else parts.push(bytes);
    });
    answer.on('end', () => {
      const text = Buffer.concat(parts).toString('utf8');
      const { statusCode = 0 } = answer;
      const detail = `${statusCode} ${text.slice(0, 200)}`;
      if (statusCode === 401 || statusCode === 403) reject(rayErrors.NotAllowed({ call, detail }));
      else if (statusCode !== 200) reject(rayErrors.Refused({ call, detail }));
      else
        try {
          resolve(JSON.parse(text));
        } catch (error) {
          reject(rayErrors.Refused({ call, detail: 'the answer is no JSON' }, error));
        }
    });
  });
  asked.on('timeout', () => asked.destroy(new Error('no answer in 10 s')));
  asked.on('error', lost);
  asked.end();
  return promise;
}
