import type { DemandSource, State } from '../state.ts';
import type { Bin } from './bin.ts';
import { type Fit, fit, holdsAny, type Queue, roomAfter, shapesOf } from './fit.ts';
import { Heap, type Ranked } from './heap.ts';
import type { Packer } from './pack.ts';

export interface Filled {
  /** Bins that took something, in the order in which they were chosen. */
  readonly picks: readonly { readonly bin: Bin; readonly to: State }[];
  /** The other bins; those that could hold nothing at all stand last. */
  others(): Bin[];
}

/** Bins of one state. */
interface Class extends Ranked {
  /** Positions in the list of bins, ascending; those before `next` are taken. */
  readonly positions: number[];
  next: number;
  state: State;
  fit: Fit | undefined;
  /** The first run it may take: those before never fit it. */
  start: number;
  /** Goes up whenever `fit` changes. */
  version: number;
  /** The fit's score, at hand for the many comparisons of the heap: label match, GPU, running and names in one number. */
  major: number;
  least: number;
  mean: number;
}

/** Classes that would take some of a run, each as of one version of it. */
interface Users {
  readonly classes: Class[];
  readonly versions: number[];
}

/** Places the queue on bins, the best first, and takes it from the queue. */
export function fillBins(packer: Packer, bins: readonly Bin[], queue: Queue, source: DemandSource): Filled {
  return new Filling(packer, bins, queue, source).run();
}

class Filling {
  private readonly packer: Packer;
  private readonly bins: readonly Bin[];
  private readonly queue: Queue;
  private readonly source: DemandSource;
  private readonly picks: { bin: Bin; to: State }[] = [];
  private readonly taken: Uint8Array;
  /** Positions of running bins that hold no run at all. */
  private readonly spent: number[] = [];
  private readonly heap: Heap<Class>;
  /** By run: the classes that would take some of it, and the most that one would take. */
  private readonly users: Users[];
  private readonly most: number[];
  /**
   * Look again at every class that has run short, at once: one that would take other work then may be the best, and
   * Ray would see it. Otherwise a class is looked at again when its turn comes.
   */
  private readonly eager: boolean;

  constructor(packer: Packer, bins: readonly Bin[], queue: Queue, source: DemandSource) {
    this.packer = packer;
    this.bins = bins;
    this.queue = queue;
    this.source = source;
    this.eager = queue.asRay;
    this.taken = new Uint8Array(bins.length);
    this.users = queue.runs.map(() => ({ classes: [], versions: [] }));
    this.most = queue.runs.map(() => 0);
    this.heap = new Heap((a, b) => {
      const order = this.compare(a, b);
      return order > 0 || (order === 0 && (a.positions[a.next] as number) < (b.positions[b.next] as number));
    });
  }

  run(): Filled {
    if (this.queue.runs.length > 0) for (const one of this.classify()) this.look(one);
    for (let best = this.heap.best; best !== undefined; best = this.heap.best) {
      if (this.isShort(best.fit as Fit)) this.look(best);
      else this.commit(best);
    }
    return { picks: this.picks, others: () => this.others() };
  }

  private classify(): Class[] {
    const classes = new Map<number | string, Class>();
    const holding = new Map<State, boolean>();
    const asRay = this.packer.policy.like === 'ray';
    for (let position = 0; position < this.bins.length; position++) {
      const { state } = this.bins[position] as Bin;
      if (state.running) {
        let holds = holding.get(state);
        if (holds === undefined) {
          holds = holdsAny(this.queue, state.room[this.source]);
          holding.set(state, holds);
        }
        if (!holds) {
          this.spent.push(position);
          continue;
        }
      }
      const key = asRay && !state.running ? sameToRay(state, this.source) : state.id;
      const known = classes.get(key);
      if (known !== undefined) known.positions.push(position);
      else
        classes.set(key, {
          positions: [position],
          next: 0,
          state,
          fit: undefined,
          start: 0,
          version: 0,
          place: -1,
          major: 0,
          least: 0,
          mean: 0,
        });
    }
    return [...classes.values()];
  }

  /** Finds out what a class would take now. */
  private look(one: Class): void {
    one.state = (this.bins[one.positions[one.next] as number] as Bin).state;
    one.version++;
    one.fit = fit(this.queue, one.state, this.source, one.start);
    if (one.fit === undefined) {
      this.heap.remove(one);
      return;
    }
    // Work goes to a node that already runs before one that is still to come; Ray does not look at that.
    const tier = one.state.running && !this.queue.asRay ? 1 : 0;
    const { runs, match, gpu, names } = one.fit;
    one.major = ((match * 2 + gpu) * 2 + tier) * 2 ** 20 + names;
    one.least = one.fit.least;
    one.mean = one.fit.mean;
    let first = runs[0] as number;
    for (let k = 1; k < runs.length; k++) first = Math.min(first, runs[k] as number);
    if (this.queue.asRay || one.state.labels === one.fit.labels) one.start = first;
    this.enlist(one, one.fit);
    this.heap.put(one);
  }

