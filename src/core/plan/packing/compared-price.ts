import type { InstanceView } from '../../instance.ts';
import { amountOf, type Resources } from '../../resources.ts';
import type { ShapeRun } from '../shape.ts';
import type { TypeInfo } from '../state.ts';

/** How much more a broader type may cost and still be taken: less than what a node that few can use loses by idling. */
const worthIt = 1.2;
/** A narrow type counts as this much dearer than the broader one. */
const dearer = 1.001;

export interface ComparedPrice {
  readonly price: number;
  /** The type that is taken rather than this narrow one. */
  readonly broader?: TypeInfo;
}

/**
 * What an instance of a type counts as costing when types are compared: its price, unless it is narrow. A type is narrow
 * where another one has all that it has, costs at most a fifth more, and holds work of this cluster, waiting or at work
 * on a node now, that it cannot hold. Nodes that all work can share stand idle less than two kinds beside each other.
 */
export function comparedPrices(
  types: readonly TypeInfo[],
  instances: readonly InstanceView[],
  tasks: readonly ShapeRun[],
): ReadonlyMap<TypeInfo, ComparedPrice> {
  const compared = new Map<TypeInfo, ComparedPrice>();
  let work: readonly Resources[] | undefined;
  for (const type of types) {
    if (type.price === undefined) continue;
    let counts: ComparedPrice = { price: type.price };
    for (const broader of types) {
      if (broader.price === undefined || broader.price <= counts.price || !couldReplace(broader, type)) continue;
      work ??= workOf(instances, tasks);
      if (work.some((one) => holds(broader.resources, one) && !holds(type.resources, one)))
        counts = { price: broader.price * dearer, broader };
    }
    compared.set(type, counts);
  }
  return compared;
}

function couldReplace(broader: TypeInfo, type: TypeInfo): boolean {
  return (
    broader !== type &&
    (broader.price ?? 0) <= (type.price ?? 0) * worthIt &&
    broader.hosts === type.hosts &&
    broader.priority === type.priority &&
    (broader.spec?.maxWorkers ?? 0) > 0 &&
    holds(broader.resources, type.resources)
  );
}

/** What nodes are used for now, each node as one, and what waits. */
function workOf(instances: readonly InstanceView[], tasks: readonly ShapeRun[]): Resources[] {
  const work = tasks.map(({ shape }) => shape.request.resources);
  for (const { node, status, kind } of instances) {
    if (node === undefined || status !== 'running' || kind === 'head' || node.idleFor > 0) continue;
    const used: Record<string, number> = Object.create(null);
    for (const name in node.total) used[name] = amountOf(node.total, name) - amountOf(node.available, name);
    work.push(used);
  }
  return work;
}

function holds(room: Resources, asked: Resources): boolean {
  for (const name in asked) if (amountOf(asked, name) > amountOf(room, name)) return false;
  return true;
}
