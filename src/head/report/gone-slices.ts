import type { ScalingFact } from '../../autoscaler/journal.ts';
import type { Instant } from '../../base/time/clock.ts';
import { isFinal } from '../../core/lifecycle.ts';
import type { InfeasibleDemand } from '../../core/plan/plan.ts';

/** A slice that has ended, by the name under which its hosts were asked for. */
export interface GoneSlice {
  readonly name: string;
  readonly at: Instant;
}

/** The slices that the journal saw end. Their names are resources that no other slice ever has. */
export function goneSlices(facts: readonly ScalingFact[]): ReadonlyMap<string, GoneSlice> {
  const gone = new Map<string, GoneSlice>();
  for (const fact of facts) {
    if (fact.kind !== 'instance' || !isFinal(fact.record.status) || fact.record.slice === undefined) continue;
    const name = fact.record.slice.slice(fact.record.slice.lastIndexOf('/') + 1);
    if (Object.hasOwn(fact.record.extra ?? {}, name)) gone.set(name, { name, at: fact.at });
  }
  return gone;
}

/** The slice that demand waits for, and that never comes back. */
export function goneSliceOf(demand: InfeasibleDemand, gone: ReadonlyMap<string, GoneSlice>): GoneSlice | undefined {
  const requests = demand.kind === 'tasks' ? [demand.request] : demand.kind === 'gang' ? demand.gang.requests : [];
  return requests.flatMap(({ resources }) => Object.keys(resources).flatMap((name) => gone.get(name) ?? []))[0];
}
