import { ownValue } from '../../base/own-value.ts';
import type { Resources } from '../../core/resources.ts';
import type { Offer } from '../../core/scaling.ts';
import type { ClusterSpec, NodeType } from '../../core/spec/cluster.ts';
import { googleResources } from './machine-names.ts';
import type { PreparedGoogle, PreparedType } from './prepared.ts';

type Price = PreparedGoogle['prices']['list'][number];

/** The spec with what the file leaves out of resources, zones, prices and hosts filled in. What the file says stays. */
export function completeFromPrepared(spec: ClusterSpec, prepared: PreparedGoogle): ClusterSpec {
  return {
    ...spec,
    nodeTypes: spec.nodeTypes.map((type) => {
      const own = ownValue(prepared.types, type.name);
      return own === undefined ? type : completeType(type, own, prepared.prices.list);
    }),
  };
}

function completeType(type: NodeType, own: PreparedType, prices: readonly Price[]): NodeType {
  const mine = prices.filter(({ machine }) => machine === own.machine);
  return {
    ...type,
    ...(!type.resourcesKnown && { resources: resourcesOf(type, own), resourcesKnown: true }),
    ...(own.slice !== undefined && { hostsPerSlice: own.slice.hosts }),
    offers: type.offers.flatMap((offer) => inZones(offer, own)).map((offer) => withPrice(offer, mine)),
  };
}

/** What Google says counts more than what the name of the machine gives away, and less than what the file says. */
function resourcesOf({ resources, launchConfig }: NodeType, own: PreparedType): Resources {
  const likely = googleResources(launchConfig) ?? {};
  const given = Object.entries(resources).filter(([name, amount]) => ownValue(likely, name) !== amount);
  return { ...resources, ...own.resources, ...Object.fromEntries(given) };
}

/** An offer in any zone is one in each that has the machine, for a launch goes to one zone. */
const inZones = (offer: Offer, { zones }: PreparedType): readonly Offer[] =>
  offer.zone !== undefined || zones.length === 0 ? [offer] : zones.map((zone) => ({ ...offer, zone }));

/** Where the zone is not known, the dearest counts: what is promised is not more than that. */
function withPrice(offer: Offer, prices: readonly Price[]): Offer {
  if (offer.pricePerHour !== undefined) return offer;
  const fitting = prices.filter(
    ({ market, zone }) =>
      market === offer.market && (zone === undefined || offer.zone === undefined || zone === offer.zone),
  );
  return fitting.length === 0 ? offer : { ...offer, pricePerHour: Math.max(...fitting.map(({ price }) => price)) };
}
