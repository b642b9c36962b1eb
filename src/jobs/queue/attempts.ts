import type { EventSink } from '../../base/events.ts';
import type { Clock, Duration } from '../../base/time/clock.ts';
import { type Attempt, isOver, type Job } from '../../core/jobs/job.ts';
import { withoutOutput } from '../../core/jobs/messages.ts';
import { applyEvent, type JobEvent } from '../../core/jobs/transitions.ts';
import type { AttemptOrder, AttemptReport, Runner } from '../../engines/runner.ts';
import { jobEvents } from '../events.ts';
import type { LogStore } from '../logs/log-store.ts';
import { orderOf, type PreparedEnv } from '../packages/prepare.ts';
import type { JobChange, JobStore } from './store.ts';

export interface AttemptDeps {
  readonly store: JobStore;
  readonly logs: LogStore;
  readonly runner: Runner;
  readonly clock: Clock;
  readonly events: EventSink;
  /** Between SIGTERM and SIGKILL. */
  readonly grace: Duration;
  readonly baseEnv: Readonly<Record<string, string | undefined>>;
  /** Brings a job whose attempt was fixed but never reached the engine to its start again. */
  readonly restart: (job: Job) => void;
}

const longestRetry = 30_000;

/** The half of the queue that talks to the engine: starts, stops, reports, time limits, and what a crash left behind. */
export class AttemptKeeper {
  readonly #deps: AttemptDeps;
  readonly #closing = new AbortController();
  /** Calls of `runner.start` that have no answer yet. */
  readonly #starting = new Map<string, Promise<void>>();
  readonly #ending = new Set<string>();
  /** Aborted when the attempt is over: ends its timers. */
  readonly #alive = new Map<string, AbortController>();
  /** Why the engine did not tell what it knows, while it does not: said once. */
  #silent: string | undefined;
  /** Reports of one attempt are taken one after the other. */
  readonly #chains = new Map<string, Promise<void>>();
  readonly #unwatch: readonly (() => void)[];

