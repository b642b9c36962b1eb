import type { Bin } from './bin.ts';
import { buy, type Purchase } from './buy.ts';
import { type Fit, fit, holdsAny, makeQueue, type Queue } from './fit.ts';
import type { Policy } from './policy.ts';
import type { Run, Vocabulary } from './shape.ts';
import type { Source, State, States, TypeInfo } from './state.ts';

/** Where demand may go: nodes that exist or are already planned, and types that may be launched. */
export interface Ground {
  /** In tie order: the first of equals wins. */
  readonly bins: readonly Bin[];
  /** Types of which more may be launched, in tie order, and how many instances of each. */
  readonly pool: readonly { readonly type: TypeInfo; readonly fresh: State; readonly room: number }[];
  /** How many instances may be launched in all. */
  readonly room: number;
}

export interface Packed {
  /** Bins that took something, in the order in which they were chosen. */
  readonly picks: readonly { readonly bin: Bin; readonly to: State }[];
  readonly purchases: readonly Purchase[];
  /** What found no place, by run. */
  readonly left: readonly number[];
  /** Bins in the order in which the next packing must see them; undefined when the order does not change. */
  readonly order: readonly Bin[] | undefined;
}

export interface Packer {
  readonly policy: Policy;
  readonly vocabulary: Vocabulary;
  readonly states: States;
}

/**
 * Places runs on the ground: again and again the node that takes them best, existing nodes first, then new ones.
 * Nodes of one state are one class; a class is looked at again only when something it would take has run short.
 */
export function pack(packer: Packer, ground: Ground, runs: readonly Run[], source: Source): Packed {
  const queue = makeQueue(runs, packer.vocabulary);
  const filled = fillBins(packer, ground.bins, queue, source);
  const purchases = buy(packer, ground, queue, source);
  const order = packer.policy.like === 'ray' && runs.length > 0 ? filled.order() : undefined;
  return { picks: filled.picks, purchases, left: queue.left, order };
}

/** Bins of one state. */
interface Class {
  /** Positions in the list of bins, ascending; those before `next` are taken. */
  readonly positions: number[];
  next: number;
  state: State;
  fit: Fit | undefined;
  /** The first run it may take: those before never fit it. */
  start: number;
  version: number;
}

function fillBins(packer: Packer, bins: readonly Bin[], queue: Queue, source: Source) {
  const picks: { bin: Bin; to: State }[] = [];
  const taken = new Uint8Array(bins.length);
  const spent: number[] = [];
  const classes = classify(packer, bins, queue, source, spent);
  const users: { class: Class; version: number }[][] = queue.runs.map(() => []);
  const most = new Float64Array(queue.runs.length);
  const heap = new Heap((a, b) => better(packer, a, b));
  let open = queue.runs.length;

  const look = (c: Class): void => {
    c.state = (bins[c.positions[c.next] as number] as Bin).state;
    c.version++;
    c.fit = fit(queue, c.state, source, c.start);
    if (c.fit === undefined) return;
    c.start = c.fit.runs[0] as number;
    const { runs, counts } = c.fit;
    for (let k = 0; k < runs.length; k++) {
      const run = runs[k] as number;
      (users[run] as { class: Class; version: number }[]).push({ class: c, version: c.version });
      if ((counts[k] as number) > (most[run] as number)) most[run] = counts[k] as number;
    }
    heap.push(entryOf(c));
  };

  if (queue.runs.length > 0) for (const c of classes) look(c);
  while (open > 0) {
    const best = heap.pop()?.class;
    if (best === undefined) break;
    const chosen = best.fit as Fit;
    const times = repeats(packer, queue, best, bins, most, heap);
    const placed = chosen.runs.map((run, k) => ({
      shape: (queue.runs[run] as Run).shape,
      count: chosen.counts[k] as number,
    }));
    const to = packer.states.after(best.state, source, placed, chosen.room, chosen.labels, chosen.marks);
    for (let n = 0; n < times; n++) {
      const position = best.positions[best.next++] as number;
      taken[position] = 1;
      picks.push({ bin: bins[position] as Bin, to });
    }
    const short: Class[] = [];
    for (let k = 0; k < chosen.runs.length; k++) {
      const run = chosen.runs[k] as number;
      const left = (queue.left[run] as number) - times * (chosen.counts[k] as number);
      queue.left[run] = left;
      if (left === 0) open--;
      if (left < (most[run] as number)) collectShort(queue, users, most, run, best, short);
    }
    const more = best.next < best.positions.length;
    const changed = more && (bins[best.positions[best.next] as number] as Bin).state !== best.state;
    const fits = chosen.runs.every((run, k) => (queue.left[run] as number) >= (chosen.counts[k] as number));
    best.version++;
    if (more && (changed || !fits)) look(best);
    else if (more) {
      heap.push(entryOf(best));
      for (const run of chosen.runs)
        (users[run] as { class: Class; version: number }[]).push({ class: best, version: best.version });
    }
    for (const c of short) look(c);
  }

  const order = (): Bin[] => {
    const rest: Bin[] = [];
    const isSpent = new Set(spent);
    for (let i = 0; i < bins.length; i++) if (taken[i] === 0 && !isSpent.has(i)) rest.push(bins[i] as Bin);
    return [...rest, ...spent.map((i) => bins[i] as Bin)];
  };
  return { picks, order };
}

