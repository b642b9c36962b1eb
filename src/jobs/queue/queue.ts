import type { EventSink } from '../../base/events.ts';
import type { Clock, Duration } from '../../base/time/clock.ts';
import type { GangDemand, TaskDemand } from '../../core/demand.ts';
import { type Capacity, infeasibility, infeasibleText } from '../../core/jobs/admit.ts';
import type { Block, Limits } from '../../core/jobs/choose.ts';
import { isOver, type Job, type JobSpec } from '../../core/jobs/job.ts';
import { withoutOutput } from '../../core/jobs/messages.ts';
import { applyEvent } from '../../core/jobs/transitions.ts';
import type { Runner } from '../../engines/runner.ts';
import { jobErrors } from '../errors.ts';
import { jobEvents } from '../events.ts';
import type { LogStore } from '../logs/log-store.ts';
import type { PackageStore } from '../packages/packages.ts';
import { readAndCheck } from '../packages/prepare.ts';
import { AttemptKeeper } from './attempts.ts';
import { Dispatcher } from './dispatcher.ts';
import { memoryOf } from './job-memory.ts';
import type { JobChange, JobStore, JobTransaction } from './store.ts';
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

/** All jobs of a cluster, from their submission to their end. */
export class JobQueue {
  readonly #options: QueueOptions;
  readonly #closing = new AbortController();
  readonly #attempts: AttemptKeeper;
  readonly #dispatcher: Dispatcher;
  readonly #unwatch: () => void;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#attempts = new AttemptKeeper({
      ...options,
      grace: options.stopGrace ?? 3_000,
      restart: (job) => this.#dispatcher.restart(job),
    });
    this.#dispatcher = new Dispatcher({ ...options, attempts: this.#attempts, signal: this.#closing.signal });
    this.#unwatch = options.store.onChange((changes) => {
      for (const change of changes) {
        this.#dispatcher.account(change);
        tell(options.events, change);
      }
      this.poke();
    });
  }

  /** Resolves when the job is on disk. With `again: 'same'`, the same id with the same work answers with the job that is there. */
  async submit(submission: Submission, again: 'refuse' | 'same' = 'refuse'): Promise<Job> {
    if (this.#closing.signal.aborted) throw jobErrors.Closed({});
    const { store, clock, newId, runner, baseEnv } = this.#options;
    const now = clock.now();
    const spec = specOf(submission, submission.id ?? newId(), now);
    readAndCheck(spec.runtimeEnv, { support: runner.environments, baseEnv });
    // What was taken before is not judged again by what holds now.
    const before = again === 'same' ? store.jobs.get(spec.id) : undefined;
    if (before && sameWork(before, spec)) return before;
    const limits = this.#options.limits();
    this.#checkRoom(spec, limits);
    return store.change((transaction) => {
      const there = transaction.get(spec.id);
      if (there) {
        if (again === 'same' && sameWork(there, spec)) return there;
        throw jobErrors.Exists({ job: spec.id });
      }
      checkDependencies(spec, transaction);
      const job = newJob(spec, now);
      this.#checkMemory(job, limits);
      transaction.put(job);
      transaction.fact('submitted', now, job.id, { user: job.user, state: job.state, resources: job.resources });
      return job;
    });
  }

  get(id: string): Job | undefined {
    return this.#options.store.jobs.get(id);
  }

  /** Works in every state; `stopped` is false when the job was over already. */
  async stop(id: string): Promise<{ readonly stopped: boolean; readonly job: Job }> {
    const { store, clock } = this.#options;
    this.#find(id);
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
    if (answer.job.state === 'stopping') this.#attempts.end(answer.job);
    return answer;
  }

  /** Only of a job that is over; its output goes too. */
  async delete(id: string): Promise<void> {
    const { store, clock, logs } = this.#options;
    const job = this.#find(id);
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
  }

  /** Runs a job that is over once more, with fresh retry budgets. */
  async retry(id: string): Promise<Job> {
    if (this.#closing.signal.aborted) throw jobErrors.Closed({});
    const job = this.#find(id);
    const after = await this.#attempts.record(id, { kind: 'retry' });
    if (!after) throw jobErrors.NotOver({ job: id, state: job.state });
    return after;
  }

  /** Resolves with the job when it is over. */
  wait(id: string, signal: AbortSignal): Promise<Job> {
    const job = this.#find(id);
    return isOver(job.state) ? Promise.resolve(job) : over(this.#options.store, id, signal);
  }

  /** What waits and may start: demand of the view. */
  demand(): { readonly tasks: readonly TaskDemand[]; readonly gangs: readonly GangDemand[] } {
    return this.#dispatcher.demand();
  }

  /** Why a queued job does not start now; undefined when nothing is known to hold it. */
  blockOf(id: string): Block | undefined {
    return this.#dispatcher.blockOf(id);
  }

  watch(listener: (changes: readonly JobChange[]) => void): () => void {
    return this.#options.store.onChange(listener);
  }

  /** Something outside changed (a node came, a limit was raised): look again. */
  poke(): void {
    this.#dispatcher.poke();
  }

  /**
   * Adopts what a former mantad left and begins to hand over. Resolves once the engine has told everything it knows, which
   * it can only when it runs: until then jobs are taken, stopped and told of, and none is handed over.
   */
  run(): Promise<void> {
    return this.#dispatcher.run();
  }

  /** The engine has told what it knows of the attempts of a former mantad. */
  get synced(): boolean {
    return this.#dispatcher.synced;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#unwatch();
    await this.#attempts.close();
  }

  #find(id: string): Job {
    const job = this.get(id);
    if (!job) throw jobErrors.NotFound({ job: id });
    return job;
  }

  /** Whether the cluster could ever run it, and whether the queue takes one more. */
  #checkRoom(spec: JobSpec, limits: Limits): void {
    const { store, capacity } = this.#options;
    const { types, maxNodes } = capacity();
    const never = infeasibility(spec, types, maxNodes);
    if (never) throw jobErrors.Infeasible({ reason: infeasibleText(never) });
    const counts = store.counts();
    if (counts.queued + counts.held >= limits.queued)
      throw jobErrors.QueueFull({ scope: 'cluster', limit: limits.queued });
    if (store.waitingOf(spec.user) >= limits.queuedPerUser)
      throw jobErrors.QueueFull({ scope: 'user', limit: limits.queuedPerUser });
  }

  #checkMemory(job: Job, limits: Limits): void {
    const { memory } = this.#options.store;
    const bytes = memoryOf(job);
    if (memory.of(job.user) + bytes > limits.jobBytesPerUser)
      throw jobErrors.MemoryFull({ scope: 'user', limit: limits.jobBytesPerUser });
    if (memory.total + bytes > limits.jobBytes)
      throw jobErrors.MemoryFull({ scope: 'cluster', limit: limits.jobBytes });
  }
}

function checkDependencies(spec: JobSpec, transaction: JobTransaction): void {
  for (const id of spec.dependsOn) {
    const other = transaction.get(id);
    if (!other) throw jobErrors.Invalid({ field: 'depends_on', problem: `names '${id}', which does not exist` });
    if (other.cron !== undefined)
      throw jobErrors.Invalid({
        field: 'depends_on',
        problem: `names '${id}', which is a schedule and never succeeds`,
      });
  }
}

/** Resolves with the job when it is over; rejects when it is deleted, or the signal aborts. */
function over(store: JobStore, id: string, signal: AbortSignal): Promise<Job> {
  return new Promise((resolve, reject) => {
    const done = (act: () => void): void => {
      stop();
      signal.removeEventListener('abort', aborted);
      act();
    };
    const aborted = (): void => done(() => reject(signal.reason as Error));
    const stop = store.onChange((changes) => {
      for (const { id: changed, after } of changes) {
        if (changed !== id) continue;
        if (!after) done(() => reject(jobErrors.NotFound({ job: id })));
        else if (isOver(after.state)) done(() => resolve(after));
      }
    });
    if (signal.aborted) aborted();
    else signal.addEventListener('abort', aborted, { once: true });
  });
}

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
