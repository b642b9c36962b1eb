import type { Shape } from '../shape.ts';
import type { DemandSource, State, TypeInfo } from '../state.ts';
import { type Fit, fit, makeQueue, type Queue, roomAfter, shapesOf } from './fit.ts';
import type { Packer, PackingSpace } from './pack.ts';

/** Units of one type to launch, filled alike. */
export interface Purchase {
  readonly type: TypeInfo;
  readonly units: number;
  /** What each host of a unit looks like once filled. */
  readonly hosts: readonly State[];
  /** What one unit takes. */
  readonly placed: readonly { readonly shape: Shape; readonly count: number }[];
}

/** A type that may be launched, with what one unit of it would take now. */
interface Candidate {
  readonly type: TypeInfo;
  readonly fresh: State;
  readonly later: State;
  readonly price: number | undefined;
  /** Units that may still be launched. */
  room: number;
  unit: Unit | undefined;
  stale: boolean;
}

interface Unit {
  readonly hosts: readonly Fit[];
  readonly runs: readonly number[];
  readonly counts: readonly number[];
}

interface Basket {
  readonly bought: readonly { readonly candidate: Candidate; readonly unit: Unit; readonly units: number }[];
  readonly left: number[];
  readonly instances: number;
}

/** How candidates are ranked: by how full they get, by what their work would cost at best, or with one type first. */
type Taste = { readonly by: 'fullness' } | { readonly by: 'price' } | { readonly by: 'type'; readonly type: TypeInfo };

/** Launches for what is left in the queue, and takes it from there. */
export function buy(packer: Packer, space: PackingSpace, queue: Queue, source: DemandSource): Purchase[] {
  if (space.room <= 0 || space.pool.length === 0 || queue.left.every((left) => left === 0)) return [];
  const basket = choose(packer, space, queue, source);
  for (let run = 0; run < queue.left.length; run++) queue.left[run] = basket.left[run] as number;
  return basket.bought.map(({ candidate, unit, units }) => purchaseOf(packer, queue, source, candidate, unit, units));
}

/** With prices known, the cheapest of several ways to shop that place as much as can be placed. */
function choose(packer: Packer, space: PackingSpace, queue: Queue, source: DemandSource): Basket {
  const priced = packer.policy.like === 'manta' && space.pool.every(({ price }) => price !== undefined);
  if (!priced) return shop(packer, space, queue, source, { by: 'fullness' }, undefined);
  const worth = bestPrices(space, queue, source);
  const tastes: Taste[] = [{ by: 'price' }];
  if (space.pool.length > 1) {
    tastes.push({ by: 'fullness' });
    for (const { type } of space.pool.slice(0, 16)) tastes.push({ by: 'type', type });
  }
  let best: Basket | undefined;
  let bestKey: readonly number[] = [];
  for (const taste of tastes) {
    const basket = shop(packer, space, queue, source, taste, worth);
    const key = [
      -basket.left.reduce((sum, left, run) => sum + left * (worth[run] as number), 0),
      -basket.bought.reduce((sum, { candidate, units }) => sum + units * unitPrice(candidate), 0),
      -basket.instances,
    ];
    if (best === undefined || compareKeys(key, bestKey, true) > 0) {
      best = basket;
      bestKey = key;
    }
  }
  return best as Basket;
}

const unitPrice = ({ type, price }: Candidate): number => (price ?? 0) * type.hosts;

/** For each run, what one of it costs on the type that holds it cheapest when full. */
function bestPrices(space: PackingSpace, queue: Queue, source: DemandSource): number[] {
  return queue.runs.map((run, at) => {
    let best = Number.POSITIVE_INFINITY;
    const alone = makeQueue([{ shape: run.shape, count: queue.left[at] as number }], queue.vocabulary, queue.asRay);
    for (const { fresh, price } of space.pool) {
      const held = fit(alone, fresh, source)?.counts[0];
      if (held !== undefined) best = Math.min(best, (price ?? 0) / held);
    }
    return best === Number.POSITIVE_INFINITY ? 0 : best;
  });
}

function shop(
  packer: Packer,
  space: PackingSpace,
  before: Queue,
  source: DemandSource,
  taste: Taste,
  worth: readonly number[] | undefined,
): Basket {
  const queue: Queue = { ...before, left: [...before.left] };
  const bought: { candidate: Candidate; unit: Unit; units: number }[] = [];
  let candidates: Candidate[] = space.pool.map(({ type, fresh, later, room, price }) => ({
    type,
    fresh,
    later,
    price,
    room: Math.floor(room / type.hosts),
    unit: undefined,
    stale: true,
  }));
  let room = space.room;
  let instances = 0;
  for (;;) {
    for (const candidate of candidates) {
      if (!candidate.stale) continue;
      candidate.unit = fitUnit(queue, candidate, source);
      candidate.stale = false;
    }
    // What holds nothing now holds nothing later: there is only less to hold.
    candidates = candidates.filter(
      ({ unit, type, room: units }) => unit !== undefined && units > 0 && type.hosts <= room,
    );
    const { best, tied } = pickBest(candidates, taste, worth);
    if (best === undefined) break;
    const unit = best.unit as Unit;
    const units = tied && packer.policy.like === 'ray' ? 1 : repeats(queue, candidates, best, room);
    bought.push({ candidate: best, unit, units });
    best.room -= units;
    room -= units * best.type.hosts;
    instances += units * best.type.hosts;
    take(queue, unit, units, candidates);
    // Ray puts the type it has just used at the end of the line, so equals take turns.
    if (packer.policy.like === 'ray') candidates = [...candidates.filter((candidate) => candidate !== best), best];
  }
  return { bought, left: queue.left, instances };
}

