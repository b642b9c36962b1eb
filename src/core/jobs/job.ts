import type { Duration, Instant } from '../../base/time/clock.ts';
import type { Labels, Resources } from '../resources.ts';

/** Where a job stands. Ray's five words are made from these at the edge (`jobs/ray-api/`). */
export type JobState =
  /** Waits for a time, a schedule or other jobs. */
  | 'held'
  /** Could start as soon as there is room and its turn comes. */
  | 'queued'
  /** Handed to the engine: being placed or set up. */
  | 'starting'
  | 'running'
  /** Asked to stop; its processes are still being ended. */
  | 'stopping'
  | 'succeeded'
  | 'failed'
  | 'stopped';

/** Why an attempt ended. Each has its own retry budget where a retry makes sense. */
export const endCauses = [
  'succeeded',
  /** The entrypoint's own non-zero exit, or a signal nobody here sent. */
  'failed',
  'stopped',
  'node-lost',
  'preempted',
  'setup-failed',
  'memory-limit',
  'time-limit',
  'start-failed',
] as const;
export type EndCause = (typeof endCauses)[number];

/** How often an attempt that ended for a cause is followed by another. */
export interface Retries {
  readonly failed: number;
  readonly nodeLost: number;
  readonly preempted: number;
  readonly setupFailed: number;
}

/** A job as submitted, checked and fully defaulted. Immutable. */
export interface JobSpec {
  readonly id: string;
  /** Owner of the token that submitted it. */
  readonly user: string;
  /** Run by `/bin/sh -c`. */
  readonly entrypoint: string;
  /** As submitted; what of it means something is the engine's to say. */
  readonly runtimeEnv: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, string>>;
  /** CPU, GPU, memory and custom names. Empty: runs on the head, bounded by a limit of the head. */
  readonly resources: Resources;
  readonly labels: Labels;
  /** A gang: this many nodes' worth at once; the entrypoint runs beside the first bundle. */
  readonly gang?: {
    readonly bundles: readonly Resources[];
    readonly strategy: 'PACK' | 'SPREAD' | 'STRICT_PACK' | 'STRICT_SPREAD';
  };
  /** Higher first. @default 0 */
  readonly priority: number;
  readonly retries: Retries;
  /** Of one attempt, from its start. */
  readonly timeLimit?: Duration;
  /** Not before. */
  readonly startAfter?: Instant;
  /** Five-field schedule; each firing submits a copy of the job. */
  readonly cron?: string;
  /** Starts when all of these have succeeded; fails when one of them cannot. */
  readonly dependsOn: readonly string[];
  readonly submittedAt: Instant;
}

/** A job with what has become of it. */
export interface Job extends JobSpec {
  readonly state: JobState;
  readonly attempts: readonly Attempt[];
  /** In words for people; Ray's own texts where Ray has them. */
  readonly message: string;
  /** Ray's `error_type` when it failed. */
  readonly errorType?: string;
  readonly exitCode?: number;
  readonly startedAt?: Instant;
  readonly endedAt?: Instant;
  readonly stopAskedAt?: Instant;
  /** Held until then: the pause before another attempt, or the next firing of a schedule. */
  readonly notBefore?: Instant;
  /** Of a schedule: how often it has fired. */
  readonly firings?: number;
  /** Attempts up to this number do not count against the retry budgets: the job was retried by hand after them. */
  readonly budgetFrom?: number;
}

/** One run of the entrypoint. */
export interface Attempt {
  /** `<job>.<n>`, n from 1: fixed in the journal before the engine is asked to start it. */
  readonly id: string;
  readonly number: number;
  readonly node?: string;
  /** The engine's own name of it, where that is another than its id. */
  readonly submission?: string;
  /** The last program of it that joined the engine's cluster. */
  readonly driver?: { readonly id: string; readonly address: string; readonly pid: string };
  /** The engine answered for it once: if it does not know it any more, it is lost, and not merely never begun. */
  readonly accepted?: boolean;
  /** It is being ended for this, whatever its processes answer. */
  readonly endsFor?: 'time-limit';
  readonly startedAt?: Instant;
  readonly endedAt?: Instant;
  readonly cause?: EndCause;
  readonly exitCode?: number;
  readonly message?: string;
}

export const isOver = (state: JobState): boolean => state === 'succeeded' || state === 'failed' || state === 'stopped';
