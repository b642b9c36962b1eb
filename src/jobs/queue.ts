import type { Clock, Duration } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { EventSink } from '../base/events.ts';
import type { GangDemand, TaskDemand } from '../core/demand.ts';
import { type Capacity, infeasibility, infeasibleText } from '../core/jobs/admit.ts';
import { type Block, candidates, type Limits, wantedNow } from '../core/jobs/choose.ts';
import { charge, type Usage, usageOf } from '../core/jobs/fair-share.ts';
import { isOver, type Job } from '../core/jobs/job.ts';
import { withoutOutput } from '../core/jobs/messages.ts';
import { demandOf } from '../core/jobs/queue-demand.ts';
import { applyEvent } from '../core/jobs/transitions.ts';
import type { Runner } from '../engines/runner.ts';
import { type AttemptKeeper, keepAttempts } from './attempts.ts';
import { jobErrors } from './errors.ts';
import { jobEvents } from './events.ts';
import { releaseHeld } from './holding.ts';
import { memoryOf } from './job-memory.ts';
import type { LogStore } from './log-store.ts';
import type { PackageStore } from './packages.ts';
import { keepPreparations } from './preparations.ts';
import { needsPackages, readAndCheck } from './prepare.ts';
import type { JobChange, JobStore } from './store.ts';
import { newJob, type Submission, sameWork, specOf } from './submission.ts';

export interface QueueOptions {
  readonly store: JobStore;
  readonly logs: LogStore;
  readonly packages: PackageStore;
  readonly runner: Runner;
  readonly clock: Clock;
  readonly events: EventSink;
  /** Asked at every decision, so that changes apply at once. */
  readonly limits: () => Limits;
  /** What the cluster could ever offer; without types nothing is refused as infeasible. */
  readonly capacity: () => { readonly types: readonly Capacity[]; readonly maxNodes?: number };
  /** Makes up the id of a job that was submitted without one. */
  readonly newId: () => string;
  /** Environment of the nodes, for `${NAME}` in `env_vars`. */
  readonly baseEnv: Readonly<Record<string, string | undefined>>;
  /** Between SIGTERM and SIGKILL when a job is stopped. @default 3 s, as in Ray */
  readonly stopGrace?: Duration;
}

export interface JobQueue {
  /** Resolves when the job is on disk. With `again: 'same'`, the same id with the same work answers with the job that is there. */
  submit(submission: Submission, again?: 'refuse' | 'same'): Promise<Job>;
  get(id: string): Job | undefined;
  /** Works in every state; `stopped` is false when the job was over already. */
  stop(id: string): Promise<{ readonly stopped: boolean; readonly job: Job }>;
  /** Only of a job that is over; its output goes too. */
  delete(id: string): Promise<void>;
  /** Runs a job that is over once more, with fresh retry budgets. */
  retry(id: string): Promise<Job>;
  /** Resolves with the job when it is over. */
  wait(id: string, signal: AbortSignal): Promise<Job>;
  /** What waits and may start: demand of the view. */
  demand(): { readonly tasks: readonly TaskDemand[]; readonly gangs: readonly GangDemand[] };
  /** Why a queued job does not start now; undefined when nothing is known to hold it. */
  blockOf(id: string): Block | undefined;
  watch(listener: (changes: readonly JobChange[]) => void): () => void;
  /** Something outside changed (a node came, a limit was raised): look again. */
  poke(): void;
  /**
   * Adopts what a former mantad left and begins to hand over. Resolves once the engine has told everything it knows, which
   * it can only when it runs: until then jobs are taken, stopped and told of, and none is handed over.
   */
  run(): Promise<void>;
  /** The engine has told what it knows of the attempts of a former mantad. */
  readonly synced: boolean;
  close(): Promise<void>;
}

/** How often to look when nobody says that something changed. */
const lookEvery = 1_000;
const reconcileEvery = 15_000;
const longestSyncPause = 2_000;
const startsAPass = 64;
/** Looking through a long queue in vain takes at most this share of the time. */
const lookingShare = 0.3;
const longQueue = 500;