function fitUnit(queue: Queue, candidate: Candidate, source: DemandSource): Unit | undefined {
  const first = fit(queue, candidate.fresh, source);
  if (first === undefined) return undefined;
  if (candidate.type.hosts === 1) return { hosts: [first], runs: first.runs, counts: first.counts };
  const rest: Queue = { ...queue, left: [...queue.left] };
  const total = new Map<number, number>();
  const hosts: Fit[] = [];
  let next: Fit | undefined = first;
  while (next !== undefined && hosts.length < candidate.type.hosts) {
    hosts.push(next);
    for (let k = 0; k < next.runs.length; k++) {
      const run = next.runs[k] as number;
      const count = next.counts[k] as number;
      total.set(run, (total.get(run) ?? 0) + count);
      rest.left[run] = (rest.left[run] as number) - count;
    }
    next = fit(rest, candidate.later, source);
  }
  return { hosts, runs: [...total.keys()], counts: [...total.values()] };
}

/** How many units of the best can be bought before what any candidate would take changes. */
function repeats(queue: Queue, candidates: readonly Candidate[], best: Candidate, room: number): number {
  const unit = best.unit as Unit;
  let times = Math.min(best.room, Math.floor(room / best.type.hosts));
  for (let k = 0; k < unit.runs.length && times > 1; k++) {
    const run = unit.runs[k] as number;
    let most = 0;
    for (const candidate of candidates) {
      const at = candidate.unit?.runs.indexOf(run) ?? -1;
      if (at >= 0) most = Math.max(most, candidate.unit?.counts[at] ?? 0);
    }
    const spare = (queue.left[run] as number) - most;
    times = Math.min(times, Math.floor(spare / (unit.counts[k] as number)) + 1);
  }
  return Math.max(1, times);
}

function take(queue: Queue, unit: Unit, units: number, candidates: readonly Candidate[]): void {
  for (let k = 0; k < unit.runs.length; k++) {
    const run = unit.runs[k] as number;
    queue.left[run] = (queue.left[run] as number) - units * (unit.counts[k] as number);
  }
  for (const candidate of candidates)
    candidate.stale =
      candidate.unit?.runs.some((run, k) => (candidate.unit?.counts[k] ?? 0) > (queue.left[run] as number)) ?? true;
}

function pickBest(
  candidates: readonly Candidate[],
  taste: Taste,
  worth: readonly number[] | undefined,
): { best: Candidate | undefined; tied: boolean } {
  let best: Candidate | undefined;
  let bestKey: readonly number[] = [];
  let tied = false;
  for (const candidate of candidates) {
    const key = rank(candidate, taste, worth);
    const order = best === undefined ? 1 : compareKeys(key, bestKey, worth !== undefined);
    if (order > 0) {
      best = candidate;
      bestKey = key;
      tied = false;
    } else if (order === 0) tied = true;
  }
  return { best, tied };
}

function rank(candidate: Candidate, taste: Taste, worth: readonly number[] | undefined): readonly number[] {
  const { type, unit } = candidate;
  const { hosts, runs, counts } = unit as Unit;
  const score = hosts[0] as Fit;
  const fullness = [score.names, score.least, score.mean, type.recoverable, type.priority, type.availability];
  if (worth === undefined) return [score.match, score.gpu, ...fullness];
  const value = runs.reduce((sum, run, k) => sum + (counts[k] as number) * (worth[run] as number), 0);
  const first = taste.by === 'type' && taste.type === type ? 1 : 0;
  if (taste.by === 'fullness') return [score.match, score.gpu, type.priority, ...fullness];
  return [
    score.match,
    score.gpu,
    type.priority,
    first,
    value / Math.max(unitPrice(candidate), 1e-12),
    value,
    ...fullness,
  ];
}

/** Where prices are part of it, differences in the last bits of sums are none. */
function compareKeys(a: readonly number[], b: readonly number[], priced: boolean): number {
  for (let i = 0; i < a.length; i++) {
    const x = a[i] as number;
    const y = b[i] as number;
    if (x === y || (priced && Math.abs(x - y) <= 1e-9 * Math.max(Math.abs(x), Math.abs(y)))) continue;
    return x - y;
  }
  return 0;
}

function purchaseOf(
  packer: Packer,
  queue: Queue,
  source: DemandSource,
  { type, fresh, later }: Candidate,
  unit: Unit,
  units: number,
): Purchase {
  const hosts = unit.hosts.map((host, index) => {
    const empty = index === 0 ? fresh : later;
    const room = roomAfter(queue, empty, source, host);
    return packer.states.after(empty, source, shapesOf(queue, host), room, host.labels, host.marks);
  });
  while (hosts.length < type.hosts) hosts.push(later);
  return { type, units, hosts, placed: shapesOf(queue, unit) };
}
