/**
 * A scenario as it is written down: in a workload file (YAML or JSON) or in `workloads/`. `docs/simulation.md` is its
 * reference; `read-scenario.ts` checks it and turns it into numbers.
 */

/** `90s`, `5m`, `1h30m`, `250ms`; a bare number is seconds. */
export type DurationText = string | number;

/** A fixed length, a uniform range, or a log-normal by its median and 95th percentile. */
export type SpreadText =
  | DurationText
  | { readonly min: DurationText; readonly max: DurationText }
  | { readonly median: DurationText; readonly p95: DurationText };

export interface ScenarioFile {
  readonly name?: string;
  readonly summary?: string;
  /** The cluster to simulate; not needed when a cluster.yaml is given. */
  readonly cluster?: ScenarioCluster;
  /** How the cloud behaves. */
  readonly cloud?: CloudFile;
  /** What drivers submit. */
  readonly work: readonly WorkFile[];
}

export interface ScenarioCluster {
  readonly maxWorkers?: number;
  readonly idleTimeout?: DurationText;
  /** As `provider.manta.idle` in a cluster file. @default timeout */
  readonly idle?: 'timeout' | 'economic';
  readonly upscalingSpeed?: number;
  /** Name of the head's type. The head offers no room to work unless its type has resources. */
  readonly head?: string;
  readonly types: Readonly<Record<string, TypeFile>>;
}

export interface TypeFile {
  readonly resources: Readonly<Record<string, number>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly min?: number;
  readonly max?: number;
  readonly idleTimeout?: DurationText;
  readonly priority?: number;
  readonly market?: 'on-demand' | 'spot' | 'reserved';
  readonly zones?: readonly string[];
  /** Per instance and hour. */
  readonly price?: number;
}

export interface CloudFile {
  /** From the provider's yes to a machine that answers. */
  readonly boot?: SpreadText;
  /** From a machine that answers to a node of the engine. */
  readonly setup?: SpreadText;
  /** How long a call to the provider takes. */
  readonly latency?: SpreadText;
  /** How many machines of a type, zone and market exist, for a while. Without an entry there is no limit. */
  readonly capacity?: readonly CapacityFile[];
  /** The provider takes machines back. */
  readonly preemption?: readonly PreemptionFile[];
}

export interface CapacityFile {
  readonly type?: string;
  readonly zone?: string;
  readonly market?: 'on-demand' | 'spot' | 'reserved';
  readonly limit: number;
  readonly from?: DurationText;
  readonly until?: DurationText;
}

export interface PreemptionFile {
  readonly market?: 'on-demand' | 'spot' | 'reserved';
  readonly zone?: string;
  /** Mean life of a machine while the entry holds. */
  readonly every: DurationText;
  readonly from?: DurationText;
  readonly until?: DurationText;
  /** Warning before the machine goes; none when absent. */
  readonly notice?: DurationText;
}

interface Arrival {
  /** When the first is submitted. @default 0s */
  readonly at?: DurationText;
  /** Spread the submissions over this span instead of all at once. */
  readonly over?: DurationText;
  /** Density over the span: level, rising from nothing, or one hump. @default even */
  readonly shape?: 'even' | 'ramp' | 'wave';
  /** The whole item again, this often. */
  readonly repeat?: { readonly every: DurationText; readonly times: number };
}

export interface TasksFile extends Arrival {
  readonly tasks: number;
  readonly needs: Readonly<Record<string, number>>;
  /** Label to allowed values; all must hold. */
  readonly labels?: Readonly<Record<string, readonly string[]>>;
  readonly duration: SpreadText;
}

/** Like tasks, and counted apart: they hold their room for as long as they live and restart where their node dies. */
export interface ActorsFile extends Arrival {
  readonly actors: number;
  readonly needs: Readonly<Record<string, number>>;
  readonly labels?: Readonly<Record<string, readonly string[]>>;
  readonly duration: SpreadText;
}

/** Placement groups: each holds all of its bundles for its duration, or none. */
export interface GangsFile extends Arrival {
  readonly gangs: number;
  readonly bundles: readonly Readonly<Record<string, number>>[];
  readonly strategy?: 'PACK' | 'SPREAD' | 'STRICT_PACK' | 'STRICT_SPREAD';
  readonly duration: SpreadText;
}

/** `request_resources`: room that must be there, used or not. */
export interface StandingFile {
  readonly standing: readonly { readonly needs: Readonly<Record<string, number>>; readonly count: number }[];
  readonly at?: DurationText;
  readonly until: DurationText;
}

export type WorkFile = TasksFile | ActorsFile | GangsFile | StandingFile;
