import type { Duration, Instant } from '../base/time/clock.ts';
import type { EndCause } from '../core/jobs/job.ts';
import type { Labels, Resources } from '../core/resources.ts';

/** One attempt of a job, ready to run. */
export interface AttemptOrder {
  /** The same id again never runs twice: it is how a lost answer is resolved. */
  readonly id: string;
  readonly job: string;
  /** Which attempt of the job it is, from 1 on. */
  readonly number: number;
  readonly entrypoint: string;
  /** `env_vars` of the runtime environment; expanded, but for an engine that takes every environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What Manta itself tells the entrypoint. No part of the runtime environment: tasks do not get it. */
  readonly own: Readonly<Record<string, string>>;
  /** Of the job; the engine shows it to programs of the job, where it can. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Folder prepared for it (unpacked working directory); the attempt gets a copy or a view of its own. Absent: an empty one. */
  readonly workingDir?: string;
  /** What remains to be set up on the node: pip, uv, py_modules. Empty: nothing. */
  readonly setup: readonly SetupStep[];
  /** A setup that takes longer has failed. Absent: as long as it takes. */
  readonly setupTimeout?: Duration;
  /** The rest of the runtime environment as submitted, for an engine that takes every environment; empty for others. */
  readonly environment: Readonly<Record<string, unknown>>;
  readonly resources: Resources;
  readonly labels: Labels;
  readonly gang?: { readonly bundles: readonly Resources[]; readonly strategy: string };
  /** Where its output goes; see `jobs/logs/log-store.ts`. */
  readonly log: string;
}

export interface SetupStep {
  /** `remote`: a module that the engine fetches by itself. */
  readonly kind: 'pip' | 'uv' | 'python-path' | 'remote';
  readonly packages?: readonly string[];
  /** Of `python-path` its folder, of `remote` its URI; of `pip` the wheel on the head, when that is what is installed. */
  readonly path?: string;
  /** The installed packages have to fit together. */
  readonly check?: boolean;
}

/**
 * What an engine can make of a runtime environment. `all`: it gets everything as submitted, but for packages that were made
 * ready here, and judges it itself. Otherwise the keys that it can give, each with its options where it has any.
 */
export type EnvironmentSupport = 'all' | ReadonlyMap<string, readonly string[]>;

/** A program of a job that joined the engine's cluster. */
export interface Driver {
  /** The engine's id of it; Ray calls that the id of the job. */
  readonly id: string;
  readonly address: string;
  readonly pid: string;
}

/** What the engine knows of an attempt. */
export interface AttemptReport {
  readonly id: string;
  readonly state: 'waiting' | 'setting-up' | 'running' | 'ended';
  readonly node?: string;
  readonly pid?: number;
  /** The engine's own name of it, where that is another than its id. */
  readonly submission?: string;
  /** The last that it had. */
  readonly driver?: Driver;
  readonly startedAt?: Instant;
  /** For how long it had run when this was said, on a clock that nobody sets. */
  readonly ranFor?: Duration;
  readonly endedAt?: Instant;
  readonly cause?: EndCause;
  readonly exitCode?: number;
  readonly message?: string;
  /** Bytes of output written so far. */
  readonly logSize: number;
}

/** The half of an engine that runs jobs. */
export interface Runner {
  readonly environments: EnvironmentSupport;

  /** True when the order could start at once on a node that is there now. */
  hasRoom(order: Pick<AttemptOrder, 'resources' | 'labels' | 'gang'>): boolean;

  /**
   * Take the attempt over. Its room is taken from the call on; returns when the engine will not forget it, not when it runs.
   * Packages may have to travel first: a stop breaks that off.
   */
  start(order: AttemptOrder, signal: AbortSignal): Promise<void>;

  /** End its whole process tree: SIGTERM, then SIGKILL after `grace`. An attempt that is over or unknown is not an error. */
  stop(attempt: string, grace: Duration, signal: AbortSignal): Promise<void>;

  /** Everything the engine still knows, ended attempts until they are forgotten. Complete, or it throws. */
  attempts(signal: AbortSignal): Promise<readonly AttemptReport[]>;

  /** The jobs layer has journalled the end of this attempt; the engine may drop what it kept of it. */
  forget(attempt: string, signal: AbortSignal): Promise<void>;

  /** Called at every change of an attempt, as soon as it is known; returns the unsubscribe. */
  watch(listener: (report: AttemptReport) => void): () => void;
}
