import type { Shape, ShapeRun, Vocabulary } from '../shape.ts';
import { type DemandSource, type LabelValues, labelMatch, type State, usage } from '../state.ts';

/** What one node of a state would take of the demand that is left, and how good that is. */
export interface Fit {
  /** Run indexes and counts, in the order of placing. Never empty. */
  readonly runs: readonly number[];
  readonly counts: readonly number[];
  readonly labels: LabelValues;
  readonly marks: ReadonlySet<string>;
  /** The score: compared from here down; higher is better. */
  readonly match: number;
  /** 0 for a GPU node that would get no GPU work. */
  readonly gpu: number;
  readonly names: number;
  readonly least: number;
  readonly mean: number;
}

/** The demand of one packing: runs in order and how much of each is left. */
export interface Queue {
  readonly runs: readonly ShapeRun[];
  readonly left: number[];
  readonly vocabulary: Vocabulary;
  /** By run index: amounts without which no run from there on fits. */
  readonly floors: readonly Floor[];
  /**
   * As Ray's planner does: amounts are subtracted one by one as they are, and runs that lacked a label are not tried
   * again once a placement has added one. Otherwise amounts are counted in ten-thousandths, as Ray's core counts them.
   */
  readonly asRay: boolean;
  readonly scratch: Scratch;
}

interface Floor {
  readonly names: readonly number[];
  readonly amounts: readonly number[];
}

/** Working room of `fit`, kept to spare the garbage collector. */
interface Scratch {
  readonly room: number[];
  /** By resource index: the number of the fit that last used it. */
  readonly seen: number[];
  fits: number;
}

