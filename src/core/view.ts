import type { Instant } from '../base/time/clock.ts';
import type { Demand } from './demand.ts';
import type { InstanceView, Market, NodeTypeName } from './instance.ts';

/** What earlier passes learnt, folded from the journal. Plain data: the planner reads it and returns facts to add to it. */
export interface Memory {
  /** Refusals by (type, zone, market), or by type, each with what it closes: how often in a row, when last, and until when not to ask again. */
  readonly refusals: readonly LaunchRefusal[];
  /** Since when an unneeded pending instance has been unneeded. */
  readonly unneededSince: Readonly<Record<string, Instant>>;
  /** By type, how readily the provider gave it of late, as Ray keeps it: a tie-break. @default 1 each */
  readonly availability?: Readonly<Record<NodeTypeName, { readonly recoverable?: number; readonly recent?: number }>>;
}

export interface LaunchRefusal {
  readonly type: NodeTypeName;
  readonly zone?: string;
  readonly market: Market;
  /** `setup-failed` is of the whole type, wherever its machines are; the others are of one offer. */
  readonly reason: 'no-capacity' | 'quota' | 'throttled' | 'denied' | 'unanswered' | 'launch-timeout' | 'setup-failed';
  /** Of a quota: what it closes beyond the offer itself, in the same market. */
  readonly closes?: 'zone' | 'region' | 'project';
  /** The provider accepted the instance first: if it accepts another, that may fail in the same way. */
  readonly late?: true;
  /** In the refuser's own words; bounded, and without secrets. */
  readonly detail?: string;
  /** Consecutive refusals; a success clears the entry. */
  readonly times: number;
  readonly last: Instant;
  readonly until: Instant;
}

/** A side that does not answer, or not in full. */
export interface Silence {
  readonly since: Instant;
  /** In that side's words, or its caller's. */
  readonly reason: string;
}

export interface Silences {
  readonly engine?: Silence;
  readonly provider?: Silence;
}

/** Everything observed at one instant. Immutable; the only input of a decision besides the spec and the time. */
export interface View {
  readonly at: Instant;
  /** False when that side did not answer in full: then nothing is ended in this pass. */
  readonly complete: { readonly engine: boolean; readonly provider: boolean };
  /** For those who are told of it; decisions go by `complete`. */
  readonly silent?: Silences;
  readonly instances: readonly InstanceView[];
  readonly demand: Demand;
  readonly memory: Memory;
}
