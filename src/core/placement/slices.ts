import { amountOf, type Labels, type Resources } from '../resources.ts';
import type { Room } from './room.ts';

/** On every host of a slice: how many there are. */
export const sliceHostsLabel = 'manta/slice-hosts';
/** Ray's own: of which slice a host is. */
export const sliceNameLabel = 'ray.io/tpu-slice-name';

/** What only the first host of a slice has; work that asks for it wants the whole slice. */
const isSliceHead = (name: string): boolean => /^TPU-.+-head$/.test(name);

export const asksForSlices = (bundles: readonly Resources[]): boolean =>
  bundles.some((bundle) => Object.keys(bundle).some(isSliceHead));

/** The same with no head of a slice left. */
export const withoutHeads = (available: Resources): Resources =>
  Object.fromEntries(Object.entries(available).map(([name, amount]) => [name, isSliceHead(name) ? 0 : amount]));

/** A slice, by its name, and how many hosts it has. */
export interface NamedSlice {
  readonly name: string;
  readonly hosts: number;
}

export const sliceOfNode = ({ labels }: { readonly labels: Labels }): NamedSlice | undefined => {
  const { [sliceNameLabel]: name, [sliceHostsLabel]: hosts } = labels;
  return name === undefined || hosts === undefined ? undefined : { name, hosts: Number(hosts) };
};

/** Nodes that belong to the slice. */
export const hostsOfSlice = <Node extends { readonly labels: Labels }>(
  name: string,
  nodes: readonly Node[],
): readonly Node[] => nodes.filter(({ labels }) => labels[sliceNameLabel] === name);

/** First hosts of slices all of whose hosts are there, with all of their chips free. */
export const headsOfFreeSlices = <Node extends Room>(nodes: readonly Node[]): readonly Node[] =>
  nodes.filter((node) => {
    const slice = sliceOfNode(node);
    if (slice === undefined || !Object.keys(node.total).some(isSliceHead)) return false;
    const hosts = hostsOfSlice(slice.name, nodes);
    return (
      hosts.length === slice.hosts &&
      hosts.every(({ total, available }) => amountOf(available, 'TPU') >= amountOf(total, 'TPU'))
    );
  });
