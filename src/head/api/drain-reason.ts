import type { Instant } from '../../base/clock.ts';
import type { Engine } from '../../engines/engine.ts';
import { headErrors } from '../errors.ts';
import type { DrainBody } from './types.ts';

/** Why a node is to be drained, by the body of the request; without one because it is idle. */
export function drainReason(body: unknown, now: Instant): Parameters<Engine['drain']>[1] {
  const { reason = 'idle', within } = (body ?? {}) as DrainBody;
  if (reason === 'idle') return { kind: 'idle' };
  if (reason !== 'preemption')
    throw headErrors.BadDrain({ problem: `reason is idle or preemption, not ${JSON.stringify(reason)}` });
  if (within !== undefined && !(typeof within === 'number' && within >= 0 && within <= longest))
    throw headErrors.BadDrain({ problem: `within is a number of milliseconds, not ${JSON.stringify(within)}` });
  // Ray takes a deadline of 0 for none.
  return { kind: 'preemption', deadline: within === undefined ? 0 : now + within };
}

const longest = 365 * 86_400_000;
