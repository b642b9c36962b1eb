import { ownValue } from '../../base/own-value.ts';
import type { Resources } from '../../core/resources.ts';
import type { Offer } from '../../core/scaling.ts';
import type { ClusterSpec, NodeType } from '../../core/spec/cluster.ts';
import { googleResources } from './machine-names.ts';
import type { PreparedGoogle, PreparedType } from './prepared.ts';

type Price = PreparedGoogle['prices']['list'][number];
type PreparedSlice = NonNullable<PreparedType['slice']>;

/** The spec with what the file leaves out of resources, zones, prices and hosts filled in. What the file says stays. */
export function completeFromPrepared(spec: ClusterSpec, prepared: PreparedGoogle): ClusterSpec {
  const nodeTypes = spec.nodeTypes.map((type) => {
    const own = ownValue(prepared.types, type.name);
    if (own === undefined) return type;
    const complete = completeType(type, own, prepared.prices.list);
    return own.slice === undefined ? complete : asSlice(complete, own.slice);
  });
  return { ...spec, nodeTypes, ...(spec.maxWorkers !== undefined && { maxWorkers: limitFor(spec, nodeTypes) }) };
}

/** The file counts slices and the planner counts hosts: where slices have more than was thought, as many slices as before fit. */
function limitFor({ maxWorkers = 0, nodeTypes: before }: ClusterSpec, after: readonly NodeType[]): number {
  const grows = after.map(({ hostsPerSlice }, at) => hostsPerSlice / Math.max(1, before[at]!.hostsPerSlice));
  return Math.ceil(maxWorkers * Math.max(1, ...grows));
}

/** The head of a slice is its first host and no other, whatever the file gives to all of them. */
function asSlice(type: NodeType, { type: name, hosts }: PreparedSlice): NodeType {
  const head = `TPU-${name}-head`;
  const { [head]: given = 1, ...resources } = type.resources;
  const scaled = (workers: number): number => (workers / Math.max(1, type.hostsPerSlice)) * hosts;
  return {
    ...type,
    resources,
    firstHost: { [head]: given },
    hostsPerSlice: hosts,
    minWorkers: scaled(type.minWorkers),
    maxWorkers: scaled(type.maxWorkers),
    initialWorkers: scaled(type.initialWorkers),
  };
}

function completeType(type: NodeType, own: PreparedType, prices: readonly Price[]): NodeType {
  const mine = prices.filter(({ machine }) => machine === own.machine);
  return {
    ...type,
    ...(!type.resourcesKnown && { resources: resourcesOf(type, own), resourcesKnown: true }),
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
