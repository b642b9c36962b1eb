import type { JobsAnswer, SubmitBody } from '../api/types.ts';
import { MantaError } from '../base/errors.ts';
import type { EventSink } from '../base/events.ts';
import type { EndCause, JobState } from '../core/jobs/job.ts';
import { clientErrors } from './errors.ts';
import { clientEvents } from './events.ts';
import type { HttpClient } from './http.ts';

/** What a command shows of a job, no matter who runs it. */
export interface JobFacts {
  readonly id: string;
  readonly state: JobState;
  readonly entrypoint: string;
  readonly message: string;
  readonly attempts: number;
  readonly user?: string;
  readonly priority?: number;
  readonly submittedAt?: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly notBefore?: number;
  readonly exitCode?: number;
  /** Why the last attempt ended. */
  readonly cause?: EndCause;
  readonly errorType?: string;
  readonly node?: string;
  /** The head's own answer. */
  readonly answer: unknown;
}

/** How a job ended. */
export interface Ending {
  readonly state: JobState;
  readonly exitCode?: number;
  readonly cause?: EndCause;
}

/** Output of an attempt. `offset` is where its first byte stands. */
export interface OutputPiece {
  readonly attempt: number;
  readonly offset: number;
  readonly bytes: Buffer;
}

export interface OutputQuery {
  /** @default all of them, one after the other; the last one with `tail` */
  readonly attempt?: number;
  /** Lines from the end. */
  readonly tail?: number;
  /** Only lines that contain this. */
  readonly grep?: string;
  /** Only what came after this instant. */
  readonly since?: number;
  /** The attempt to begin with. @default 1 */
  readonly from?: number;
}

export interface ListQuery {
  readonly state?: string;
  readonly user?: string;
  readonly search?: string;
  readonly limit?: number;
}

/** The jobs of a cluster: Manta's own API, or what Ray's has of it. */
export interface JobsClient {
  readonly kind: 'manta' | 'ray';
  /** The same id with the same content again is the same job, where the head is Manta's. */
  submit(body: SubmitBody): Promise<JobFacts>;
  get(id: string): Promise<JobFacts>;
  list(query: ListQuery): AsyncGenerator<JobFacts>;
  stop(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  retry(id: string): Promise<JobFacts>;
  /** Output as it stands. */
  read(id: string, query: OutputQuery): AsyncGenerator<OutputPiece>;
  /**
   * Output as it comes, of this attempt and those after it, until the job is over; each byte once, whatever happens to
   * the line or the head. With `attempt` in the query: until that attempt is over.
   */
  follow(id: string, query: OutputQuery): AsyncGenerator<OutputPiece, Ending>;
}

export interface JobsContext {
  readonly http: HttpClient;
  readonly signal: AbortSignal;
  readonly events: EventSink;
}

/** The client that fits the head: a cluster of this machine is Manta's; at any other address the head is asked. */
export async function openJobs(context: JobsContext): Promise<JobsClient> {
  if (context.http.target.folder === undefined && !(await isManta(context.http))) {
    const { shown, onKube } = context.http.target;
    if (onKube !== undefined) context.events.emit(clientEvents.raysOwnJobs, { cluster: shown });
    return new (await import('./ray-jobs.ts')).RayJobs(context);
  }
  return new (await import('./manta-jobs.ts')).MantaJobs(context);
}

async function isManta(http: HttpClient): Promise<boolean> {
  const path = '/api/manta/v1/jobs';
  try {
    const page = await http.json<Partial<JobsAnswer> | null>('GET', path, { query: { limit: 1 } });
    if (Array.isArray(page?.jobs)) return true;
  } catch (error) {
    if (clientErrors.NotManta.is(error)) return false;
    if (!(error instanceof MantaError && error.cause instanceof SyntaxError)) throw error;
  }
  throw clientErrors.NoHead({ address: http.shown, path });
}
