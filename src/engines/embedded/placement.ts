import { amountOf, type Labels, type Resources } from '../../core/resources.ts';
import { asksForNothing, fits, minus, plus } from './booking.ts';
import { matchesLabels } from './labels.ts';

/** A node as far as placing goes. */
export interface Room {
  readonly id: string;
  readonly head: boolean;
  readonly total: Resources;
  readonly available: Resources;
  readonly labels: Labels;
}

export interface Asked {
  readonly resources: Resources;
  readonly labels: Labels;
  readonly gang?: { readonly bundles: readonly Resources[]; readonly strategy: string };
}

/** What to book, and where. The entrypoint runs on the first node. */
export type Placement = readonly { readonly node: string; readonly resources: Resources }[];

/** Tries of one search; a gang that needs more than this waits for an easier moment. */
const maxTries = 20_000;

/**
 * Where an order goes, or undefined when there is no room now. One that asks for nothing runs on the head. Otherwise the
 * node that is left with least of what was asked for; nodes with graphics devices are spared for work that asks for them.
 */
export function place(asked: Asked, nodes: readonly Room[]): Placement | undefined {
  const bundles = asked.gang?.bundles ?? [];
  const suitable = nodes.filter((node) => matchesLabels(asked.labels, node.labels));
  if (bundles.length === 0) {
    const candidates = asksForNothing(asked.resources) ? nodes.filter((node) => node.head) : suitable;
    const best = candidates.filter((node) => fits(asked.resources, node.available)).sort(byFit(asked.resources))[0];
    return best && [{ node: best.id, resources: asked.resources }];
  }
  // The entrypoint's own resources stand beside the first bundle.
  const parts = bundles.map((bundle, index) => (index === 0 ? plus(bundle, asked.resources) : bundle));
  return placeGang(parts, asked.gang?.strategy ?? 'PACK', suitable);
}

function placeGang(parts: readonly Resources[], strategy: string, nodes: readonly Room[]): Placement | undefined {
  if (strategy === 'STRICT_PACK') {
    const all = plus(...parts);
    const best = nodes.filter((node) => fits(all, node.available)).sort(byFit(all))[0];
    return best && parts.map((resources) => ({ node: best.id, resources }));
  }
  // Largest first: what is hard to place fails early.
  const order = parts
    .map((resources, index) => ({ resources, index }))
    .sort((a, b) => size(b.resources) - size(a.resources));
  const left = new Map(nodes.map((node) => [node.id, node.available]));
  const used = new Map<string, number>();
  const placed: { node: string; resources: Resources }[] = [];
  let tries = 0;

  const search = (step: number): boolean => {
    const part = order[step];
    if (!part) return true;
    const candidates = nodes
      .filter((node) => fits(part.resources, left.get(node.id) ?? {}))
      .filter((node) => strategy !== 'STRICT_SPREAD' || !used.get(node.id))
      .map((node) => ({ ...node, available: left.get(node.id) ?? {} }))
      .sort(byFit(part.resources));
    const packs = strategy === 'PACK';
    candidates.sort((a, b) => ((used.get(a.id) ?? 0) - (used.get(b.id) ?? 0)) * (packs ? -1 : 1));
    for (const node of candidates) {
      if (++tries > maxTries) return false;
      left.set(node.id, minus(node.available, part.resources));
      used.set(node.id, (used.get(node.id) ?? 0) + 1);
      placed[part.index] = { node: node.id, resources: part.resources };
      if (search(step + 1)) return true;
      left.set(node.id, node.available);
      used.set(node.id, (used.get(node.id) ?? 1) - 1);
    }
    return false;
  };
  return search(0) ? placed : undefined;
}

const size = (resources: Resources): number => Object.values(resources).reduce((sum, amount) => sum + amount, 0);

function byFit(asked: Resources): (a: Room, b: Room) => number {
  const names = Object.keys(asked).filter((name) => amountOf(asked, name) > 0);
  const spares = (node: Room): number => ((node.total.GPU ?? 0) > 0 && !(asked.GPU ?? 0) ? 1 : 0);
  const leftover = (node: Room): number =>
    names.reduce(
      (sum, name) => sum + (amountOf(node.available, name) - amountOf(asked, name)) / (amountOf(node.total, name) || 1),
      0,
    );
  return (a, b) => spares(a) - spares(b) || leftover(a) - leftover(b) || (a.id < b.id ? -1 : 1);
}
