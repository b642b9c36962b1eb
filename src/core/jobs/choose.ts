import type { Duration, Instant } from '../../base/time/clock.ts';
import { costOf, decayed, type UsageByUser } from './fair-share.ts';
import type { Job } from './job.ts';

/** How much may run and wait at once. */
export interface Limits {
  /** Handed over at once, in the whole cluster. Undefined: as much as has room. */
  readonly running?: number;
  readonly runningPerUser?: number;
  /** Jobs that ask for no resources run on the head, this many at once. */
  readonly headJobs: number;
  /** Waiting, in the whole cluster; more are refused. */
  readonly queued: number;
  readonly queuedPerUser: number;
  /** Memory of the head that all jobs may take, those that are over and kept included; more are refused. */
  readonly jobBytes: number;
  readonly jobBytesPerUser: number;
  /** A job that found no room for this long is not overtaken any more by others that want what it waits for. */
  readonly patience: Duration;
  /** Share of each user; 1 when not listed. */
  readonly weights: ReadonlyMap<string, number>;
  /** Users whose priorities count against everybody; those of others order their own jobs only. */
  readonly admins: ReadonlySet<string>;
}

export const defaultLimits: Limits = {
  headJobs: 64,
  queued: 100_000,
  queuedPerUser: 100_000,
  // 100,000 small jobs of one user fit (about 1.7 KB each), beside them the work of others, and all of it into half a GB.
  jobBytes: 320 << 20,
  jobBytesPerUser: 224 << 20,
  patience: 300_000,
  weights: new Map(),
  admins: new Set(),
};

/** Why a job that could start does not start now. */
export type Block = 'cluster-limit' | 'user-limit' | 'head-limit' | 'no-room' | 'reserved';

export interface Choice {
  /** In the order in which they start. */
  readonly start: readonly Job[];
  readonly blocked: ReadonlyMap<string, Block>;
}

interface Tally {
  running: number;
  readonly byUser: Map<string, number>;
  readonly share: Map<string, number>;
  onHead: number;
}

/** A job that has just started counts as if it had run this long, so that a burst is dealt out in turns. */
const startCharge = 60;

/**
 * The waiting jobs in the order in which they may start: the user who has had least comes first, with that user's job
 * of the highest priority, then the older one. An administrator's priority goes before the shares: above 0 it passes
 * everybody, below 0 it lets everybody pass. `waiting` is in the order of submission. Each job that the limits allow is yielded once; the answer
 * says whether it starts, and what follows takes that into account. Returns why the others do not start.
 */
export function* candidates(
  waiting: readonly Job[],
  handedOver: readonly Job[],
  usage: UsageByUser,
  limits: Limits,
  now: Instant,
): Generator<Job, ReadonlyMap<string, Block>, boolean> {
  const tally = tallyOf(handedOver, usage, limits, now);
  const blocked = new Map<string, Block>();
  const reserved = new Set<string>();
  const full = new Set<string>();
  const lines = linesByUser(waiting, limits.admins);
  for (let job = takeBest(lines, tally); job; job = takeBest(lines, tally)) {
    const shape = shapeOf(job);
    let block = limitOf(job, tally, limits);
    if (!block && reserved.size > 0 && wants(job).some((name) => reserved.has(name))) block = 'reserved';
    if (!block && (full.has(shape) || !(yield job))) {
      block = 'no-room';
      full.add(shape);
      if (now - job.submittedAt > limits.patience) for (const name of wants(job)) reserved.add(name);
    }
    if (block) blocked.set(job.id, block);
    else count(tally, job, startCharge, limits);
  }
  return blocked;
}

/** Which of the waiting jobs start now. `hasRoom` answers for a job beside those already chosen in this call. */
export function chooseNext(
  waiting: readonly Job[],
  handedOver: readonly Job[],
  usage: UsageByUser,
  limits: Limits,
  now: Instant,
  hasRoom: (job: Job, chosen: readonly Job[]) => boolean,
): Choice {
  const start: Job[] = [];
  const turns = candidates(waiting, handedOver, usage, limits, now);
  let turn = turns.next();
  while (!turn.done) {
    const room = hasRoom(turn.value, start);
    if (room) start.push(turn.value);
    turn = turns.next(room);
  }
  return { start, blocked: turn.value };
}