/** Classes in which some bin may take something. Running bins that hold no run at all are `spent`. */
function classify(packer: Packer, bins: readonly Bin[], queue: Queue, source: Source, spent: number[]): Class[] {
  const classes = new Map<number | string, Class>();
  const holding = new Map<State, boolean>();
  const asRay = packer.policy.like === 'ray';
  for (let position = 0; position < bins.length; position++) {
    const { state } = bins[position] as Bin;
    if (state.running) {
      let holds = holding.get(state);
      if (holds === undefined) {
        holds = queue.runs.length === 0 || holdsAny(queue, state.room[source]);
        holding.set(state, holds);
      }
      if (!holds) {
        spent.push(position);
        continue;
      }
    }
    const key = asRay && !state.running ? sameToRay(state, source) : state.id;
    const known = classes.get(key);
    if (known !== undefined) known.positions.push(position);
    else classes.set(key, { positions: [position], next: 0, state, fit: undefined, start: 0, version: 0 });
  }
  return [...classes.values()];
}

/** Ray looks at the first of pending nodes that agree in this, even where their loads and so their scores differ. */
function sameToRay(state: State, source: Source): string {
  const labels = state.labels.map((value) => (value === undefined ? '' : JSON.stringify(value)));
  return `${state.type.name}|${state.head}|${state.frame.totals.join()}|${state.room[source].join()}|${labels.join()}`;
}

/** How many bins of the best class can be filled alike before any other choice could change. */
function repeats(
  packer: Packer,
  queue: Queue,
  best: Class,
  bins: readonly Bin[],
  most: Float64Array,
  heap: Heap,
): number {
  const chosen = best.fit as Fit;
  let times = best.positions.length - best.next;
  if (times === 1) return 1;
  for (let k = 0; k < chosen.runs.length; k++) {
    const run = chosen.runs[k] as number;
    const spare = (queue.left[run] as number) - (most[run] as number);
    times = Math.min(times, Math.floor(spare / (chosen.counts[k] as number)) + 1);
  }
  times = Math.max(1, times);
  const rival = heap.peek();
  const tie = rival !== undefined && compareEntries(packer, entryOf(best), rival) === 0;
  const until = tie ? rival.position : Number.POSITIVE_INFINITY;
  let same = 1;
  while (same < times) {
    const position = best.positions[best.next + same] as number;
    if ((bins[position] as Bin).state !== best.state || position > until) break;
    same++;
  }
  return same;
}

function collectShort(
  queue: Queue,
  users: { class: Class; version: number }[][],
  most: Float64Array,
  run: number,
  best: Class,
  short: Class[],
): void {
  const left = queue.left[run] as number;
  const still: { class: Class; version: number }[] = [];
  let highest = 0;
  for (const user of users[run] as { class: Class; version: number }[]) {
    const c = user.class;
    if (c.version !== user.version || c === best || c.fit === undefined) continue;
    const count = c.fit.counts[c.fit.runs.indexOf(run)] as number;
    if (count > left) {
      // Outdates the entry in the heap and in the other runs' lists.
      c.version++;
      short.push(c);
    } else {
      still.push(user);
      if (count > highest) highest = count;
    }
  }
  users[run] = still;
  const own = best.fit?.runs.indexOf(run) ?? -1;
  if (own >= 0 && best.next < best.positions.length) highest = Math.max(highest, best.fit?.counts[own] ?? 0);
  most[run] = highest;
}

/** A class as it stood when it was put in the heap. */
interface Entry {
  readonly class: Class;
  readonly version: number;
  readonly position: number;
  readonly fit: Fit;
  readonly state: State;
}

const entryOf = (c: Class): Entry => ({
  class: c,
  version: c.version,
  position: c.positions[c.next] as number,
  fit: c.fit as Fit,
  state: c.state,
});

function better(packer: Packer, a: Entry, b: Entry): boolean {
  const order = compareEntries(packer, a, b);
  return order > 0 || (order === 0 && a.position < b.position);
}

function compareEntries(packer: Packer, a: Entry, b: Entry): number {
  const x = a.fit.score;
  const y = b.fit.score;
  // Work goes to a node that already runs before one that is still to come.
  const tier = packer.policy.like === 'ray' ? 0 : Number(a.state.running) - Number(b.state.running);
  return (
    x.labels - y.labels ||
    x.gpu - y.gpu ||
    tier ||
    x.names - y.names ||
    x.least - y.least ||
    x.mean - y.mean ||
    a.state.type.recoverable - b.state.type.recoverable ||
    a.state.type.priority - b.state.type.priority ||
    a.state.type.availability - b.state.type.availability
  );
}

/** Best first. Entries of classes that have been looked at again since are dropped on the way. */
class Heap {
  private readonly entries: Entry[] = [];
  private readonly before: (a: Entry, b: Entry) => boolean;

  constructor(before: (a: Entry, b: Entry) => boolean) {
    this.before = before;
  }

  push(entry: Entry): void {
    const { entries } = this;
    let at = entries.length;
    entries.push(entry);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.before(entry, entries[parent] as Entry)) break;
      entries[at] = entries[parent] as Entry;
      at = parent;
    }
    entries[at] = entry;
  }

  peek(): Entry | undefined {
    for (;;) {
      const top = this.entries[0];
      if (top === undefined || top.class.version === top.version) return top;
      this.removeTop();
    }
  }

  pop(): Entry | undefined {
    const top = this.peek();
    if (top !== undefined) this.removeTop();
    return top;
  }

  private removeTop(): void {
    const { entries } = this;
    const last = entries.pop() as Entry;
    if (entries.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= entries.length) break;
      if (child + 1 < entries.length && this.before(entries[child + 1] as Entry, entries[child] as Entry)) child++;
      if (!this.before(entries[child] as Entry, last)) break;
      entries[at] = entries[child] as Entry;
      at = child;
    }
    entries[at] = last;
  }
}
