import { amountOf, isShare, type LabelSelector, type Resources } from './resources.ts';

/** Keeps requests that carry the same label and value on one node (`together`) or on different ones (`apart`). */
export interface PlacementRule {
  readonly kind: 'together' | 'apart';
  readonly label: string;
  readonly value: string;
}

/** One thing to place on one node. */
export interface Request {
  readonly resources: Resources;
  /** Fallbacks in order of preference; empty means any node. */
  readonly selectors: readonly LabelSelector[];
  readonly placement: readonly PlacementRule[];
}

/** Tasks and actors of one shape that wait for room. */
export interface TaskDemand {
  readonly request: Request;
  readonly count: number;
}

/** A placement group: all of its requests get room at once, or none does. */
export interface GangDemand {
  /** Stable for the life of the placement group; shown by `why`. */
  readonly id: string;
  readonly requests: readonly Request[];
  /** The engine's own words, such as the strategy and the state. */
  readonly details?: string;
  /** Placement rules and requests by which gangs are ordered, where the engine counts them otherwise than `requests` does. */
  readonly weight?: readonly [rules: number, requests: number];
}

/** What `request_resources` asked for: room for all of it at once, measured against whole nodes, until it is replaced. */
export interface StandingDemand {
  readonly requests: readonly TaskDemand[];
}

export interface Demand {
  readonly tasks: readonly TaskDemand[];
  readonly gangs: readonly GangDemand[];
  readonly standing: readonly StandingDemand[];
}

/** Not of every node of a type: the node's own name, shares of placement groups. No request names the object store. */
const isOwn = (name: string): boolean => name.startsWith('node:') || name === 'object_store_memory' || isShare(name);

/**
 * What runs on nodes that go. It asks for no room while it still runs, and it needs another place by the time they are
 * gone: that place is made meanwhile.
 */
export function displaced(
  nodes: readonly { readonly total: Resources; readonly available: Resources }[],
): readonly TaskDemand[] {
  return nodes.flatMap(({ total, available }) => {
    const used = Object.entries(total)
      .filter(([name]) => !isOwn(name))
      .map(([name, amount]): [string, number] => [name, amount - amountOf(available, name)])
      .filter(([, amount]) => amount > 0);
    if (used.length === 0) return [];
    return [{ request: { resources: Object.fromEntries(used), selectors: [], placement: [] }, count: 1 }];
  });
}
