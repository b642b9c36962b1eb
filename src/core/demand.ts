import type { LabelSelector, Resources } from './resources.ts';

/** Keeps requests that carry the same label and value on one node (`together`) or on different ones (`apart`). */
export interface PlacementRule {
  readonly kind: 'together' | 'apart';
  readonly label: string;
  readonly value: string;
}

/** One thing to place on one node. */
export interface Request {
  readonly resources: Resources;
  /** Fallbacks in order of preference; empty means any node. */
  readonly selectors: readonly LabelSelector[];
  readonly placement: readonly PlacementRule[];
}

/** Tasks and actors of one shape that wait for room. */
export interface TaskDemand {
  readonly request: Request;
  readonly count: number;
}

/** A placement group: all of its requests get room at once, or none does. */
export interface GangDemand {
  /** Stable for the life of the placement group; shown by `why`. */
  readonly id: string;
  readonly requests: readonly Request[];
  /** The engine's own words, such as the strategy and the state. */
  readonly details?: string;
  /** Placement rules and requests by which gangs are ordered, where the engine counts them otherwise than `requests` does. */
  readonly weight?: readonly [rules: number, requests: number];
}

/** What `request_resources` asked for: room for all of it at once, measured against whole nodes, until it is replaced. */
export interface StandingDemand {
  readonly requests: readonly TaskDemand[];
}

export interface Demand {
  readonly tasks: readonly TaskDemand[];
  readonly gangs: readonly GangDemand[];
  readonly standing: readonly StandingDemand[];
}