export function openQueue(options: QueueOptions): JobQueue {
  const { store, logs, clock, events } = options;
  const closing = new AbortController();
  let usage: Map<string, Usage> = usageOf(store.jobs.values(), clock.now());
  let blocked: ReadonlyMap<string, Block> = new Map();
  let synced = false;
  let passing = false;
  let again = false;
  let wake = new AbortController();

  const attempts: AttemptKeeper = keepAttempts({
    ...options,
    grace: options.stopGrace ?? 3_000,
    restart: (job) => void handOver(job).catch(trouble),
  });

  const preparations = keepPreparations({ ...options, attempts, signal: closing.signal, changed: () => poke() });

  const waiting = (): Job[] => [...store.live.values()].filter((job) => job.state === 'queued');
  const handedOver = (): Job[] =>
    [...store.live.values()].filter(
      (job) => job.state === 'starting' || job.state === 'running' || job.state === 'stopping',
    );

  const poke = (): void => {
    again = true;
    wake.abort();
    if (passing || !synced || closing.signal.aborted) return;
    passing = true;
    setImmediate(() => void passes());
  };
  const passes = async (): Promise<void> => {
    try {
      while (again && !closing.signal.aborted) {
        again = false;
        const began = performance.now();
        const started = await pass();
        const rest = (performance.now() - began) * (1 / lookingShare - 1);
        if (started === 0 && store.live.size > longQueue) await pauseBriefly(rest);
      }
    } catch (error) {
      trouble(error);
    } finally {
      passing = false;
    }
    if (again && !closing.signal.aborted) poke();
  };

  /** Starts what may start; returns how many did. */
  const pass = async (): Promise<number> => {
    await releaseHeld({ ...options, attempts });
    const turns = candidates(
      waiting().filter((job) => preparations.of(job) !== undefined),
      handedOver(),
      usage,
      options.limits(),
      clock.now(),
    );
    let turn = turns.next();
    let started = 0;
    while (!turn.done) {
      const job = turn.value;
      const room = options.runner.hasRoom({
        resources: job.resources,
        labels: job.labels,
        ...(job.gang && { gang: job.gang }),
      });
      if (room) await startNow(job);
      started += room ? 1 : 0;
      // What came meanwhile may go first.
      if (started >= startsAPass) {
        again = true;
        return started;
      }
      turn = turns.next(room);
    }
    blocked = turn.value;
    return started;
  };

  /**
   * The attempt is in the journal before the engine hears of it; the engine has heard of it, and booked its room, before the
   * next is chosen. Whose packages have to travel to the engine is not waited for: that may take minutes.
   */
  const startNow = async (job: Job): Promise<void> => {
    const journalled = await store.change((transaction) => {
      const now = transaction.get(job.id);
      const result = now && applyEvent(now, { kind: 'hand-over' }, clock.now());
      if (!result || 'refused' in result) return undefined;
      transaction.put(result.job);
      transaction.fact('starting', clock.now(), job.id, { attempt: result.job.attempts.at(-1)?.id });
      return result.job;
    });
    if (!journalled) return;
    const handing = handOver(journalled);
    if (needsPackages(job)) handing.catch(trouble);
    else await handing;
  };
  const trouble = (error: unknown): void => {
    if (!closing.signal.aborted) events.emit(jobEvents.journalTrouble, { detail: messageOf(error) });
  };

  const handOver = async (job: Job): Promise<void> => {
    const ready = preparations.of(job);
    if (ready) await attempts.start(job, ready);
    else await preparations.prepare(job, (made) => attempts.start(job, made));
  };

  const unwatch = store.onChange((changes) => {
    for (const change of changes) {
      const { before, after } = change;
      const ended = after?.attempts.at(-1);
      if (
        after &&
        ended?.cause !== undefined &&
        before?.attempts.at(-1)?.cause === undefined &&
        ended.startedAt !== undefined
      ) {
        usage = charge(usage, after.user, after, (ended.endedAt ?? clock.now()) - ended.startedAt, clock.now());
      }
      if (!after || isOver(after.state) || after.state === 'stopping') preparations.drop(change.id);
      tell(events, change);
    }
    poke();
  });

  /** Held jobs come due, nodes may have come unannounced, reports may have been missed. */
  const keepLooking = async (): Promise<void> => {
    let reconciledAt = 0;
    for (let looks = 0; !closing.signal.aborted; looks++) {
      if (store.live.size === 0) {
        wake = new AbortController();
        await clock.sleep(60_000, AbortSignal.any([wake.signal, closing.signal])).catch(() => {});
        continue;
      }
      await clock.sleep(lookEvery, closing.signal).catch(() => {});
      poke();
      if (looks - reconciledAt >= reconcileEvery / lookEvery && handedOver().length > 0) {
        reconciledAt = looks;
        await attempts.reconcile();
      }
    }
  };

  const find = (id: string): Job => {
    const job = store.jobs.get(id);
    if (!job) throw jobErrors.NotFound({ job: id });
    return job;
  };

  return {
    async submit(submission, repeated = 'refuse') {
      if (closing.signal.aborted) throw jobErrors.Closed({});
      const now = clock.now();
      const spec = specOf(submission, submission.id ?? options.newId(), now);
      readAndCheck(spec.runtimeEnv, options.baseEnv);
      // What was taken before is not judged again by what holds now.
      const before = repeated === 'same' ? store.jobs.get(spec.id) : undefined;
      if (before && sameWork(before, spec)) return before;
      const { types, maxNodes } = options.capacity();
      const never = infeasibility(spec, types, maxNodes);
      if (never) throw jobErrors.Infeasible({ reason: infeasibleText(never) });
      const limits = options.limits();
      const counts = store.counts();
      if (counts.queued + counts.held >= limits.queued)
        throw jobErrors.QueueFull({ scope: 'cluster', limit: limits.queued });
      if (store.waitingOf(spec.user) >= limits.queuedPerUser)
        throw jobErrors.QueueFull({ scope: 'user', limit: limits.queuedPerUser });
      return store.change((transaction) => {
        const there = transaction.get(spec.id);
        if (there) {
          if (repeated === 'same' && sameWork(there, spec)) return there;
          throw jobErrors.Exists({ job: spec.id });
        }
        for (const id of spec.dependsOn) {
          const other = transaction.get(id);
          if (!other) throw jobErrors.Invalid({ field: 'depends_on', problem: `names '${id}', which does not exist` });
          if (other.cron !== undefined)
            throw jobErrors.Invalid({
              field: 'depends_on',
              problem: `names '${id}', which is a schedule and never succeeds`,
            });
        }
        const job = newJob(spec, now);
        const bytes = memoryOf(job);
        if (store.memory.of(job.user) + bytes > limits.jobBytesPerUser)
          throw jobErrors.MemoryFull({ scope: 'user', limit: limits.jobBytesPerUser });
        if (store.memory.total + bytes > limits.jobBytes)
          throw jobErrors.MemoryFull({ scope: 'cluster', limit: limits.jobBytes });
        transaction.put(job);
        transaction.fact('submitted', now, job.id, { user: job.user, state: job.state, resources: job.resources });
        return job;
      });
    },
    get: (id) => store.jobs.get(id),
    async stop(id) {
      find(id);
      const answer = await store.change((transaction) => {
        const job = transaction.get(id);
        if (!job) throw jobErrors.NotFound({ job: id });
        const result = applyEvent(job, { kind: 'stop' }, clock.now());
        if ('refused' in result) return { stopped: false, job };
        if (result.job !== job) {
          transaction.put(result.job);
          transaction.fact(result.job.state, clock.now(), id, { event: 'stop' });
        }
        return { stopped: true, job: result.job };
      });
      if (answer.job.state === 'stopping') attempts.end(answer.job);
      return answer;
    },
    async delete(id) {
      const job = find(id);
      if (!isOver(job.state)) throw jobErrors.NotOver({ job: id, state: job.state });
      const needing = [...store.live.values()].find((other) => other.dependsOn.includes(id));
      if (needing) throw jobErrors.Needed({ job: id, by: needing.id });
      await store.change((transaction) => {
        const now = transaction.get(id);
        if (now && !isOver(now.state)) throw jobErrors.NotOver({ job: id, state: now.state });
        transaction.remove(id);
        transaction.fact('deleted', clock.now(), id, {});
      });
      await logs.remove(id);
    },
    async retry(id) {
      if (closing.signal.aborted) throw jobErrors.Closed({});
      const job = find(id);
      const after = await attempts.record(id, { kind: 'retry' });
      if (!after) throw jobErrors.NotOver({ job: id, state: job.state });
      return after;
    },
    wait(id, signal) {
      const job = find(id);
      if (isOver(job.state)) return Promise.resolve(job);
      return new Promise((resolve, reject) => {
        const done = (act: () => void): void => {
          stop();
          signal.removeEventListener('abort', aborted);
          act();
        };
        const aborted = (): void => done(() => reject(signal.reason as Error));
        const stop = store.onChange((changes) => {
          for (const change of changes) {
            if (change.id !== id) continue;
            if (!change.after) done(() => reject(jobErrors.NotFound({ job: id })));
            else if (isOver(change.after.state)) {
              const { after } = change;
              done(() => resolve(after));
            }
          }
        });
        if (signal.aborted) aborted();
        else signal.addEventListener('abort', aborted, { once: true });
      });
    },
    demand: () => demandOf(wantedNow(waiting(), handedOver(), usage, options.limits(), clock.now())),
    blockOf: (id) => blocked.get(id),
    watch: (listener) => store.onChange(listener),
    poke,
    get synced() {
      return synced;
    },
    async run() {
      for (
        let wait = 100;
        !closing.signal.aborted && !(await attempts.reconcile());
        wait = Math.min(longestSyncPause, wait * 2)
      ) {
        await clock.sleep(wait, closing.signal).catch(() => {});
      }
      if (closing.signal.aborted) return;
      for (const job of store.live.values()) {
        if (job.state === 'stopping' || job.attempts.at(-1)?.endsFor) attempts.end(job);
      }
      synced = true;
      void keepLooking();
      poke();
    },
    async close() {
      closing.abort();
      unwatch();
      await attempts.close();
    },
  };
}

/** Real time, not the clock's: it spares this process, and means nothing to jobs. */
const pauseBriefly = (duration: Duration): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.min(200, duration)));

/** Says in events what a change of the journal means. */
function tell(events: EventSink, { id, before, after }: JobChange): void {
  if (!after) return events.emit(jobEvents.deleted, { job: id });
  if (!before) return events.emit(jobEvents.submitted, { job: id, user: after.user });
  if (before.state === after.state) return;
  const attempt = after.attempts.at(-1);
  if (isOver(after.state))
    events.emit(jobEvents.over, { job: id, state: after.state, reason: withoutOutput(after.message) });
  else if (after.state === 'starting' && attempt) events.emit(jobEvents.handedOver, { job: id, attempt: attempt.id });
  else if (after.state === 'running' && attempt)
    events.emit(jobEvents.running, { job: id, attempt: attempt.id, node: attempt.node });
  else if (after.state === 'held') events.emit(jobEvents.retried, { job: id, reason: withoutOutput(after.message) });
}
