/**
 * The answers of Manta's own HTTP API, `/api/manta/v1`. Times are milliseconds since the Unix epoch; sizes are bytes.
 * The page, the CLI and `openapi.json` are held to these types.
 */
import type { Fact as ScalingFact } from '../../autoscaler/journal.ts';
import type { Demand } from '../../core/demand.ts';
import type { InstanceStatus } from '../../core/instance.ts';
import type { Job, JobState } from '../../core/jobs/job.ts';
import type { Infeasible, Waiting } from '../../core/plan/plan.ts';
import type { Resources } from '../../core/resources.ts';
import type { TurnOffReason } from '../../core/turn-off.ts';
import type { JobRow, OtherRow } from '../../jobs/manta-api/rows.ts';
import type { Fact as JobFact } from '../../jobs/store.ts';

/** GET /cluster */
export interface ClusterAnswer {
  readonly name: string;
  readonly engine: 'embedded' | 'ray';
  readonly mantaVersion: string;
  readonly startedAt: number;
  readonly now: number;
  readonly user: string;
  readonly nodeTypes: readonly {
    readonly name: string;
    readonly head: boolean;
    readonly resources: Resources;
    readonly minWorkers: number;
    readonly maxWorkers: number;
    readonly pricePerHour?: number;
  }[];
  readonly maxWorkers?: number;
  readonly nodes: {
    readonly running: number;
    readonly pending: number;
    readonly draining: number;
    readonly failed: number;
  };
  readonly usage: Readonly<Record<string, { readonly used: number; readonly total: number }>>;
  readonly jobs: Readonly<Record<JobState, number>>;
  /** Per hour as of now, and spent since `startedAt`; absent when no price is known. `currency` is ISO 4217, @default USD. */
  readonly cost?: { readonly perHour: number; readonly spent: number; readonly currency?: string };
  /** False while mantad catches up after a start: nothing is ended meanwhile. */
  readonly synced: boolean;
  /** Who does not answer, since when and why, and what is not known therefore, a line each; absent while all is known. */
  readonly unknown?: readonly string[];
  /** Absent for a cluster that never ends by itself. */
  readonly turnOff?: TurnOffAnswer;
}

/** When the cluster ends by itself; part of GET /cluster and GET /status, and the answer of POST /extend. */
export interface TurnOffAnswer {
  /** `provider.manta.idle_shutdown` and `max_lifetime`, in milliseconds. */
  readonly idleShutdown?: number;
  readonly maxLifetime?: number;
  /** Given with `up --until` or `--for`. */
  readonly until?: number;
  /** By `manta extend`: not before. */
  readonly keepUntil?: number;
  readonly idleSince?: number;
  /** What keeps it from being idle, in words. */
  readonly busyWith?: string;
  /** When it ends as things stand, and by which term; absent while something runs and nothing else ends it. */
  readonly at?: number;
  readonly because?: TurnOffReason['kind'];
  /** It was warned of. */
  readonly soon: boolean;
  /** What becomes of the cluster, to be read behind its name. */
  readonly text: string;
}

/** POST /extend: one of both. -> { turnOff? } */
export interface ExtendBody {
  /** By so many milliseconds. */
  readonly by?: number;
  readonly until?: number;
}

/** GET /nodes -> { nodes } */
export interface NodeAnswer {
  readonly instance: string;
  readonly node?: string;
  /** The machine as its provider names it, and where it is reached. */
  readonly machine?: string;
  readonly address?: string;
  readonly type: string;
  readonly kind: 'head' | 'worker';
  readonly status: InstanceStatus;
  readonly since: number;
  readonly requestedAt: number;
  readonly idleFor?: number;
  readonly total: Resources;
  readonly available: Resources;
  readonly jobs: readonly string[];
  readonly zone?: string;
  readonly market?: string;
  readonly pricePerHour?: number;
  /** Why it was launched, and why it ended or is ending, in words. */
  readonly launchedBecause?: string;
  readonly endsBecause?: string;
  /** Nobody asked a provider for it, so `since` and `requestedAt` say nothing. It is never ended. */
  readonly byHand?: boolean;
}

/**
 * POST /nodes/{id}/end -> { instance, accepted }: ends the instance of a worker that runs at once, with what is on it.
 * POST /nodes/{id}/drain: because it is idle, which a node with work on it refuses, or because its machine goes away.
 */
export interface DrainBody {
  /** @default idle */
  readonly reason?: 'idle' | 'preemption';
  /** Of a preemption: so many milliseconds from now the machine is gone. Without it nobody says when. */
  readonly within?: number;
}

/** GET /demand */
export interface DemandAnswer {
  readonly demand: Demand;
  readonly waiting: readonly (Waiting & { readonly text: string })[];
  readonly infeasible: readonly (Infeasible & { readonly text: string })[];
}