/** Waiting jobs that the limits would let start if there were room: what the cluster should grow for. */
export function wantedNow(
  waiting: readonly Job[],
  handedOver: readonly Job[],
  usage: UsageByUser,
  limits: Limits,
  now: Instant,
): readonly Job[] {
  return chooseNext(waiting, handedOver, usage, limits, now, () => true).start;
}

const shapes = new WeakMap<object, string>();

/** Jobs that ask for the same get the same answer about room. */
export function shapeOf(job: Pick<Job, 'resources' | 'labels' | 'gang'>): string {
  let shape = shapes.get(job);
  if (shape === undefined) {
    shape = JSON.stringify([
      sorted(job.resources),
      sorted(job.labels),
      job.gang?.strategy,
      job.gang?.bundles.map(sorted),
    ]);
    shapes.set(job, shape);
  }
  return shape;
}

const sorted = (record: Readonly<Record<string, unknown>>): unknown =>
  Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));

export const asksForNothing = (job: Pick<Job, 'resources' | 'gang'>): boolean =>
  job.gang === undefined && Object.values(job.resources).every((amount) => amount === 0);

const wants = (job: Job): string[] => [
  ...new Set([job.resources, ...(job.gang?.bundles ?? [])].flatMap((each) => Object.keys(each))),
];

function limitOf(job: Job, tally: Tally, limits: Limits): Block | undefined {
  if (limits.running !== undefined && tally.running >= limits.running) return 'cluster-limit';
  if (limits.runningPerUser !== undefined && (tally.byUser.get(job.user) ?? 0) >= limits.runningPerUser)
    return 'user-limit';
  if (asksForNothing(job) && tally.onHead >= limits.headJobs) return 'head-limit';
  return undefined;
}

function tallyOf(handedOver: readonly Job[], usage: UsageByUser, limits: Limits, now: Instant): Tally {
  const tally: Tally = { running: 0, byUser: new Map(), share: new Map(), onHead: 0 };
  for (const user of usage.keys()) tally.share.set(user, decayed(usage.get(user), now) / weightOf(user, limits));
  for (const job of handedOver) {
    const startedAt = job.attempts.at(-1)?.startedAt ?? now;
    count(tally, job, Math.max(startCharge, (now - startedAt) / 1_000), limits);
  }
  return tally;
}

function count(tally: Tally, job: Job, seconds: number, limits: Limits): void {
  tally.running += 1;
  tally.byUser.set(job.user, (tally.byUser.get(job.user) ?? 0) + 1);
  if (asksForNothing(job)) tally.onHead += 1;
  const added = (costOf(job.resources, job.gang?.bundles) * seconds) / weightOf(job.user, limits);
  tally.share.set(job.user, (tally.share.get(job.user) ?? 0) + added);
}

const weightOf = (user: string, limits: Limits): number => Math.max(1e-6, limits.weights.get(user) ?? 1);

/** One line a user, each in the order in which that user's jobs go. */
interface Line {
  readonly user: string;
  /** Whether its priorities count against other lines. */
  readonly ranks: boolean;
  readonly jobs: readonly { readonly job: Job; readonly place: number }[];
  next: number;
}

function linesByUser(waiting: readonly Job[], admins: ReadonlySet<string>): Line[] {
  const lines = new Map<string, { job: Job; place: number }[]>();
  for (const [place, job] of waiting.entries()) {
    const line = lines.get(job.user);
    if (line) line.push({ job, place });
    else lines.set(job.user, [{ job, place }]);
  }
  return [...lines].map(([user, jobs]) => ({
    user,
    ranks: admins.has(user),
    jobs: jobs.sort((a, b) => b.job.priority - a.job.priority || a.place - b.place),
    next: 0,
  }));
}

function takeBest(lines: readonly Line[], tally: Tally): Job | undefined {
  let best: Line | undefined;
  for (const line of lines) {
    if (line.next < line.jobs.length && (!best || goesBefore(line, best, tally))) best = line;
  }
  return best?.jobs[best.next++]?.job;
}

function goesBefore(a: Line, b: Line, tally: Tally): boolean {
  const [first, second] = [a.jobs[a.next], b.jobs[b.next]];
  if (!first || !second) return first !== undefined;
  const [rankA, rankB] = [a.ranks ? first.job.priority : 0, b.ranks ? second.job.priority : 0];
  if (rankA !== rankB) return rankA > rankB;
  const [shareA, shareB] = [tally.share.get(a.user) ?? 0, tally.share.get(b.user) ?? 0];
  return shareA === shareB ? first.place < second.place : shareA < shareB;
}