  /** Whether it would take more of some run than is left. */
  private isShort({ runs, counts }: Fit): boolean {
    for (let k = 0; k < runs.length; k++)
      if ((counts[k] as number) > (this.queue.left[runs[k] as number] as number)) return true;
    return false;
  }

  private enlist(one: Class, { runs, counts }: Fit): void {
    if (!this.eager) return;
    for (let k = 0; k < runs.length; k++) {
      const run = runs[k] as number;
      const count = counts[k] as number;
      const users = this.users[run] as Users;
      users.classes.push(one);
      users.versions.push(one.version);
      if (count > (this.most[run] as number)) this.most[run] = count;
    }
  }

  private commit(best: Class): void {
    const { queue, bins } = this;
    const chosen = best.fit as Fit;
    const times = this.repeats(best, chosen);
    const room = roomAfter(queue, best.state, this.source, chosen);
    const to = this.packer.states.after(
      best.state,
      this.source,
      shapesOf(queue, chosen),
      room,
      chosen.labels,
      chosen.marks,
    );
    for (let n = 0; n < times; n++) {
      const position = best.positions[best.next++] as number;
      this.taken[position] = 1;
      this.picks.push({ bin: bins[position] as Bin, to });
    }
    const more = best.next < best.positions.length;
    const next = more ? (bins[best.positions[best.next] as number] as Bin).state : undefined;
    best.version++;
    let fits = true;
    const short: Class[] = [];
    for (let k = 0; k < chosen.runs.length; k++) {
      const run = chosen.runs[k] as number;
      const count = chosen.counts[k] as number;
      const left = (queue.left[run] as number) - times * count;
      queue.left[run] = left;
      if (left < count) fits = false;
      if (left < (this.most[run] as number)) this.collectShort(run, short);
    }
    if (!more) this.heap.remove(best);
    else if (next !== best.state || !fits) this.look(best);
    else {
      this.enlist(best, chosen);
      this.heap.put(best);
    }
    for (const one of short) this.look(one);
  }

  /** How many bins of the best class can be filled alike before any other choice could change. */
  private repeats(best: Class, chosen: Fit): number {
    let times = best.positions.length - best.next;
    for (let k = 0; k < chosen.runs.length && times > 1; k++) {
      const run = chosen.runs[k] as number;
      const count = chosen.counts[k] as number;
      const spare = (this.queue.left[run] as number) - Math.max(this.most[run] as number, count);
      times = Math.min(times, Math.floor(spare / count) + 1);
    }
    if (times <= 1) return 1;
    const until = this.firstRival(best);
    let same = 1;
    while (same < times) {
      const position = best.positions[best.next + same] as number;
      if (position > until || (this.bins[position] as Bin).state !== best.state) break;
      same++;
    }
    return same;
  }

  /** Position of the first bin that ties with the best class without being of it. */
  private firstRival(best: Class): number {
    this.heap.remove(best);
    const rival = this.heap.best;
    const tie = rival !== undefined && this.compare(best, rival) === 0;
    this.heap.put(best);
    return tie ? (rival.positions[rival.next] as number) : Number.POSITIVE_INFINITY;
  }

  /** Notes the classes that would take more of a run than is left, and strikes them off its users. */
  private collectShort(run: number, short: Class[]): void {
    const left = this.queue.left[run] as number;
    const { classes, versions } = this.users[run] as Users;
    let kept = 0;
    let most = 0;
    for (let k = 0; k < classes.length; k++) {
      const one = classes[k] as Class;
      if (one.version !== versions[k] || one.fit === undefined) continue;
      const count = one.fit.counts[one.fit.runs.indexOf(run)] as number;
      if (count > left) {
        one.version++;
        short.push(one);
        continue;
      }
      classes[kept] = one;
      versions[kept++] = one.version;
      if (count > most) most = count;
    }
    classes.length = kept;
    versions.length = kept;
    this.most[run] = most;
  }

  private compare(a: Class, b: Class): number {
    if (a.major !== b.major) return a.major - b.major;
    if (a.least !== b.least) return a.least - b.least;
    if (a.mean !== b.mean) return a.mean - b.mean;
    const s = a.state.type;
    const t = b.state.type;
    return s.recoverable - t.recoverable || s.priority - t.priority || s.availability - t.availability;
  }

  private others(): Bin[] {
    const { bins, taken } = this;
    for (const position of this.spent) taken[position] = 1;
    return [...bins.filter((_, position) => taken[position] === 0), ...this.spent.map((at) => bins[at] as Bin)];
  }
}

/** Ray looks at the first of pending nodes that agree in this, even where their loads and so their scores differ. */
function sameToRay(state: State, source: DemandSource): string {
  const labels = [...state.labels]
    .sort(([a], [b]) => a - b)
    .map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return `${state.type.name}|${state.head}|${state.unmanaged}|${state.frame.totals.join()}|${state.room[source].join()}|${labels.join()}`;
}
