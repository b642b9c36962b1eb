import type { Instant } from '../../base/time/clock.ts';
import type { Demand } from '../demand.ts';
import type { Resources } from '../resources.ts';
import type { Silences } from '../view.ts';

/** What `manta status` shows: the facts behind Ray's status text. */
export interface ClusterStatus {
  readonly at: Instant;
  readonly active: readonly StatusNode[];
  readonly idle: readonly StatusNode[];
  /** Asked for and not yet there. */
  readonly launching: readonly { readonly type: string; readonly count: number }[];
  /** There, and not yet running a node. */
  readonly pending: readonly { readonly instance: string; readonly type: string; readonly details: string }[];
  /** Machines that are switched off and kept, by type. `pricePerHour` is of all of them; absent where it is not known. */
  readonly stopped?: readonly StoppedMachines[];
  readonly failedLaunches: readonly { readonly type: string; readonly at: Instant; readonly reason: string }[];
  readonly failedNodes: readonly { readonly type: string; readonly instance: string }[];
  readonly demand: Demand;
  /** Sides that do not answer: what they would tell is missing here. */
  readonly silent?: Silences;
  /** Machines that run, and of which only the engine, which is silent, could tell what is on them. */
  readonly unknown?: number;
  readonly timings?: { readonly engineMs?: number; readonly providerMs?: number; readonly passMs?: number };
}

export interface StoppedMachines {
  readonly type: string;
  readonly count: number;
  readonly pricePerHour?: number;
}

export interface StatusNode {
  readonly id: string;
  readonly instance: string;
  readonly type: string;
  readonly total: Resources;
  readonly available: Resources;
  readonly idleFor: number;
  /** What keeps it busy, in the engine's words. */
  readonly activity: readonly string[];
}
