/** What a scaling scenario is: a demand, what goes wrong meanwhile, and what must have come of it. */

/** Where scenarios are played: own hosts behind `local`, a cloud whose machines boot, one machine without Ray. */
export type BedName = 'pool' | 'cloud' | 'embedded';

export interface Piece {
  readonly cpus?: number;
  readonly resources?: Readonly<Record<string, number>>;
  readonly labels?: Readonly<Record<string, string>>;
}

export type Strategy = 'PACK' | 'SPREAD' | 'STRICT_PACK' | 'STRICT_SPREAD';

/** What is asked of the cluster. Pieces of work hold their place until all of them have one, so that none shares. */
export type Demand =
  | ({ readonly kind: 'tasks' | 'actors'; readonly count: number } & Piece)
  | {
      readonly kind: 'group';
      readonly strategy: Strategy;
      readonly bundles: readonly Readonly<Record<string, number>>[];
    }
  /** `request_resources`: room without work. */
  | { readonly kind: 'request'; readonly bundles: readonly Readonly<Record<string, number>>[] }
  /** `min_workers` of the type `plain`. */
  | { readonly kind: 'floor'; readonly count: number };

/** What goes wrong. How each bed brings it about is in its own file. */
export type Fault =
  | 'none'
  | 'lost answer'
  | 'late answer'
  | 'duplicate call'
  | 'server error'
  | 'partial fill'
  | 'stale lists'
  | 'doubled entries'
  | 'throttled'
  | 'quota'
  | 'no capacity in a zone'
  | 'no capacity on a market'
  | 'no capacity of a type'
  | 'no capacity once'
  | 'slow boot'
  | 'never boots'
  | 'boots dead'
  | 'set-up fails'
  | 'never registers'
  | 'raylet killed'
  | 'machine vanished'
  | 'power cut'
  | 'preempted with notice'
  | 'preempted'
  | 'stray instance'
  | 'limit lowered'
  | 'busy beside idle'
  | 'node added by hand';

export interface Scenario {
  /** Behaviour as a user would state it. */
  readonly name: string;
  readonly demand: Demand;
  readonly fault: Fault;
  readonly on: readonly BedName[];
  /** In the tests on these beds; on the others in `npm run soak -- scaling`. */
  readonly often?: readonly BedName[];
  readonly outcome: Outcome;
}

export interface Outcome {
  /**
   * Done: all of it ran. Impossible: it can never run, which is told, and it is taken back. Unmet: it is taken back
   * while it waits. @default done
   */
  readonly work?: 'done' | 'impossible' | 'unmet';
  /** Instances that were asked for in all; a repetition under the same token is none. */
  readonly asked: number;
  /** In so many launches, where it matters. */
  readonly launches?: number;
  /** Of which types, where it matters. */
  readonly types?: readonly string[];
  /** Pieces of work that have a place at once. @default all */
  readonly held?: number;
  /** Machines that the work ran on. @default as many as were asked for */
  readonly hosts?: number;
  /** Instances that end without a drain: their node was dead, or never was. @default 0 */
  readonly undrained?: number;
  /** What the cluster's events say. */
  readonly tells?: readonly RegExp[];
  /** What `manta why demand` says while it waits. */
  readonly why?: readonly RegExp[];
}