export function makeQueue(runs: readonly ShapeRun[], vocabulary: Vocabulary, asRay: boolean): Queue {
  const floors: Floor[] = new Array(runs.length + 1);
  let least: Map<number, number> | undefined;
  floors[runs.length] = { names: [], amounts: [] };
  for (let i = runs.length - 1; i >= 0; i--) {
    const { shape } = runs[i] as ShapeRun;
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
  const scratch = { room: [], seen: vocabulary.resourceNames.map(() => 0), fits: 0 };
  return { runs, left: runs.map((run) => run.count), vocabulary, floors, asRay, scratch };
}

/** Whether the room, labels apart, holds any of the runs. */
export function holdsAny(queue: Queue, room: readonly number[]): boolean {
  return queue.runs.some(({ shape }) =>
    shape.names.every((name, at) => roomOf(queue, room, name) >= (shape.amounts[at] as number)),
  );
}

function roomOf(queue: Queue, room: readonly number[], name: number): number {
  const value = room[name] as number;
  // NaN: the node does not name it.
  return value === value ? value : (queue.vocabulary.unnamed[name] as number);
}

/** Fills one node greedily in packing order, from run `start` on. */
export function fit(queue: Queue, state: State, source: DemandSource, start = 0): Fit | undefined {
  const { runs, left, floors } = queue;
  const { room } = queue.scratch;
  const initial = state.room[source];
  for (let k = 0; k < initial.length; k++) room[k] = initial[k] as number;
  let { labels, marks } = state;
  const placed: number[] = [];
  const counts: number[] = [];
  let again: number[] | undefined;
  let poor = tooPoor(floors[start] as Floor, room);
  for (let i = start; i < runs.length && !poor; i++) {
    if (left[i] === 0) continue;
    const { shape } = runs[i] as ShapeRun;
    if (shape.selectors.length > 0 && labelMatch(shape, labels) === 0) {
      if (!queue.asRay) (again ??= []).push(i);
      continue;
    }
    const apart = shape.apart.length > 0;
    if (apart && isTaken(shape, labels, marks)) continue;
    const count = countFitting(queue, room, shape, apart ? 1 : (left[i] as number));
    if (count === 0) continue;
    subtract(queue, room, shape, count);
    placed.push(i);
    counts.push(count);
    poor = tooPoor(floors[i + 1] as Floor, room);
    if (!apart) continue;
    const before = labels;
    ({ labels, marks } = mark(shape, labels, marks));
    if (again === undefined || labels === before) continue;
    for (const one of again) {
      const { shape: late } = runs[one] as ShapeRun;
      if (labelMatch(late, labels) === 0 || isTaken(late, labels, marks)) continue;
      const more = countFitting(queue, room, late, late.apart.length > 0 ? 1 : (left[one] as number));
      if (more === 0) continue;
      subtract(queue, room, late, more);
      placed.push(one);
      counts.push(more);
      ({ labels, marks } = mark(late, labels, marks));
    }
    again = again.filter((one) => !placed.includes(one));
  }
  if (placed.length === 0) return undefined;
  const labelScore = firstMatch(queue, state.load[source].labelled, placed, labels);
  return score(queue, state, source, { runs: placed, counts, labels, marks }, room, labelScore);
}

/** What is free on a node of the state once the fit is placed on it. */
export function roomAfter(queue: Queue, state: State, source: DemandSource, { runs, counts }: Fit): number[] {
  const room = [...state.room[source]];
  for (let k = 0; k < runs.length; k++)
    subtract(queue, room, (queue.runs[runs[k] as number] as ShapeRun).shape, counts[k] as number);
  return room;
}

/** The shapes of a fit with their counts. */
export function shapesOf(
  queue: Queue,
  { runs, counts }: Pick<Fit, 'runs' | 'counts'>,
): { shape: Shape; count: number }[] {
  return runs.map((run, k) => ({ shape: (queue.runs[run] as ShapeRun).shape, count: counts[k] as number }));
}

function tooPoor(floor: Floor, room: readonly number[]): boolean {
  for (let k = 0; k < floor.names.length; k++)
    if (!((room[floor.names[k] as number] as number) >= (floor.amounts[k] as number) * nearly)) return true;
  return false;
}

/** What is missing below this part of an amount is rounding; whether it fits is for `countFitting` to say. */
const nearly = 1 - 1e-6;

/** How many of a shape fit. */
function countFitting(queue: Queue, room: readonly number[], shape: Shape, most: number): number {
  for (let k = 0; k < shape.zeros.length; k++) if (roomOf(queue, room, shape.zeros[k] as number) < 0) return 0;
  let count = most;
  for (let k = 0; k < shape.names.length && count > 0; k++) {
    const amount = shape.amounts[k] as number;
    const free = roomOf(queue, room, shape.names[k] as number);
    // Nearly all runs end here: no division for them.
    if (free < amount * nearly) return 0;
    const fitting =
      shape.whole && Number.isSafeInteger(free)
        ? Math.floor(free / amount)
        : queue.asRay
          ? countSubtractions(free, amount, count)
          : Math.floor(free / amount + 1e-6);
    if (fitting < count) count = fitting;
  }
  return count;
}

/** How often an amount can be taken away, with the rounding that comes of doing it. */
function countSubtractions(free: number, amount: number, most: number): number {
  let rest = free;
  let count = 0;
  while (count < most && rest >= amount) {
    rest -= amount;
    count++;
  }
  return count;
}

function subtract(queue: Queue, room: number[], shape: Shape, count: number): void {
  for (let k = 0; k < shape.names.length; k++) {
    const name = shape.names[k] as number;
    const amount = shape.amounts[k] as number;
    const free = roomOf(queue, room, name);
    if (shape.whole && Number.isSafeInteger(free)) room[name] = free - amount * count;
    else if (queue.asRay) {
      let rest = free;
      for (let n = 0; n < count; n++) rest -= amount;
      room[name] = rest;
    } else room[name] = Math.max(0, Math.round((free - amount * count) * 1e4) / 1e4);
  }
}

function isTaken(shape: Shape, labels: State['labels'], marks: ReadonlySet<string>): boolean {
  return shape.apart.some(({ label, value }) => labels.get(label) === value || marks.has(`${label}=${value}`));
}

function mark(shape: Shape, labels: LabelValues, marks: ReadonlySet<string>): Pick<State, 'labels' | 'marks'> {
  let marked = labels;
  let more = marks;
  for (const { label, value } of shape.apart) {
    const known = marked.get(label);
    if (known === undefined) marked = new Map([...marked, [label, value]]);
    else if (known !== value) more = new Set([...more, `${label}=${value}`]);
  }
  return { labels: marked, marks: more };
}

function score(
  queue: Queue,
  state: State,
  source: DemandSource,
  placed: Pick<Fit, 'runs' | 'counts' | 'labels' | 'marks'>,
  room: readonly number[],
  match: number,
): Fit {
  const load = state.load[source];
  const { frame } = state;
  const { scratch } = queue;
  const { runs, counts, labels, marks } = placed;
  scratch.fits++;
  let gpu = load.gpu;
  let names = countNamed(scratch, frame.named, load.names);
  for (let k = 0; k < runs.length; k++) {
    const { shape } = queue.runs[runs[k] as number] as ShapeRun;
    gpu ||= shape.gpu;
    names += countNamed(scratch, frame.named, shape.names);
  }

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
  if (parts === 0) least = 0;
  return {
    runs,
    counts,
    labels,
    marks,
    match,
    gpu: frame.hasGpu && !gpu ? 0 : 1,
    names,
    least,
    mean: parts === 0 ? 0 : sum / parts,
  };
}

/** How many of the names the node has that this fit has not counted yet. */
function countNamed(scratch: Scratch, named: readonly boolean[], names: readonly number[]): number {
  let count = 0;
  for (let k = 0; k < names.length; k++) {
    const name = names[k] as number;
    if (scratch.seen[name] === scratch.fits) continue;
    scratch.seen[name] = scratch.fits;
    if (named[name] === true) count++;
  }
  return count;
}

function firstMatch(
  queue: Queue,
  before: readonly Shape[],
  placed: readonly number[],
  labels: State['labels'],
): number {
  for (let k = 0; k < before.length; k++) {
    const match = labelMatch(before[k] as Shape, labels);
    if (match > 0) return match;
  }
  for (let k = 0; k < placed.length; k++) {
    const { shape } = queue.runs[placed[k] as number] as ShapeRun;
    if (shape.selectors.length === 0) continue;
    const match = labelMatch(shape, labels);
    if (match > 0) return match;
  }
  return 0;
}
