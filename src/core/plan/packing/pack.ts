import type { Policy } from '../policy.ts';
import type { ShapeRun, Vocabulary } from '../shape.ts';
import type { DemandSource, State, States, TypeInfo } from '../state.ts';
import type { Bin } from './bin.ts';
import { buy, type Purchase } from './buy.ts';
import { fillBins } from './fill.ts';
import { makeQueue } from './fit.ts';

/** Where demand may go: nodes that exist or are already planned, and types that may be launched. */
export interface PackingSpace {
  /** In tie order: the first of equals wins. */
  readonly bins: readonly Bin[];
  /** Types of which more may be launched, in tie order, and how many instances of each. */
  readonly pool: readonly PoolType[];
  /** How many instances may be launched in all. */
  readonly room: number;
}

export interface PoolType {
  readonly type: TypeInfo;
  /** Its first host, where a unit has several. */
  readonly fresh: State;
  /** Each of the others. */
  readonly later: State;
  readonly room: number;
  /** What one instance counts as costing, when known. */
  readonly price: number | undefined;
}

export interface Packed {
  /** Bins that took something, in the order in which they were chosen. */
  readonly picks: readonly { readonly bin: Bin; readonly to: State }[];
  readonly purchases: readonly Purchase[];
  /** What found no place, by run. */
  readonly left: readonly number[];
  /** The bins that took nothing, in the order in which the next packing must see them; undefined when it does not change. */
  readonly order: readonly Bin[] | undefined;
}

export interface Packer {
  readonly policy: Policy;
  readonly vocabulary: Vocabulary;
  readonly states: States;
}

/**
 * Places runs on the space: again and again the node that takes them best, existing nodes first, then new ones.
 * Nodes of one state are one class; a class is looked at again only when something it would take has run short.
 */
export function pack(packer: Packer, space: PackingSpace, runs: readonly ShapeRun[], source: DemandSource): Packed {
  const asRay = packer.policy.like === 'ray';
  const queue = makeQueue(runs, packer.vocabulary, asRay);
  const filled = fillBins(packer, space.bins, queue, source);
  const purchases = buy(packer, space, queue, source);
  return { picks: filled.picks, purchases, left: queue.left, order: asRay ? filled.others() : undefined };
}
