import type { Database } from '../../base/sqlite/sqlite.ts';
import type { Instant } from '../../base/time/clock.ts';
import { type Attempt, isOver, type Job, type JobSpec, type JobState } from '../../core/jobs/job.ts';
import { JobMemory } from './job-memory.ts';

/** One thing that happened to a job, as the journal keeps it. */
export interface JobFact {
  readonly seq: number;
  readonly at: Instant;
  readonly kind: string;
  readonly job?: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface JobChange {
  readonly id: string;
  readonly before?: Job;
  /** Absent: the job was deleted. */
  readonly after?: Job;
}

/** What a change may do, inside its transaction. Sees what earlier changes of the same batch did. */
export interface JobTransaction {
  get(id: string): Job | undefined;
  put(job: Job): void;
  remove(id: string): void;
  fact(kind: string, at: Instant, job: string | undefined, data: Readonly<Record<string, unknown>>): void;
}

/** Jobs and their facts: in memory for reading, on disk before anything is visible. */
export interface JobStore {
  /** Every job that is kept, in the order of submission. Only what is on disk. */
  readonly jobs: ReadonlyMap<string, Job>;
  /** Those that are not over, in the order of submission. */
  readonly live: ReadonlyMap<string, Job>;
  counts(): Readonly<Record<JobState, number>>;
  /** Jobs of a user that wait: queued or held. */
  waitingOf(user: string): number;
  /** What the jobs take, changes included that are not on disk yet. */
  readonly memory: Pick<JobMemory, 'total' | 'of'>;
  /** Resolves when the change is on disk; then, and not before, `jobs` shows it and listeners hear of it. */
  change<Result>(change: (transaction: JobTransaction) => Result): Promise<Result>;
  onChange(listener: (changes: readonly JobChange[]) => void): () => void;
  /** Facts of one job, or of all, oldest first; the newest `limit` of them. */
  facts(query: { readonly job?: string; readonly after?: number; readonly limit: number }): JobFact[];
}

/** Facts beyond this many are dropped, oldest first. */
const factsKept = 200_000;

export function openJobStore(database: Database): JobStore {
  const { jobs, live, counts } = load(database);
  const memory = new JobMemory();
  for (const job of jobs.values()) memory.set(job.id, job);
  const listeners = new Set<(changes: readonly JobChange[]) => void>();
  /** What this batch has changed and not committed yet; undefined stands for deleted. */
  let batch = new Map<string, Job | undefined>();
  let factsWritten = 0;
  const waitingByUser = new Map<string, number>();
  for (const job of live.values()) if (waits(job)) waitingByUser.set(job.user, (waitingByUser.get(job.user) ?? 0) + 1);

  database.onBatch((committed) => {
    const changes = batch;
    batch = new Map();
    if (!committed) for (const id of changes.keys()) memory.set(id, jobs.get(id));
    if (!committed || changes.size === 0) return;
    const told = [...changes].map(([id, after]) => publish(id, after));
    for (const listener of listeners) listener(told);
  });

  const publish = (id: string, after: Job | undefined): JobChange => {
    const before = jobs.get(id);
    if (before && waits(before)) waitingByUser.set(before.user, (waitingByUser.get(before.user) ?? 1) - 1);
    if (after && waits(after)) waitingByUser.set(after.user, (waitingByUser.get(after.user) ?? 0) + 1);
    if (before) counts[before.state] -= 1;
    if (after) {
      counts[after.state] += 1;
      jobs.set(id, after);
    } else jobs.delete(id);
    if (after && !isOver(after.state)) live.set(id, after);
    else live.delete(id);
    return { id, ...(before && { before }), ...(after && { after }) };
  };

  return {
    jobs,
    live,
    counts: () => ({ ...counts }),
    memory,
    waitingOf: (user) => waitingByUser.get(user) ?? 0,
    change(change) {
      return database.write(() => {
        const own = new Map<string, Job | undefined>();
        const get = (id: string): Job | undefined =>
          own.has(id) ? own.get(id) : batch.has(id) ? batch.get(id) : jobs.get(id);
        const result = change({
          get,
          put(job) {
            writeJob(database, get(job.id), job);
            own.set(job.id, job);
          },
          remove(id) {
            database.prepare('DELETE FROM attempts WHERE job = ?').run(id);
            database.prepare('DELETE FROM jobs WHERE id = ?').run(id);
            own.set(id, undefined);
          },
          fact(kind, at, job, data) {
            database
              .prepare('INSERT INTO facts (at, kind, job, data) VALUES (?, ?, ?, ?)')
              .run(at, kind, job ?? null, JSON.stringify(data));
            factsWritten += 1;
            if (factsWritten % 1_000 === 0) dropOldFacts(database);
          },
        });
        for (const [id, job] of own) {
          batch.set(id, job);
          memory.set(id, job);
        }
        return result;
      });
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    facts: ({ job, after = 0, limit }) => readFacts(database, job, after, limit),
  };
}

const waits = (job: Job): boolean => job.state === 'queued' || job.state === 'held';

function dropOldFacts(database: Database): void {
  database.prepare('DELETE FROM facts WHERE seq <= (SELECT max(seq) FROM facts) - ?').run(factsKept);
}

function readFacts(database: Database, job: string | undefined, after: number, limit: number): JobFact[] {
  const rows =
    job === undefined
      ? database.prepare('SELECT * FROM facts WHERE seq > ? ORDER BY seq DESC LIMIT ?').all(after, limit)
      : database
          .prepare('SELECT * FROM facts WHERE job = ? AND seq > ? ORDER BY seq DESC LIMIT ?')
          .all(job, after, limit);
  return rows.reverse().map((row) => ({
    seq: Number(row['seq']),
    at: Number(row['at']),
    kind: String(row['kind']),
    ...(row['job'] !== null && { job: String(row['job']) }),
    data: JSON.parse(String(row['data'])) as Record<string, unknown>,
  }));
}

/** What a job was submitted with; everything else of it changes. */
export const specKeys = [
  'id',
  'user',
  'entrypoint',
  'runtimeEnv',
  'metadata',
  'resources',
  'labels',
  'gang',
  'priority',
  'retries',
  'timeLimit',
  'startAfter',
  'cron',
  'dependsOn',
  'submittedAt',
] as const satisfies readonly (keyof JobSpec)[];
const isSpecKey = new Set<string>(specKeys);

function writeJob(database: Database, before: Job | undefined, job: Job): void {
  const status: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(job))
    if (!isSpecKey.has(key) && key !== 'attempts' && key !== 'state') status[key] = value;
  if (before) {
    database
      .prepare('UPDATE jobs SET state = ?, status = ? WHERE id = ?')
      .run(job.state, JSON.stringify(status), job.id);
  } else {
    const spec = Object.fromEntries(specKeys.map((key) => [key, job[key]]));
    database
      .prepare('INSERT INTO jobs (id, state, spec, status) VALUES (?, ?, ?, ?)')
      .run(job.id, job.state, JSON.stringify(spec), JSON.stringify(status));
  }
  for (const [index, attempt] of job.attempts.entries()) {
    if (before?.attempts[index] === attempt) continue;
    database
      .prepare(
        'INSERT INTO attempts (id, job, number, data) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET data = excluded.data',
      )
      .run(attempt.id, job.id, attempt.number, JSON.stringify(attempt));
  }
}

function load(database: Database): {
  jobs: Map<string, Job>;
  live: Map<string, Job>;
  counts: Record<JobState, number>;
} {
  const attempts = new Map<string, Attempt[]>();
  for (const row of database.prepare('SELECT job, data FROM attempts ORDER BY job, number').iterate()) {
    const id = String(row['job']);
    const list = attempts.get(id) ?? [];
    list.push(JSON.parse(String(row['data'])) as Attempt);
    attempts.set(id, list);
  }
  const jobs = new Map<string, Job>();
  const live = new Map<string, Job>();
  const counts: Record<JobState, number> = {
    held: 0,
    queued: 0,
    starting: 0,
    running: 0,
    stopping: 0,
    succeeded: 0,
    failed: 0,
    stopped: 0,
  };
  for (const row of database.prepare('SELECT state, spec, status FROM jobs ORDER BY seq').iterate()) {
    const spec = JSON.parse(String(row['spec'])) as JobSpec;
    const status = JSON.parse(String(row['status'])) as Pick<Job, 'message'>;
    const job: Job = {
      ...spec,
      ...status,
      state: String(row['state']) as JobState,
      attempts: attempts.get(spec.id) ?? [],
    };
    jobs.set(job.id, job);
    counts[job.state] += 1;
    if (!isOver(job.state)) live.set(job.id, job);
  }
  return { jobs, live, counts };
}
