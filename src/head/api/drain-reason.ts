import type { DrainBody } from '../../api/cluster.ts';
import type { Instant } from '../../base/time/clock.ts';
import type { Engine } from '../../engines/engine.ts';

/** Why a node is to be drained, by the body of the request; without one because it is idle. */
export function drainReason({ reason = 'idle', within }: DrainBody, now: Instant): Parameters<Engine['drain']>[1] {
  if (reason === 'idle') return { kind: 'idle' };
  // Ray takes a deadline of 0 for none.
  return { kind: 'preemption', deadline: within === undefined ? 0 : now + within };
}
