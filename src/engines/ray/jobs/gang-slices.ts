/** Jobs across whole slices: which slices an attempt has, what it is told of them, and what of them is left. */
import {
  asksForSlices,
  hostsOfSlice,
  type NamedSlice,
  sliceNameLabel,
  sliceOfNode,
  withoutHeads,
} from '../../../core/placement/slices.ts';
import type { EngineNode } from '../../engine.ts';
import type { AttemptOrder } from '../../runner.ts';

export const wantsSlices = ({ gang }: Pick<AttemptOrder, 'gang'>): boolean => asksForSlices(gang?.bundles ?? []);

/** The order with its slices: the entrypoint runs on the first host of the first, and is told the names of all. */
export const onSlices = (order: AttemptOrder, slices: readonly NamedSlice[]): AttemptOrder => ({
  ...order,
  own: { ...order.own, MANTA_SLICES: JSON.stringify(slices.map(({ name }) => name)) },
  labels: { ...order.labels, [sliceNameLabel]: slices[0]!.name },
});

/** The slice that is not whole any more, where one is. `leaving`: hosts that drain count as gone. */
export const brokenSlice = (
  slices: readonly NamedSlice[],
  nodes: readonly EngineNode[],
  leaving: boolean,
): string | undefined =>
  slices.find(({ name, hosts }) => {
    const there = hostsOfSlice(name, nodes).filter(
      ({ state }) => state === 'alive' || (state === 'draining' && !leaving),
    );
    return there.length < hosts;
  })?.name;

/** Slices of running jobs are taken and not idle, also where their jobs have nothing to do on them yet. */
export const withHeld = (nodes: readonly EngineNode[], held: ReadonlySet<string>): readonly EngineNode[] =>
  held.size === 0
    ? nodes
    : nodes.map((node) =>
        held.has(sliceOfNode(node)?.name ?? '')
          ? { ...node, available: withoutHeads(node.available), idleFor: 0 }
          : node,
      );
