import type { Instant } from '../../base/clock.ts';
import type { Passed, PassReason } from '../../core/plan/plan.ts';
import { amountText } from './amounts.ts';
import { relativeTime } from './time.ts';

const refusals: Readonly<Record<string, string>> = {
  'no-capacity': 'the provider has no capacity',
  quota: 'a quota of the account is used up',
  throttled: 'the provider throttles requests',
  denied: 'the provider denies the request',
  'launch-timeout': 'launches did not come up in time',
};

/** Where it was looked: the type, with zone and market when they matter. */
export function placeText(passed: Passed): string {
  const where = [passed.zone, passed.market === 'spot' ? 'spot' : undefined].filter((part) => part !== undefined);
  return where.length === 0 ? passed.type : `${passed.type} (${where.join(', ')})`;
}

/** Why a node type does not serve a demand now. */
export function passText(why: PassReason, now: Instant): string {
  switch (why.kind) {
    case 'too-small':
      return `too small: has ${amountText(why.resource, why.has)} ${why.resource}, ${amountText(why.resource, why.asked)} asked`;
    case 'labels':
      return 'its labels do not match';
    case 'type-limit':
      return `at its limit of ${why.max}`;
    case 'cluster-limit':
      return `the cluster is at its limit of ${why.max} workers`;
    case 'upscaling-speed':
      return `${why.pending} pending, ${why.allowed} allowed at once by upscaling_speed`;
    case 'refused': {
      const { reason, times, until } = why.refusal;
      const again = until > now ? `; asked again ${relativeTime(until, now)}` : '';
      return `${refusals[reason] ?? reason}${times > 1 ? ` (${times} times in a row)` : ''}${again}`;
    }
    case 'worse-fit':
      return 'another type fits better';
    case 'dearer':
      return `dearer: ${why.price} against ${why.chosen} per hour`;
    case 'lower-priority':
      return `lower priority: ${why.priority} against ${why.chosen}`;
  }
}
