import type { Resources } from '../../core/resources.ts';
import type { Offer } from '../../core/scaling.ts';
import type { ClusterSpec, NodeType } from '../../core/spec/cluster.ts';
import type { MachineType, Price } from './answers.ts';

/** What a cloud sells. */
export interface CloudCatalog {
  readonly types: readonly MachineType[];
  readonly prices: readonly Price[];
}

/** Ray sets the rest aside for its object store, on every provider that it asks. */
const usableMemory = 0.7;

/** The spec with what the file leaves out of resources and prices filled in. What the file says stays. */
export function completeFromCatalog(spec: ClusterSpec, catalog: CloudCatalog): ClusterSpec {
  return { ...spec, nodeTypes: spec.nodeTypes.map((type) => completeType(type, catalog)) };
}

function completeType(type: NodeType, { types, prices }: CloudCatalog): NodeType {
  const machine = types.find(({ name }) => name === type.launchConfig.machine_type);
  if (machine === undefined) return type;
  const own = prices.filter((price) => price.type === machine.name);
  return {
    ...type,
    ...(!type.resourcesKnown && { resources: { ...resourcesOf(machine), ...type.resources }, resourcesKnown: true }),
    offers: type.offers.map((offer) => withPrice(offer, own)),
  };
}

const resourcesOf = ({ cpus, gpus, memory_gib }: MachineType): Resources => ({
  CPU: cpus,
  ...(gpus && { GPU: gpus }),
  memory: Math.floor(memory_gib * 2 ** 30 * usableMemory),
});

/** Where the cloud chooses the zone, the dearest counts: what is promised is not more than that. */
function withPrice(offer: Offer, prices: readonly Price[]): Offer {
  const fitting = prices.filter(
    ({ zone, market }) => market === offer.market && (offer.zone === undefined || offer.zone === zone),
  );
  if (fitting.length === 0) return offer;
  const price = Math.max(...fitting.map((each) => each.price));
  // One that is stopped keeps its machine here, and costs as much.
  return { stoppedPerHour: price, ...offer, ...(offer.pricePerHour === undefined && { pricePerHour: price }) };
}
