import type { Run, Shape, Vocabulary } from './shape.ts';
import { labelMatch, type Source, type State, usage } from './state.ts';

/** What one node of a state would take of the demand that is left, and how good that is. */
export interface Fit {
  /** Run indexes and counts, in packing order. Empty: nothing. */
  readonly runs: readonly number[];
  readonly counts: readonly number[];
  readonly room: Float64Array;
  readonly labels: readonly (string | undefined)[];
  readonly marks: ReadonlySet<string>;
  readonly score: Score;
}

/** Compared from the first field down; higher is better. */
export interface Score {
  readonly labels: number;
  /** 0 for a GPU node that would get no GPU work. */
  readonly gpu: number;
  readonly names: number;
  readonly least: number;
  readonly mean: number;
}

/** The demand of one packing: runs in order and how much of each is left. */
export interface Queue {
  readonly runs: readonly Run[];
  readonly left: number[];
  readonly vocabulary: Vocabulary;
  /** By run index: amounts without which no run from there on fits. */
  readonly floors: readonly Floor[];
}

interface Floor {
  readonly names: readonly number[];
  readonly amounts: readonly number[];
}

export function makeQueue(runs: readonly Run[], vocabulary: Vocabulary): Queue {
  const floors: Floor[] = new Array(runs.length + 1);
  let least: Map<number, number> | undefined;
  floors[runs.length] = { names: [], amounts: [] };
  for (let i = runs.length - 1; i >= 0; i--) {
    const { shape } = runs[i] as Run;
    const own = new Map<number, number>();
    for (const [at, name] of shape.names.entries()) {
      // Nothing is known to be missing where a node has some without naming it.
      if (vocabulary.unnamed[name] !== 0) continue;
      const amount = shape.amounts[at] as number;
      const later = least === undefined ? amount : least.get(name);
      if (later !== undefined) own.set(name, Math.min(amount, later));
    }
    least = own;
    floors[i] = { names: [...own.keys()], amounts: [...own.values()] };
  }
  return { runs, left: runs.map((run) => run.count), vocabulary, floors };
}

/** Whether the room, labels apart, holds any of the runs. */
export function holdsAny(queue: Queue, room: Float64Array): boolean {
  return queue.runs.some(({ shape }) =>
    shape.names.every((name, at) => roomOf(queue, room, name) >= (shape.amounts[at] as number)),
  );
}

function roomOf(queue: Queue, room: Float64Array, name: number): number {
  const value = room[name] as number;
  return value === value ? value : (queue.vocabulary.unnamed[name] as number);
}

/** Fills one node greedily in packing order, from run `start` on. */
export function fit(queue: Queue, state: State, source: Source, start = 0): Fit | undefined {
  const { runs, left, floors } = queue;
  let room: Float64Array | undefined;
  let labels = state.labels;
  let marks = state.marks;
  const placedRuns: number[] = [];
  const counts: number[] = [];
  const initial = state.room[source];
  for (let i = start; i < runs.length; i++) {
    const available = left[i] as number;
    if (available === 0) continue;
    if (tooPoor(floors[i] as Floor, room ?? initial)) break;
    const { shape } = runs[i] as Run;
    if (shape.selectors.length > 0 && labelMatch(shape, labels) === 0) continue;
    if (shape.apart.length > 0 && isTaken(shape, labels, marks)) continue;
    const most = shape.apart.length > 0 ? 1 : available;
    const count = countFitting(queue, room ?? initial, shape, most);
    if (count === 0) continue;
    room ??= initial.slice();
    subtract(queue, room, shape, count);
    if (shape.apart.length > 0) ({ labels, marks } = mark(shape, labels, marks));
    placedRuns.push(i);
    counts.push(count);
  }
  if (placedRuns.length === 0) return undefined;
  return {
    runs: placedRuns,
    counts,
    room: room as Float64Array,
    labels,
    marks,
    score: score(queue, state, source, placedRuns, room as Float64Array, labels),
  };
}

