import type { Instant } from '../../base/clock.ts';
import type { Demand } from '../demand.ts';
import type { Resources } from '../resources.ts';

/** What `manta status` shows: the facts behind Ray's status text. */
export interface ClusterStatus {
  readonly at: Instant;
  readonly active: readonly StatusNode[];
  readonly idle: readonly StatusNode[];
  /** Asked for and not yet there. */
  readonly launching: readonly { readonly type: string; readonly count: number }[];
  /** There, and not yet running a node. */
  readonly pending: readonly { readonly instance: string; readonly type: string; readonly details: string }[];
  readonly failedLaunches: readonly { readonly type: string; readonly at: Instant; readonly reason: string }[];
  readonly failedNodes: readonly { readonly type: string; readonly instance: string }[];
  readonly demand: Demand;
  readonly timings?: { readonly engineMs?: number; readonly providerMs?: number; readonly passMs?: number };
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
