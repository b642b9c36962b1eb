import type { Mark, SamplePoint } from '../../api/types.ts';
import type { Journal, ScalingFact } from '../../autoscaler/journal.ts';
import type { Instant } from '../../base/time/clock.ts';
import type { Job } from '../../core/jobs/job.ts';
import { type InstanceRecord, isPending, mustEnd } from '../../core/lifecycle.ts';
import { endWords, launchWords } from '../../core/plan/words.ts';
import type { JobStore } from '../../jobs/queue/store.ts';
import { coarseKept, History } from './history.ts';
import type { ScalingJournal } from './scaling-journal.ts';

/** Why an instance was ended, in words. */
export function endedWords({ because, at }: Pick<Extract<ScalingFact, { kind: 'end' }>, 'because' | 'at'>): string {
  if (because.kind === 'follow-up') return `it is ${because.status.replaceAll('-', ' ')}`;
  if (because.kind === 'asked') return 'requested';
  return because.kind === 'preemption' ? 'the provider is reclaiming it' : endWords(because, at);
}

/** What the page marks of a fact: launches, ends that were decided, and what broke. */
export function markOf(fact: ScalingFact): Mark | undefined {
  switch (fact.kind) {
    case 'launch': {
      const { type, because } = fact.action;
      return { at: fact.at, kind: 'launch', type, count: fact.records.length, because: launchWords(because) };
    }
    case 'end':
      // What follows from a drain or a failure has its mark already.
      if (fact.because.kind === 'follow-up') return undefined;
      return { at: fact.at, kind: 'end', type: fact.record.type, count: 1, because: endedWords(fact) };
    case 'instance': {
      const { type } = fact.record;
      const broke = fact.moves.find(({ from, to }) => to === 'launch-failed' || (mustEnd(to) && !leaving(from)));
      if (broke === undefined) return undefined;
      const because = broke.from === 'running' ? 'its node was lost' : `it is ${broke.to.replaceAll('-', ' ')}`;
      return { at: fact.at, kind: 'failure', type, count: 1, because };
    }
    default:
      return undefined;
  }
}

const leaving = (status: InstanceRecord['status']): boolean =>
  status === 'drain-requested' || status === 'draining' || status === 'terminating';

/** Changes closer together than this are shown as one. */
const step = 1_000;
/** A longer gap gets a point at its end too, so that a change is drawn where it was. */
const gap = 10_000;

interface Shape {
  readonly nodes: Map<string, number>;
  queued: number;
  running: number;
}

type Change = { readonly at: Instant; readonly apply: (shape: Shape) => void };

/**
 * Nodes and jobs over time as the journal tells them, oldest first; what was in use is not in the journal and is left
 * out. `facts` may begin in the midst of things: `current` holds the instances as they stand, which tells what was before.
 */
export function pastPoints(
  facts: readonly ScalingFact[],
  current: readonly InstanceRecord[],
  jobs: Iterable<Job>,
  since: Instant,
): SamplePoint[] {
  const shape: Shape = { nodes: new Map(), queued: 0, running: 0 };
  const changes = [...nodeChanges(facts, current, shape), ...jobChanges(jobs)].sort((a, b) => a.at - b.at);
  const points: SamplePoint[] = [];
  for (const { at, apply } of changes) {
    const last = points.at(-1);
    if (last !== undefined && at - last.at > gap) points.push({ ...last, at: at - 1 });
    apply(shape);
    if (at < since) continue;
    const again = last !== undefined && at - last.at < step;
    const point = {
      at: again ? last.at : at,
      nodes: Object.fromEntries([...shape.nodes].filter(([, count]) => count > 0)),
      usage: {},
      queued: shape.queued,
      running: shape.running,
    };
    if (again) points[points.length - 1] = point;
    else points.push(point);
  }
  return points;
}

/** Where an instance counts; undefined when it is not a node and never will be. */
function keyOf({ type, status }: Pick<InstanceRecord, 'type' | 'status'>): string | undefined {
  if (isPending(status)) return `${type}+`;
  return status === 'running' || status === 'drain-requested' || status === 'draining' ? type : undefined;
}

/** The changes of nodes; what was there before the first of them is put into `shape`. */
function nodeChanges(facts: readonly ScalingFact[], current: readonly InstanceRecord[], shape: Shape): Change[] {
  const keys = new Map<string, string | undefined>();
  const changes: Change[] = [];
  const add = (key: string | undefined, amount: number): void => {
    if (key !== undefined) shape.nodes.set(key, (shape.nodes.get(key) ?? 0) + amount);
  };
  const take = (at: Instant, record: InstanceRecord, before: string | undefined): void => {
    if (!keys.has(record.id)) add(before, 1);
    const [from, to] = [keys.has(record.id) ? keys.get(record.id) : before, keyOf(record)];
    keys.set(record.id, to);
    if (from === to) return;
    changes.push({
      at,
      apply: () => {
        add(from, -1);
        add(to, 1);
      },
    });
  };
  for (const fact of facts) {
    if (fact.kind === 'launch') for (const record of fact.records) take(fact.at, record, undefined);
    else if (fact.kind === 'adopted') take(fact.at, fact.record, undefined);
    else if (fact.kind === 'end') take(fact.at, fact.record, keyOf(fact.record));
    else if (fact.kind === 'instance') {
      const first = fact.moves[0];
      take(fact.at, fact.record, keyOf({ ...fact.record, ...(first && { status: first.from }) }));
    }
  }
  for (const record of current) if (!keys.has(record.id)) add(keyOf(record), 1);
  return changes;
}

function jobChanges(jobs: Iterable<Job>): Change[] {
  const changes: Change[] = [];
  const change = (at: Instant, queued: number, running: number): void => {
    changes.push({
      at,
      apply: (shape) => {
        shape.queued += queued;
        shape.running += running;
      },
    });
  };
  for (const { submittedAt, startedAt, endedAt } of jobs) {
    change(submittedAt, 1, 0);
    if (startedAt !== undefined) change(startedAt, -1, 1);
    if (endedAt !== undefined) change(endedAt, startedAt === undefined ? -1 : 0, startedAt === undefined ? 0 : -1);
  }
  return changes;
}

/** A start reads no more than this many facts for the page's past: a tenth of a second's work. */
const factsRead = 10_000;

export async function rebuiltHistory(journal: ScalingJournal, store: JobStore, now: Instant): Promise<History> {
  const since = now - coarseKept;
  const facts = journal.recent(['launch', 'instance', 'adopted', 'end'], factsRead, { since, until: now });
  const records: InstanceRecord[] = [];
  for await (const fact of journal.read()) if ('record' in fact) records.push(fact.record);
  const history = new History();
  const marks = facts.flatMap((fact) => markOf(fact) ?? []);
  history.restore(pastPoints(facts, records, store.jobs.values(), facts[0]?.at ?? now), marks, now);
  return history;
}

/** Marks on the page what the journal has taken, so that a restart shows the same. */
export const marking = (journal: Journal, history: History): Journal => ({
  read: () => journal.read(),
  async append(facts) {
    await journal.append(facts);
    for (const fact of facts) {
      const mark = markOf(fact);
      if (mark !== undefined) history.mark(mark);
    }
  },
});
