import { amountOf, type Labels, type Resources } from '../resources.ts';

/** A node as far as placing goes. */
export interface Room {
  readonly id: string;
  readonly head: boolean;
  readonly total: Resources;
  readonly available: Resources;
  readonly labels: Labels;
}

/** What to book, and where. The entrypoint runs on the first node. */
export type Placement = readonly { readonly node: string; readonly resources: Resources }[];

/** Rooms in the order in which to take them: first the one that is left with least of what was asked for. */
export function byFit(asked: Resources): (a: Room, b: Room) => number {
  const names = Object.keys(asked).filter((name) => amountOf(asked, name) > 0);
  const spares = (node: Room): number => ((node.total.GPU ?? 0) > 0 && !(asked.GPU ?? 0) ? 1 : 0);
  const leftover = (node: Room): number =>
    names.reduce(
      (sum, name) => sum + (amountOf(node.available, name) - amountOf(asked, name)) / (amountOf(node.total, name) || 1),
      0,
    );
  return (a, b) => spares(a) - spares(b) || leftover(a) - leftover(b) || (a.id < b.id ? -1 : 1);
}
