import type { Instant } from '../base/time/clock.ts';
import type { InstanceId, Market, NodeTypeName } from '../core/instance.ts';
import type { InstanceRecord, Move } from '../core/lifecycle.ts';
import type { EndReason, Launch, PlanFact } from '../core/plan/plan.ts';
import type { LaunchRefusal } from '../core/view.ts';

/** Why an instance that no launch in the journal accounts for was taken in. */
export type AdoptReason =
  /** Tagged as this cluster's, made by somebody else or before the journal began. */
  | { readonly kind: 'unknown' }
  /** More machines carry a launch's token than were counted for it. */
  | { readonly kind: 'extra'; readonly token: string }
  /** It was ended and is there again, or still. */
  | { readonly kind: 'ended-before'; readonly instance: InstanceId };

/** Why the loop ends an instance without a plan saying so. */
export type FollowUpReason =
  | { readonly kind: 'follow-up'; readonly status: string }
  | { readonly kind: 'preemption'; readonly deadline: Instant }
  /** Somebody wants it gone at once, with what runs on it. */
  | { readonly kind: 'asked' };

/** What was observed, decided or done. Facts are only ever added. */
export type ScalingFact = { readonly at: Instant } & (
  | {
      /** Written before the provider is asked: from here on machines with this token are accounted for. */
      readonly kind: 'launch';
      readonly token: string;
      readonly action: Launch;
      readonly records: readonly InstanceRecord[];
    }
  | { readonly kind: 'instance'; readonly record: InstanceRecord; readonly moves: readonly Move[] }
  | { readonly kind: 'adopted'; readonly record: InstanceRecord; readonly why: AdoptReason }
  | {
      /** Written before the engine or the provider is told. */
      readonly kind: 'end';
      readonly record: InstanceRecord;
      readonly how: 'drain' | 'stop' | 'terminate';
      readonly because: EndReason | FollowUpReason;
    }
  | { readonly kind: 'refused'; readonly refusal: LaunchRefusal }
  | {
      /** What was refused is not left alone any more. `reason`: as of the refusal. */
      readonly kind: 'granted';
      readonly type: NodeTypeName;
      readonly zone?: string;
      readonly market: Market;
      readonly reason?: LaunchRefusal['reason'];
    }
  | { readonly kind: 'planned'; readonly fact: PlanFact }
);

/** What a refusal is remembered by: there is one at a time for each. */
export const refusalKey = ({
  type,
  zone,
  market,
  reason,
}: Omit<Extract<ScalingFact, { kind: 'granted' }>, 'kind' | 'at'>) =>
  reason === 'setup-failed' ? `set-up:${type}` : `offer:${JSON.stringify([type, zone ?? null, market])}`;

/** Where facts are kept. The source of `why`, of replay, and of recovery after a crash. */
export interface Journal {
  /** Resolves when all of these facts are kept for good, in this order; rejects when none is. */
  append(facts: readonly ScalingFact[]): Promise<void>;
  /** Every fact, oldest first. */
  read(): AsyncIterable<ScalingFact>;
}
