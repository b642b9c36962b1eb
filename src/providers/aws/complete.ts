import { ownValue } from '../../base/own-value.ts';
import type { Resources } from '../../core/resources.ts';
import type { Offer } from '../../core/scaling.ts';
import type { ClusterSpec, NodeType } from '../../core/spec/cluster.ts';
import { mapOf } from '../../core/spec/plain.ts';
import { awsResources } from './machine-names.ts';
import type { AwsPrice, PreparedAws, PreparedAwsType } from './prepared.ts';

/** The spec with what the file leaves out of resources, zones and prices filled in. What the file says stays. */
export function completeFromPrepared(
  spec: ClusterSpec,
  prepared: PreparedAws,
  prices: readonly AwsPrice[] = prepared.prices.list,
): ClusterSpec {
  return {
    ...spec,
    nodeTypes: spec.nodeTypes.map((type) => {
      const own = ownValue(prepared.types, type.name);
      return own === undefined ? type : completeType(type, own, prices);
    }),
  };
}

function completeType(type: NodeType, own: PreparedAwsType, prices: readonly AwsPrice[]): NodeType {
  const mine = prices.filter(({ instanceType }) => instanceType === own.instanceType);
  return {
    ...type,
    ...(!type.resourcesKnown && { resources: resourcesOf(type, own), resourcesKnown: true }),
    offers: marketsOf(type, own)
      .flatMap((offer) => inZones(offer, own))
      .map((offer) => withPrice(offer, type, mine))
      .map((offer) => withDisks(offer, own)),
  };
}

/** What AWS says counts more than what the name of the machine gives away, and less than what the file says. */
function resourcesOf({ resources, launchConfig }: NodeType, own: PreparedAwsType): Resources {
  const likely = awsResources(launchConfig) ?? {};
  const given = Object.entries(resources).filter(([name, amount]) => ownValue(likely, name) !== amount);
  return { ...resources, ...own.resources, ...Object.fromEntries(given) };
}

/** A launch cannot take back what its template says: where that is spot, nothing is on demand. */
function marketsOf({ offers }: NodeType, { templateSpot }: PreparedAwsType): readonly Offer[] {
  if (templateSpot === undefined) return offers;
  const spot = offers.map((offer) => (offer.market === 'on-demand' ? { ...offer, market: 'spot' as const } : offer));
  return [...new Map(spot.map((offer) => [`${offer.market} ${offer.zone}`, offer])).values()];
}

/** An offer in any zone is one in each where the cluster has a subnet, for a launch goes to one zone. */
function inZones(offer: Offer, { subnets = [] }: PreparedAwsType): readonly Offer[] {
  if (offer.zone !== undefined || subnets.length === 0) return [offer];
  return [...new Set(subnets.map(({ zone }) => zone))].map((zone) => ({ ...offer, zone }));
}

/** Only machines on demand are ever stopped. */
const withDisks = (offer: Offer, { stoppedPerHour }: PreparedAwsType): Offer =>
  stoppedPerHour === undefined || offer.market !== 'on-demand' ? offer : { ...offer, stoppedPerHour };

/** Where the zone is not known, the dearest counts: what is promised is not more than that. */
function withPrice(offer: Offer, { launchConfig }: NodeType, prices: readonly AwsPrice[]): Offer {
  if (offer.pricePerHour !== undefined) return offer;
  // A reservation costs what its machines cost on demand; a capacity block is paid for in advance.
  const isBlock = mapOf(launchConfig.InstanceMarketOptions).MarketType === 'capacity-block';
  const market = offer.market === 'reserved' && !isBlock ? 'on-demand' : offer.market;
  const fitting = prices.filter(
    (price) =>
      price.market === market && (price.zone === undefined || offer.zone === undefined || price.zone === offer.zone),
  );
  return fitting.length === 0 ? offer : { ...offer, pricePerHour: Math.max(...fitting.map(({ price }) => price)) };
}
