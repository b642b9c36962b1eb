import type { Market } from '../instance.ts';
import type { Offer } from '../scaling.ts';
import type { PlainMap } from './cluster.ts';
import type { MantaNodeType } from './manta.ts';
import type { OfferFacts } from './provider-facts.ts';

/** The ways to get an instance of a type, in order: every zone of the first market, then of the next. */
export function offersFor(
  provider: PlainMap,
  launch: PlainMap,
  own: MantaNodeType,
  facts: OfferFacts | undefined,
): readonly Offer[] {
  const markets = own.markets.length > 0 ? own.markets : [marketOf(launch, facts)];
  const zones = own.zones.length > 0 ? own.zones : zonesOf(provider, launch, facts);
  return markets.flatMap((market) =>
    zones.map((zone): Offer => {
      const price = market === 'spot' ? own.spotPrice : own.price;
      return {
        ...(zone === undefined ? {} : { zone }),
        market,
        ...(price === undefined ? {} : { pricePerHour: price }),
      };
    }),
  );
}

function marketOf(launch: PlainMap, facts: OfferFacts | undefined): Market {
  if (facts?.isSpot?.(launch)) return 'spot';
  return facts?.isReserved?.(launch) ? 'reserved' : 'on-demand';
}

function zonesOf(provider: PlainMap, launch: PlainMap, facts: OfferFacts | undefined): readonly (string | undefined)[] {
  if (facts?.zones !== true) return [undefined];
  const own = facts.zoneOf?.(launch);
  if (own !== undefined) return [own ?? undefined];
  const zones =
    typeof provider.availability_zone === 'string'
      ? provider.availability_zone.split(',').map((zone) => zone.trim())
      : [];
  const named = zones.filter((zone) => zone !== '');
  return named.length > 0 ? [...new Set(named)] : [undefined];
}
