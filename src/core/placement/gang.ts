import { amountOf, type Resources } from '../resources.ts';
import { fits, plus, rounded } from './booking.ts';
import { byFit, type Placement, type Room } from './room.ts';

/**
 * Nodes that a search may look at once its first way has led nowhere. A gang that needs more waits for an easier moment:
 * until the search is over, nobody else is answered.
 */
const mostLooks = 20_000;

/** Where each part of a gang goes, or undefined when no way was found. */
export function placeGang(
  parts: readonly Resources[],
  strategy: string,
  nodes: readonly Room[],
): Placement | undefined {
  const all = plus(...parts);
  if (strategy === 'STRICT_PACK') {
    const best = nodes.filter((node) => fits(all, node.available)).sort(byFit(all))[0];
    return best && parts.map((resources) => ({ node: best.id, resources }));
  }
  const isHopeless = (strategy === 'STRICT_SPREAD' && parts.length > nodes.length) || !fitsTogether(all, nodes);
  return isHopeless ? undefined : new GangSearch(parts, strategy, nodes).run();
}

/** Amounts are rounded to four decimals on the way: what is short by less is for the search to find out. */
const fitsTogether = (all: Resources, nodes: readonly Room[]): boolean =>
  Object.entries(all).every(
    ([name, amount]) =>
      amount <= nodes.reduce((sum, { available }) => sum + Math.max(0, amountOf(available, name)) + 1e-4, 0),
  );

/** A part as numbers: what it needs of the resource at each index. */
interface Part {
  readonly index: number;
  readonly resources: Resources;
  readonly needs: readonly (readonly [name: number, amount: number])[];
  readonly size: number;
}

/** A node while parts are put on it and taken off again. */
interface Place {
  readonly node: Room;
  readonly totals: readonly number[];
  readonly left: number[];
  used: number;
}

/** Tries nodes for one part after the other, and goes back where a part finds none. */
class GangSearch {
  /** Largest first: what is hard to place fails early. */
  readonly #order: readonly Part[];
  readonly #apart: boolean;
  readonly #packs: boolean;
  readonly #places: readonly Place[];
  readonly #placed: { node: string; resources: Resources }[] = [];
  /** What was left for which parts where no way led on. */
  readonly #failed = new Set<string>();
  #looks = 0;

  constructor(parts: readonly Resources[], strategy: string, nodes: readonly Room[]) {
    const names = [...new Set(parts.flatMap((part) => Object.keys(part)))];
    const indexes = new Map(names.map((name, index) => [name, index]));
    const partOf = (resources: Resources, index: number): Part => {
      const needs = Object.entries(resources).map(([name, amount]) => [indexes.get(name) ?? 0, amount] as const);
      return { index, resources, needs, size: needs.reduce((sum, [, amount]) => sum + amount, 0) };
    };
    this.#order = parts.map(partOf).sort((a, b) => b.size - a.size);
    this.#apart = strategy === 'STRICT_SPREAD';
    this.#packs = strategy === 'PACK';
    // In the order of ids, which decides between equals.
    this.#places = [...nodes]
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .map((node) => ({
        node,
        totals: names.map((name) => amountOf(node.total, name) || 1),
        left: names.map((name) => amountOf(node.available, name)),
        used: 0,
      }));
  }

  run(): Placement | undefined {
    return this.#search(0) ? this.#placed : undefined;
  }

  #search(step: number): boolean {
    const part = this.#order[step];
    if (!part) return true;
    if (this.#failed.size > 0 && this.#failed.has(this.#stateAt(step))) return false;
    // Of two nodes with as much left, the second leads where the first one led.
    const tried = new Set<string>();
    for (let place = this.#best(part, tried); place; place = this.#best(part, tried)) {
      const before = [...place.left];
      for (const [name, amount] of part.needs) place.left[name] = rounded((place.left[name] ?? 0) - amount);
      place.used += 1;
      this.#placed[part.index] = { node: place.node.id, resources: part.resources };
      if (this.#search(step + 1)) return true;
      for (const [name] of part.needs) place.left[name] = before[name] ?? 0;
      place.used -= 1;
      if (this.#looks > mostLooks) return false;
      tried.add(this.#leftOn(place));
    }
    this.#failed.add(this.#stateAt(step));
    return false;
  }

  /** The node that goes first of those that were not tried yet. */
  #best(part: Part, tried: ReadonlySet<string>): Place | undefined {
    if (this.#failed.size > 0 || tried.size > 0) this.#looks += this.#places.length;
    let best: Place | undefined;
    for (const place of this.#places) {
      if (this.#apart && place.used > 0) continue;
      if (!part.needs.every(([name, amount]) => amount <= (place.left[name] ?? 0))) continue;
      if (best && !this.#goesBefore(place, best, part)) continue;
      if (tried.size === 0 || !tried.has(this.#leftOn(place))) best = place;
    }
    return best;
  }

  #goesBefore(a: Place, b: Place, part: Part): boolean {
    if (a.used !== b.used) return this.#packs ? a.used > b.used : a.used < b.used;
    const [spareA, spareB] = [spares(a, part), spares(b, part)];
    return spareA === spareB ? leftover(a, part) < leftover(b, part) : spareB;
  }

  #leftOn({ left, used }: Place): string {
    return `${this.#apart && used > 0 ? 'taken ' : ''}${left.join()}`;
  }

  /** The same for any two ways that leave as much on as many nodes. */
  #stateAt(step: number): string {
    this.#looks += this.#places.length;
    const left = this.#places.map((place) => this.#leftOn(place)).sort();
    return `${step}:${left.join(';')}`;
  }
}

/** Graphics devices are kept for work that asks for them. */
const spares = ({ node }: Place, { resources }: Part): boolean => (node.total.GPU ?? 0) > 0 && !(resources.GPU ?? 0);

function leftover({ left, totals }: Place, { needs }: Part): number {
  let sum = 0;
  for (const [name, amount] of needs) if (amount > 0) sum += ((left[name] ?? 0) - amount) / (totals[name] ?? 1);
  return sum;
}
