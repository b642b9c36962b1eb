import type { Instant } from '../../base/time/clock.ts';
import type { Offer, ScalingType } from '../scaling.ts';
import type { LaunchRefusal } from '../view.ts';

/** The offer to use for a type now, and what stands against the others. */
export interface BestOffer {
  /** Undefined: every offer is refused for now. */
  readonly offer: Offer | undefined;
  readonly refused: readonly { readonly offer: Offer; readonly refusal: LaunchRefusal }[];
  /** When the first refused offer may be asked again; undefined when none is refused. */
  readonly until: Instant | undefined;
}

/** The first offer, in the order of the spec, that the provider has not refused lately. */
export function bestOffer(type: ScalingType, refusals: readonly LaunchRefusal[], now: Instant): BestOffer {
  const refused: { offer: Offer; refusal: LaunchRefusal }[] = [];
  let best: Offer | undefined;
  const [first] = type.offers;
  const ofType = refusals.find((one) => one.type === type.name && one.reason === 'setup-failed' && one.until > now);
  if (ofType !== undefined && first !== undefined)
    return { offer: undefined, refused: [{ offer: { market: first.market }, refusal: ofType }], until: ofType.until };
  for (const offer of type.offers) {
    const refusal = lastRefusal(type, offer, refusals, now);
    if (refusal !== undefined) refused.push({ offer, refusal });
    else best ??= offer;
  }
  const until = refused.length === 0 ? undefined : Math.min(...refused.map(({ refusal }) => refusal.until));
  return { offer: best, refused, until };
}

function lastRefusal(
  type: ScalingType,
  offer: Offer,
  refusals: readonly LaunchRefusal[],
  now: Instant,
): LaunchRefusal | undefined {
  let last: LaunchRefusal | undefined;
  for (const one of refusals) {
    if (one.until <= now || !closes(one, type, offer)) continue;
    if (last === undefined || one.until > last.until) last = one;
  }
  return last;
}

/** What an instance adds to the bill: what is reserved is paid for whether an instance uses it or not. */
export const addedPrice = (offer: Offer | undefined): number | undefined =>
  offer?.market === 'reserved' ? 0 : offer?.pricePerHour;

/** Quotas are of one market. One of a region is of the type there: others may have a quota of their own. */
function closes(refusal: LaunchRefusal, type: ScalingType, offer: Offer): boolean {
  if (refusal.market !== offer.market || refusal.reason === 'setup-failed') return false;
  if (refusal.closes === 'project') return true;
  return refusal.type === type.name && (refusal.closes === 'region' || refusal.zone === offer.zone);
}