  constructor(deps: AttemptDeps) {
    this.#deps = deps;
    this.#unwatch = [
      deps.store.onChange((changes) => this.#forgetEnded(changes)),
      deps.runner.watch((report) => void this.#take(report)),
    ];
  }

  /** Hands the last attempt of the job, which is in the journal, to the engine. Resolves after the first try. */
  async start(job: Job, prepared: PreparedEnv): Promise<void> {
    const { runner, logs, baseEnv } = this.#deps;
    const attempt = job.attempts.at(-1);
    if (!attempt || this.#starting.has(attempt.id) || !this.#isStarting(attempt.id)) return;
    const where = { support: runner.environments, baseEnv };
    const order = orderOf(job, prepared, logs.folder(job.id, attempt.number), where);
    const first = this.#tryStart(order);
    const whole = this.#startUntilTaken(job, order, first).finally(() => this.#starting.delete(attempt.id));
    this.#starting.set(attempt.id, whole);
    await first;
  }

  /** Ends the last attempt of the job; goes on until the engine has reported its end. */
  end(job: Job): void {
    const id = job.attempts.at(-1)?.id;
    if (id === undefined || this.#ending.has(id)) return;
    this.#ending.add(id);
    void this.#endUntilOver(id).finally(() => this.#ending.delete(id));
  }

  /** Compares the journal with everything the engine knows. False when the engine did not answer. */
  async reconcile(): Promise<boolean> {
    const { store, runner, events } = this.#deps;
    const before = [...store.live.values()].flatMap((job) => {
      const attempt = job.attempts.at(-1);
      return attempt && attempt.cause === undefined && !this.#starting.has(attempt.id) ? [attempt.id] : [];
    });
    let reports: readonly AttemptReport[];
    try {
      reports = await runner.attempts(this.#signal);
      this.#silent = undefined;
    } catch (error) {
      const detail = (error as Error).message;
      if (!this.#signal.aborted && detail !== this.#silent)
        events.emit(jobEvents.engineTrouble, { call: 'attempts', detail });
      this.#silent = detail;
      return false;
    }
    const known = new Set(reports.map((report) => report.id));
    await Promise.all(reports.map((report) => this.#take(report)));
    for (const id of before) if (!known.has(id)) await this.#onLost(id);
    return true;
  }

  /** Journals an event of a job, again and again while the disk refuses it. Undefined when it does not apply. */
  async record(id: string, event: JobEvent): Promise<Job | undefined> {
    const { store, clock, events } = this.#deps;
    for (let wait = 250; !this.#signal.aborted; wait = Math.min(longestRetry, wait * 2)) {
      try {
        return await store.change((transaction) => {
          const job = transaction.get(id);
          const result = job && applyEvent(job, event, clock.now());
          if (!job || !result || 'refused' in result) return undefined;
          if (result.job === job) return job;
          transaction.put(result.job);
          if (result.job.state !== job.state)
            transaction.fact(result.job.state, clock.now(), id, factOf(result.job, event));
          return result.job;
        });
      } catch (error) {
        events.emit(jobEvents.journalTrouble, { detail: (error as Error).message });
        await this.#pause(wait, this.#signal);
      }
    }
    return undefined;
  }

  async close(): Promise<void> {
    for (const unwatch of this.#unwatch) unwatch();
    this.#closing.abort();
    await Promise.allSettled([...this.#starting.values(), ...this.#chains.values()]);
  }

  get #signal(): AbortSignal {
    return this.#closing.signal;
  }

  #current(id: string): { job: Job; attempt: Attempt } | undefined {
    const job = this.#deps.store.live.get(jobOf(id));
    const attempt = job?.attempts.at(-1);
    return job && attempt?.id === id && attempt.cause === undefined ? { job, attempt } : undefined;
  }

  #isStarting(id: string): boolean {
    return this.#current(id)?.job.state === 'starting';
  }

  #aliveUntil(id: string): AbortSignal {
    let known = this.#alive.get(id);
    if (!known) {
      known = new AbortController();
      this.#alive.set(id, known);
    }
    return AbortSignal.any([known.signal, this.#signal]);
  }

  #pause(duration: Duration, until: AbortSignal): Promise<void> {
    return this.#deps.clock.sleep(duration, until).catch(() => {});
  }

  /** Whether the engine took it. */
  async #tryStart(order: AttemptOrder): Promise<boolean> {
    const { runner, events } = this.#deps;
    try {
      await runner.start(order, this.#signal);
      return true;
    } catch (error) {
      if (!this.#signal.aborted)
        events.emit(jobEvents.engineTrouble, { call: 'start', detail: (error as Error).message });
      return false;
    }
  }

  async #startUntilTaken(job: Job, order: AttemptOrder, first: Promise<boolean>): Promise<void> {
    const { id } = order;
    const until = this.#aliveUntil(id);
    let taken = await first;
    for (let wait = 1_000; !taken && !until.aborted && this.#isStarting(id); wait = Math.min(longestRetry, wait * 2)) {
      await this.#pause(wait, until);
      if (this.#isStarting(id)) taken = await this.#tryStart(order);
    }
    if (taken) await this.record(job.id, { kind: 'accepted', attempt: id });
  }

  async #endUntilOver(id: string): Promise<void> {
    const { runner, events, grace } = this.#deps;
    const until = this.#aliveUntil(id);
    for (let wait = 1_000; this.#current(id) && !until.aborted; wait = Math.min(longestRetry, wait * 2)) {
      try {
        await runner.stop(id, grace, until);
        await this.#pause(grace + wait, until);
        if (this.#current(id)) await this.reconcile();
      } catch (error) {
        if (until.aborted) break;
        events.emit(jobEvents.engineTrouble, { call: 'stop', detail: (error as Error).message });
        await this.#pause(wait, until);
      }
    }
  }

  #take(report: AttemptReport): Promise<void> {
    const chain = (this.#chains.get(report.id) ?? Promise.resolve())
      .then(() => this.#onReport(report))
      .catch((error: unknown) => {
        if (!this.#signal.aborted)
          this.#deps.events.emit(jobEvents.engineTrouble, { call: 'report', detail: (error as Error).message });
      });
    this.#chains.set(report.id, chain);
    void chain.then(() => this.#chains.get(report.id) === chain && this.#chains.delete(report.id));
    return chain;
  }

  async #onReport(report: AttemptReport): Promise<void> {
    const { logs, runner } = this.#deps;
    const known = this.#current(report.id);
    if (!known) return this.#onStranger(report);
    const { job, attempt } = known;
    if (report.state !== 'ended') {
      const now = await this.record(job.id, { kind: 'news', news: report });
      if (now && report.state === 'running') this.#armTimeLimit(now, attempt.id, report);
      return;
    }
    await logs.end(job.id, attempt.number);
    const lastLines = report.cause === 'failed' ? await lastLinesOf(logs, job.id, attempt.number) : undefined;
    const done = await this.record(job.id, {
      kind: 'news',
      news: { ...report, ...(lastLines !== undefined && { lastLines }) },
    });
    if (done) await runner.forget(report.id, this.#signal);
  }

  /** An attempt that no job waits for: one whose end is journalled is forgotten, one that still runs is ended. */
  async #onStranger(report: AttemptReport): Promise<void> {
    const { runner, events, grace } = this.#deps;
    if (report.state === 'ended') return runner.forget(report.id, this.#signal);
    events.emit(jobEvents.orphanEnded, { attempt: report.id });
    await runner.stop(report.id, grace, this.#signal);
  }

  /** The engine does not know an attempt of the journal. One it never answered for has not begun, and begins now. */
  async #onLost(id: string): Promise<void> {
    const known = this.#current(id);
    if (!known) return;
    if (!known.attempt.accepted && known.job.state === 'starting') return this.#deps.restart(known.job);
    const cause = known.job.state === 'stopping' ? 'stopped' : 'node-lost';
    const message = 'the engine no longer knows the attempt';
    await this.#take({ id, state: 'ended', cause, message, logSize: 0 });
  }

  /** What is left is slept, and what has passed is the engine's word: a clock that is set ends nothing. */
  #armTimeLimit(job: Job, attempt: string, { ranFor, startedAt }: AttemptReport): void {
    const { clock } = this.#deps;
    if (job.timeLimit === undefined || this.#alive.has(`${attempt} limit`)) return;
    const passed = ranFor ?? (startedAt === undefined ? 0 : clock.now() - startedAt);
    const left = job.timeLimit - Math.min(job.timeLimit, Math.max(0, passed));
    const until = this.#aliveUntil(attempt);
    this.#alive.set(`${attempt} limit`, new AbortController());
    void clock.sleep(left, until).then(
      async () => {
        const marked = await this.record(job.id, { kind: 'time-limit', attempt });
        if (marked) this.end(marked);
      },
      () => {},
    );
  }

  #forgetEnded(changes: readonly JobChange[]): void {
    for (const { after, before } of changes) {
      const last = before?.attempts.at(-1);
      const now = after?.attempts.at(-1);
      if (last && (now?.id !== last.id || now.cause !== undefined)) {
        this.#alive.get(last.id)?.abort();
        this.#alive.delete(last.id);
        this.#alive.delete(`${last.id} limit`);
      }
    }
  }
}

/** Attempt ids are `<job>.<n>`. */
const jobOf = (attempt: string): string => attempt.slice(0, attempt.lastIndexOf('.'));

/** As Ray: the last ten lines, and no more than 20,000 characters of them. */
async function lastLinesOf(logs: LogStore, job: string, attempt: number): Promise<string> {
  const tail = await logs.tail(job, attempt, 10, 20_000);
  return tail.bytes.toString('utf8').slice(-20_000);
}

function factOf(job: Job, event: JobEvent): Record<string, unknown> {
  const attempt = job.attempts.at(-1);
  return {
    event: event.kind,
    ...(attempt && {
      attempt: attempt.id,
      ...(attempt.node && { node: attempt.node }),
      ...(attempt.cause && { cause: attempt.cause }),
    }),
    ...(job.exitCode !== undefined && isOver(job.state) && { exitCode: job.exitCode }),
    ...(job.notBefore !== undefined && { until: job.notBefore }),
    ...(isOver(job.state) || job.state === 'held' ? { message: withoutOutput(job.message) } : {}),
  };
}
