import { MantaError, messageOf } from '../base/errors.ts';
import { redact } from '../base/redact.ts';
import type { Duration, Instant } from '../base/time/clock.ts';
import type { Market, NodeTypeName } from '../core/instance.ts';
import type { LaunchRefusal } from '../core/view.ts';
import { providerErrors } from '../providers/errors.ts';
import type { LateRefusal } from '../providers/provider.ts';
import type { ScalingFact } from './journal.ts';

export type RefusalReason = LaunchRefusal['reason'];

/** Why an offer was refused, and what was said to it. */
export type RefusedOffer = Pick<LaunchRefusal, 'reason' | 'detail' | 'closes' | 'late'>;

/** How long an offer is left alone after a refusal. */
export interface RefusalPauses {
  /** After the first of a kind; it doubles with every refusal in a row. */
  readonly first: Readonly<Record<RefusalReason, Duration>>;
  readonly longest: Duration;
}

/** Of a provider that is asked over the network, by many. */
export const refusalPauses: RefusalPauses = {
  first: {
    'no-capacity': 30_000,
    quota: 120_000,
    throttled: 5_000,
    denied: 300_000,
    unanswered: 30_000,
    'launch-timeout': 300_000,
    'setup-failed': 15_000,
  },
  longest: 600_000,
};

/** What the provider meant by an error; undefined when it may have taken effect all the same. */
export function refusedBy(error: unknown): RefusedOffer | undefined {
  const reason = reasonOf(error);
  if (reason === undefined) return undefined;
  const closes = providerErrors.Quota.is(error) ? error.data.closes : undefined;
  return { reason, ...(closes !== undefined && { closes }), ...saidBy(error) };
}

/** What the provider meant by an instance that it ended before it ran. */
export const refusedLate = ({ kind, detail, closes }: LateRefusal): RefusedOffer => ({
  reason: kind,
  late: true,
  ...(closes !== undefined && { closes }),
  ...(detail !== undefined && detail !== '' && { detail: inShort(detail) }),
});

function reasonOf(error: unknown): RefusalReason | undefined {
  if (providerErrors.NoCapacity.is(error)) return 'no-capacity';
  if (providerErrors.Quota.is(error)) return 'quota';
  if (providerErrors.Throttled.is(error)) return 'throttled';
  if (providerErrors.Denied.is(error)) return 'denied';
  return undefined;
}

const longestDetail = 300;

/** What the provider, or its caller, said with an error. */
export const wordsOf = (error: unknown): string => saidBy(error).detail ?? inShort(messageOf(error));

function saidBy(error: unknown): { readonly detail?: string } {
  const said = error instanceof MantaError ? (error.data as { readonly detail?: unknown }).detail : undefined;
  return typeof said === 'string' && said !== '' ? { detail: inShort(said) } : {};
}

/** A text of any length and make as one line that may be shown anywhere. */
export function inShort(text: string): string {
  const line = redact(text).replaceAll(/\s+/g, ' ').trim();
  return line.length > longestDetail ? `${line.slice(0, longestDetail)}…` : line;
}

/** The provider gave machines, and they did not become nodes: another launch that it answers is not a success yet. */
export const isOfMachines = ({ reason, late }: RefusedOffer): boolean =>
  reason === 'launch-timeout' || reason === 'setup-failed' || late === true;

export const granted = ({ type, zone, market, reason }: LaunchRefusal, at: Instant): ScalingFact => ({
  kind: 'granted',
  at,
  type,
  market,
  reason,
  ...(zone === undefined ? {} : { zone }),
});

/** The memory of a refusal after one more of it. Refusals that lie further back than twice their pause count no more. */
export function refuse(
  earlier: LaunchRefusal | undefined,
  offer: { readonly type: NodeTypeName; readonly zone?: string; readonly market: Market },
  { reason, detail, closes, late }: RefusedOffer,
  now: Instant,
  pauses: RefusalPauses = refusalPauses,
): LaunchRefusal {
  // A machine takes its time to fail: what comes after it without a success is in a row, however late.
  const inARow =
    earlier !== undefined && (isOfMachines(earlier) || now - earlier.until <= 2 * (earlier.until - earlier.last));
  const times = inARow ? earlier.times + 1 : 1;
  const pause = Math.min(pauses.longest, pauses.first[reason] * 2 ** Math.min(times - 1, 10));
  return {
    type: offer.type,
    ...(offer.zone === undefined ? {} : { zone: offer.zone }),
    market: offer.market,
    reason,
    ...(closes === undefined ? {} : { closes }),
    ...(late === undefined ? {} : { late }),
    ...(detail === undefined ? {} : { detail }),
    times,
    last: now,
    until: now + pause,
  };
}
