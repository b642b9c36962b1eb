import type { Duration, Instant } from '../../base/time/clock.ts';
import type { GangDemand, Request, StandingDemand } from '../demand.ts';
import type { InstanceId, Market, NodeTypeName } from '../instance.ts';
import type { Resources } from '../resources.ts';
import type { LaunchRefusal } from '../view.ts';

/** What one pass decided. Plain data: the executor acts on `actions`, `why` and status read the rest. */
export interface Plan {
  readonly at: Instant;
  readonly actions: readonly Action[];
  /** Demand that no node type can ever hold. */
  readonly infeasible: readonly InfeasibleDemand[];
  /** Demand that could be held but is not being launched for now, and until when. */
  readonly waiting: readonly Waiting[];
  /** Facts to append to the journal; they become the next view's memory. */
  readonly facts: readonly PlanFact[];
  /** When to look again even if nothing happens: the next idle timeout or back-off end. */
  readonly lookAgainAt?: Instant;
  /** Resources of the cluster once the plan is carried out. */
  readonly resources: Resources;
}

export type Action = Launch | Drain | Terminate;

/** Ask the provider for `count` units of a type (a unit is `hostsPerSlice` instances) by one offer. */
export interface Launch {
  readonly kind: 'launch';
  readonly type: NodeTypeName;
  readonly count: number;
  readonly zone?: string;
  readonly market: Market;
  readonly because: readonly LaunchReason[];
}

/** Empty a node, then end its instance. The engine may refuse. */
export interface Drain {
  readonly kind: 'drain';
  readonly instance: InstanceId;
  readonly node: string;
  /** Its machine is then stopped and kept, where the provider can, in place of terminated. */
  readonly stops?: true;
  readonly because: EndReason;
}

/** End an instance that runs no node, or whose end cannot wait: what runs on the rest of a slice is lost. */
export interface Terminate {
  readonly kind: 'terminate';
  readonly instance: InstanceId;
  readonly because: EndReason;
}

/** One demand (or floor) that a launch serves, and why this type and offer rather than the others. */
export interface LaunchReason {
  readonly serves:
    | { readonly kind: 'min-workers'; readonly count: number }
    | { readonly kind: 'tasks'; readonly request: Request; readonly count: number }
    | { readonly kind: 'gang'; readonly gang: string; readonly requests: number }
    | { readonly kind: 'standing'; readonly count: number };
  /** Types that were looked at and not chosen, each with the reason. */
  readonly instead: readonly Passed[];
}

export interface Passed {
  readonly type: NodeTypeName;
  readonly zone?: string;
  readonly market?: Market;
  readonly why: PassReason;
}

export type PassReason =
  | { readonly kind: 'too-small'; readonly resource: string; readonly asked: number; readonly has: number }
  | { readonly kind: 'labels' }
  /** `leaving`: so many are being ended, and there is room when they are gone. */
  | { readonly kind: 'type-limit'; readonly max: number; readonly leaving?: number }
  | { readonly kind: 'cluster-limit'; readonly max: number; readonly leaving?: number }
  | { readonly kind: 'upscaling-speed'; readonly pending: number; readonly allowed: number }
  | { readonly kind: 'refused'; readonly refusal: LaunchRefusal }
  /** It has GPUs, and the demand asks for none. */
  | { readonly kind: 'keeps-gpus' }
  | { readonly kind: 'worse-fit' }
  | { readonly kind: 'dearer'; readonly price: number; readonly chosen: number }
  /** It costs less, but cannot hold other work of the cluster, which `broader` holds for little more. */
  | { readonly kind: 'narrow'; readonly broader: NodeTypeName }
  | { readonly kind: 'lower-priority'; readonly priority: number; readonly chosen: number };

export type EndReason =
  /** `economic`: the timeout is how long a new node takes to start, because its price is known. */
  | { readonly kind: 'idle'; readonly idleFor: Duration; readonly timeout: Duration; readonly economic?: true }
  | { readonly kind: 'outdated' }
  | { readonly kind: 'type-limit'; readonly max: number }
  | { readonly kind: 'cluster-limit'; readonly max: number }
  | { readonly kind: 'unneeded-pending'; readonly since: Instant }
  | { readonly kind: 'type-removed' }
  | { readonly kind: 'slice-broken'; readonly slice: string }
  /** Its machine is stopped, and nothing says that it is to be kept. */
  | { readonly kind: 'not-kept' }
  | { readonly kind: 'failed'; readonly status: string };

export type InfeasibleDemand =
  | { readonly kind: 'tasks'; readonly request: Request; readonly count: number; readonly types: readonly Passed[] }
  | { readonly kind: 'gang'; readonly gang: GangDemand; readonly types: readonly Passed[] }
  | { readonly kind: 'standing'; readonly standing: StandingDemand; readonly types: readonly Passed[] };

export interface Waiting {
  readonly demand:
    | { readonly kind: 'tasks'; readonly request: Request; readonly count: number }
    | { readonly kind: 'gang'; readonly gang: string }
    | { readonly kind: 'standing'; readonly standing: StandingDemand }
    | { readonly kind: 'min-workers'; readonly type: NodeTypeName; readonly count: number };
  /** What holds it up, per type that could hold it. */
  readonly for: readonly Passed[];
  readonly until?: Instant;
}

/** Facts that a plan adds to memory. */
export type PlanFact =
  | { readonly kind: 'unneeded'; readonly instance: InstanceId; readonly since: Instant }
  | { readonly kind: 'needed-again'; readonly instance: InstanceId };