/**
 * GET /jobs?state=&user=&search=&limit=&before= -> newest first. `env_vars` values are masked here.
 * `state` is a list parted by commas; `search` finds a part of id, entrypoint or user, whatever its case; `total` counts
 * what matches state, user and search.
 */
export interface JobsAnswer {
  readonly jobs: readonly JobRow[];
  readonly total: number;
  /** Give as `before` for the next page. */
  readonly next?: string;
  /** Of Ray's and not of the queue; only where they were asked for and there are some. */
  readonly others?: readonly OtherRow[];
}

export type { JobRow, OtherRow };

/** GET /jobs/{id}: in full, `env_vars` included, for its owner. */
export type JobAnswer = Job;

/**
 * POST /jobs/{id}/stop -> JobAnswer; a job that is over stays as it is.
 * POST /jobs/{id}/retry -> JobAnswer of the job that now runs the same content again (a new id, or the same one).
 * DELETE /jobs/{id} -> 204; only a job that is over.
 */

/** The body of every answer from 400 on. */
export interface ErrorAnswer {
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string };
}

/** POST /jobs. The same id with the same content again answers with the job that is there. */
export interface SubmitBody {
  readonly id?: string;
  readonly entrypoint: string;
  readonly runtime_env?: Readonly<Record<string, unknown>>;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly resources?: Resources;
  readonly labels?: Readonly<Record<string, string>>;
  readonly gang?: { readonly bundles: readonly Resources[]; readonly strategy?: string };
  readonly priority?: number;
  readonly retries?: {
    readonly failed?: number;
    readonly node_lost?: number;
    readonly preempted?: number;
    readonly setup_failed?: number;
  };
  readonly time_limit_s?: number;
  readonly start_after?: number;
  readonly cron?: string;
  readonly depends_on?: readonly string[];
}

/**
 * GET /jobs/{id}/logs?attempt=&offset=&limit=&tail=&grep=&since= -> the bytes, with headers
 * `manta-offset` (of the first byte), `manta-next` (offset to ask for next), `manta-end` (`true` once no byte will follow).
 * GET /jobs/{id}/logs/follow?attempt=&offset= -> server-sent events: `data` = {offset, text (base64 in `bytes` when not UTF-8)},
 * `id` = next offset (resume with Last-Event-ID), a final `end` event with {exitCode, state}; comments keep the line open.
 * `tail` counts lines.
 */
export interface LogChunk {
  readonly offset: number;
  readonly next: number;
  readonly text?: string;
  readonly bytes?: string;
}

/** GET /events?after=&limit= -> { events }, oldest first, without `after` the newest ones; and GET /stream (server-sent, `id` = seq, resume with Last-Event-ID). */
export interface EventAnswer {
  readonly seq: number;
  readonly at: number;
  readonly code: string;
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'result';
  readonly text: string;
  readonly job?: string;
  readonly instance?: string;
  readonly type?: string;
  /** Machine that it is about, as the cluster file names it. */
  readonly host?: string;
  /** Node that is being set up. */
  readonly node?: string;
  /** Code of the error for which a machine could not be set up. */
  readonly failure?: string;
}

/**
 * GET /stream: server-sent events. `event` is one of
 * - `event`: EventAnswer
 * - `job`: JobRow (changed)
 * - `nodes`: NodeAnswer[] (whole list, at most every 500 ms)
 * - `cluster`: ClusterAnswer (at most every second, on change)
 * - `sample`: SamplePoint
 * - `mark`: Mark
 * Only an `event` carries an `id`: the others are states, and whoever was away asks for them again. On connect the server
 * sends the `event`s after Last-Event-ID, none of the past without it.
 */
export type StreamKind = 'event' | 'job' | 'nodes' | 'cluster' | 'sample' | 'mark';

/** GET /history?since=&until=&points= -> { samples, marks } */
export interface SamplePoint {
  readonly at: number;
  /** Running nodes by type, and pending ones as `<type>+`. */
  readonly nodes: Readonly<Record<string, number>>;
  readonly usage: Readonly<Record<string, { readonly used: number; readonly total: number }>>;
  readonly queued: number;
  readonly running: number;
}

export interface Mark {
  readonly at: number;
  readonly kind: 'launch' | 'end' | 'failure';
  readonly type: string;
  readonly count: number;
  readonly because: string;
}

/** GET /journal?limit=, for administrators: the newest facts, oldest first, without what looks like a credential. */
export interface JournalAnswer {
  readonly scaling: readonly (ScalingFact & { readonly seq: number })[];
  readonly jobs: readonly JobFact[];
}

/** GET /why/{job|node|demand}/{id}: the causal chain, oldest first. */
export interface WhyAnswer {
  readonly subject: string;
  readonly state: string;
  readonly chain: readonly { readonly at: number; readonly text: string; readonly data?: unknown }[];
  /** What the user could change, in words. */
  readonly next: readonly string[];
}