function tooPoor(floor: Floor, room: Float64Array): boolean {
  for (let k = 0; k < floor.names.length; k++) {
    const value = room[floor.names[k] as number] as number;
    if (!(value >= (floor.amounts[k] as number))) return true;
  }
  return false;
}

/** How many of a shape fit, counted as repeated subtraction would count. */
function countFitting(queue: Queue, room: Float64Array, shape: Shape, most: number): number {
  for (const name of shape.zeros) if (roomOf(queue, room, name) < 0) return 0;
  let count = most;
  for (let k = 0; k < shape.names.length; k++) {
    const amount = shape.amounts[k] as number;
    let free = roomOf(queue, room, shape.names[k] as number);
    if (free < amount) return 0;
    if (shape.whole && Number.isSafeInteger(free)) {
      count = Math.min(count, Math.floor(free / amount));
      continue;
    }
    let fitting = 0;
    while (fitting < count && free >= amount) {
      free -= amount;
      fitting++;
    }
    count = fitting;
  }
  return count;
}

function subtract(queue: Queue, room: Float64Array, shape: Shape, count: number): void {
  for (let k = 0; k < shape.names.length; k++) {
    const name = shape.names[k] as number;
    const amount = shape.amounts[k] as number;
    let free = roomOf(queue, room, name);
    if (shape.whole && Number.isSafeInteger(free)) free -= amount * count;
    else for (let n = 0; n < count; n++) free -= amount;
    room[name] = free;
  }
}

function isTaken(shape: Shape, labels: State['labels'], marks: ReadonlySet<string>): boolean {
  return shape.apart.some(({ label, value }) => labels[label] === value || marks.has(`${label}=${value}`));
}

function mark(shape: Shape, labels: State['labels'], marks: ReadonlySet<string>): Pick<State, 'labels' | 'marks'> {
  const marked = [...labels];
  let more = marks;
  for (const { label, value } of shape.apart) {
    if (marked[label] === undefined) marked[label] = value;
    else if (marked[label] !== value) more = new Set([...more, `${label}=${value}`]);
  }
  return { labels: marked, marks: more };
}

function score(
  queue: Queue,
  state: State,
  source: Source,
  placed: readonly number[],
  room: Float64Array,
  labels: State['labels'],
): Score {
  const load = state.load[source];
  const { frame } = state;
  let gpu = load.gpu;
  let matching = 0;
  const names = load.names.slice();
  for (const at of placed) {
    const { shape } = queue.runs[at] as Run;
    gpu ||= shape.gpu;
    for (const name of shape.names) names[name] = 1;
  }
  for (let name = 0; name < names.length; name++) if (names[name] === 1 && frame.names[name] === 1) matching++;

  let least = Number.POSITIVE_INFINITY;
  let sum = 0;
  let parts = 0;
  const fixed = frame.fixed[source];
  for (let k = 0; k < frame.slots.length; k++) {
    const name = frame.slots[k] as number;
    let part: number;
    if (name < 0) part = fixed[k] as number;
    else {
      const free = room[name] as number;
      const total = frame.totals[k] as number;
      part = total === 0 || free !== free ? Number.NaN : usage(total, free);
    }
    if (part !== part) continue;
    if (part < least) least = part;
    sum += part;
    parts++;
  }
  return {
    labels: firstMatch(queue, load.labelled, placed, labels),
    gpu: frame.hasGpu && !gpu ? 0 : 1,
    names: matching,
    least: parts === 0 ? 0 : least,
    mean: parts === 0 ? 0 : sum / parts,
  };
}

function firstMatch(
  queue: Queue,
  before: readonly Shape[],
  placed: readonly number[],
  labels: State['labels'],
): number {
  for (const shape of before) {
    const match = labelMatch(shape, labels);
    if (match > 0) return match;
  }
  for (const at of placed) {
    const { shape } = queue.runs[at] as Run;
    if (shape.selectors.length === 0) continue;
    const match = labelMatch(shape, labels);
    if (match > 0) return match;
  }
  return 0;
}
