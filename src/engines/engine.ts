import type { Instant } from '../base/time/clock.ts';
import type { Demand } from '../core/demand.ts';
import type { NodeView } from '../core/instance.ts';
import type { InfeasibleDemand } from '../core/plan/plan.ts';

/** What the engine reports of one node. */
export interface EngineNode extends NodeView {
  /** The instance it runs on, as the provider names it; absent for nodes added by hand. */
  readonly providerId?: string;
  readonly type?: string;
  readonly head: boolean;
  readonly state: 'alive' | 'draining' | 'dead';
}

export interface EngineState {
  readonly at: Instant;
  readonly nodes: readonly EngineNode[];
  readonly demand: Demand;
}

/** What runs the work, as far as scaling goes. Ray's AutoscalerStateService and the embedded engine both fit it. */
export interface Engine {
  /** Nodes, demand, gangs and standing requests of one instant. Throws rather than answer in part. */
  state(signal: AbortSignal): Promise<EngineState>;

  /**
   * Ask to empty a node. `idle` may be refused when work has arrived meanwhile; `preemption` is not refused and names
   * the instant at which the machine goes. A node that is gone counts as drained. An emptied node leaves by itself:
   * `state` shows it dead or not at all.
   */
  drain(
    node: string,
    reason: { readonly kind: 'idle' } | { readonly kind: 'preemption'; readonly deadline: Instant },
    signal: AbortSignal,
  ): Promise<{ readonly accepted: boolean; readonly reason?: string }>;

  /** Tell drivers and status pages which demand can never be met. */
  reportInfeasible(infeasible: readonly InfeasibleDemand[], signal: AbortSignal): Promise<void>;
}
