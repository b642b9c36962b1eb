import type { Clock, Duration } from '../base/clock.ts';
import type { EventSink } from '../base/events.ts';
import { type Attempt, isOver, type Job } from '../core/jobs/job.ts';
import { withoutOutput } from '../core/jobs/messages.ts';
import { applyEvent, type JobEvent } from '../core/jobs/transitions.ts';
import type { AttemptReport, Runner } from '../engines/runner.ts';
import { jobEvents } from './events.ts';
import type { LogStore } from './log-store.ts';
import { orderOf, type Prepared } from './prepare.ts';
import type { JobStore } from './store.ts';

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

/** The half of the queue that speaks to the engine: starts, stops, reports, time limits, and what a crash left behind. */
export interface AttemptKeeper {
  /** Hands the last attempt of the job, which is in the journal, to the engine. Resolves after the first try. */
  start(job: Job, prepared: Prepared): Promise<void>;
  /** Ends the last attempt of the job; goes on until the engine has reported its end. */
  end(job: Job): void;
  /** Compares the journal with everything the engine knows. False when the engine did not answer. */
  reconcile(): Promise<boolean>;
  /** Journals an event of a job, again and again while the disk refuses it. Undefined when it does not apply. */
  record(job: string, event: JobEvent): Promise<Job | undefined>;
  close(): Promise<void>;
}

const longestRetry = 30_000;

export function keepAttempts(deps: AttemptDeps): AttemptKeeper {
  const { store, logs, runner, clock, events } = deps;
  const closing = new AbortController();
  const { signal } = closing;
  /** Calls of `runner.start` that have no answer yet. */
  const starting = new Map<string, Promise<void>>();
  const ending = new Set<string>();
  /** Aborted when the attempt is over: ends its timers. */
  const alive = new Map<string, AbortController>();
  /** Why the engine did not tell what it knows, while it does not: said once. */
  let silent: string | undefined;
  /** Reports of one attempt are taken one after the other. */
  const chains = new Map<string, Promise<void>>();

  const current = (id: string): { job: Job; attempt: Attempt } | undefined => {
    const job = store.live.get(jobOf(id));
    const attempt = job?.attempts.at(-1);
    return job && attempt?.id === id && attempt.cause === undefined ? { job, attempt } : undefined;
  };
  const aliveUntil = (id: string): AbortSignal => {
    let known = alive.get(id);
    if (!known) {
      known = new AbortController();
      alive.set(id, known);
    }
    return AbortSignal.any([known.signal, signal]);
  };
  const pause = (duration: Duration, until: AbortSignal): Promise<void> => clock.sleep(duration, until).catch(() => {});

  const record = async (id: string, event: JobEvent): Promise<Job | undefined> => {
    for (let wait = 250; !signal.aborted; wait = Math.min(longestRetry, wait * 2)) {
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
        await pause(wait, signal);
      }
    }
    return undefined;
  };

  const start = async (job: Job, prepared: Prepared): Promise<void> => {
    const attempt = job.attempts.at(-1);
    if (!attempt || starting.has(attempt.id) || current(attempt.id)?.job.state !== 'starting') return;
    const where = { support: runner.environments, baseEnv: deps.baseEnv };
    const order = orderOf(job, prepared, logs.folder(job.id, attempt.number), where);
    const once = async (): Promise<boolean> => {
      try {
        await runner.start(order, signal);
        return true;
      } catch (error) {
        if (!signal.aborted) events.emit(jobEvents.engineTrouble, { call: 'start', detail: (error as Error).message });
        return false;
      }
    };
    const first = once();
    const whole = (async () => {
      const until = aliveUntil(attempt.id);
      let taken = await first;
      for (
        let wait = 1_000;
        !taken && !until.aborted && current(attempt.id)?.job.state === 'starting';
        wait = Math.min(longestRetry, wait * 2)
      ) {
        await pause(wait, until);
        if (current(attempt.id)?.job.state === 'starting') taken = await once();
      }
      if (taken) await record(job.id, { kind: 'accepted', attempt: attempt.id });
    })().finally(() => starting.delete(attempt.id));
    starting.set(attempt.id, whole);
    await first;
  };

  const end = (job: Job): void => {
    const id = job.attempts.at(-1)?.id;
    if (id === undefined || ending.has(id)) return;
    ending.add(id);
    void (async () => {
      const until = aliveUntil(id);
      for (let wait = 1_000; current(id) && !until.aborted; wait = Math.min(longestRetry, wait * 2)) {
        try {
          await runner.stop(id, deps.grace, until);
          await pause(deps.grace + wait, until);
          if (current(id)) await reconcile();
        } catch (error) {
          if (until.aborted) break;
          events.emit(jobEvents.engineTrouble, { call: 'stop', detail: (error as Error).message });
          await pause(wait, until);
        }
      }
    })().finally(() => ending.delete(id));
  };

  const take = (report: AttemptReport): Promise<void> => {
    const chain = (chains.get(report.id) ?? Promise.resolve())
      .then(() => onReport(report))
      .catch((error: unknown) => {
        if (!signal.aborted) events.emit(jobEvents.engineTrouble, { call: 'report', detail: (error as Error).message });
      });
    chains.set(report.id, chain);
    void chain.then(() => chains.get(report.id) === chain && chains.delete(report.id));
    return chain;
  };

  const onReport = async (report: AttemptReport): Promise<void> => {
    const known = current(report.id);
    if (!known) return onStranger(report);
    const { job, attempt } = known;
    if (report.state !== 'ended') {
      const now = await record(job.id, { kind: 'news', news: report });
      if (now && report.state === 'running') armTimeLimit(now, attempt.id, report);
      return;
    }
    await logs.end(job.id, attempt.number);
    const lastLines = report.cause === 'failed' ? await lastLinesOf(logs, job.id, attempt.number) : undefined;
    const done = await record(job.id, {
      kind: 'news',
      news: { ...report, ...(lastLines !== undefined && { lastLines }) },
    });
    if (done) await runner.forget(report.id, signal);
  };

  /** An attempt that no job waits for: one whose end is journalled is forgotten, one that still runs is ended. */
  const onStranger = async (report: AttemptReport): Promise<void> => {
    if (report.state === 'ended') return runner.forget(report.id, signal);
    events.emit(jobEvents.orphanEnded, { attempt: report.id });
    await runner.stop(report.id, deps.grace, signal);
  };

  const reconcile = async (): Promise<boolean> => {
    const before = [...store.live.values()].flatMap((job) => {
      const attempt = job.attempts.at(-1);
      return attempt && attempt.cause === undefined && !starting.has(attempt.id) ? [attempt.id] : [];
    });
    let reports: readonly AttemptReport[];
    try {
      reports = await runner.attempts(signal);
      silent = undefined;
    } catch (error) {
      const detail = (error as Error).message;
      if (!signal.aborted && detail !== silent) events.emit(jobEvents.engineTrouble, { call: 'attempts', detail });
      silent = detail;
      return false;
    }
    const known = new Set(reports.map((report) => report.id));
    await Promise.all(reports.map(take));
    for (const id of before) if (!known.has(id)) await onLost(id);
    return true;
  };

  /** The engine does not know an attempt of the journal. One it never answered for has not begun, and begins now. */
  const onLost = async (id: string): Promise<void> => {
    const known = current(id);
    if (!known) return;
    if (!known.attempt.accepted && known.job.state === 'starting') return deps.restart(known.job);
    const cause = known.job.state === 'stopping' ? 'stopped' : 'node-lost';
    await take({ id, state: 'ended', cause, message: 'the engine does not know the attempt any more', logSize: 0 });
  };

  /** What is left is slept, and what has passed is the engine's word: a clock that is set ends nothing. */
  const armTimeLimit = (job: Job, attempt: string, { ranFor, startedAt }: AttemptReport): void => {
    if (job.timeLimit === undefined || alive.has(`${attempt} limit`)) return;
    const passed = ranFor ?? (startedAt === undefined ? 0 : clock.now() - startedAt);
    const left = job.timeLimit - Math.min(job.timeLimit, Math.max(0, passed));
    const until = aliveUntil(attempt);
    alive.set(`${attempt} limit`, new AbortController());
    void clock.sleep(left, until).then(
      async () => {
        const marked = await record(job.id, { kind: 'time-limit', attempt });
        if (marked) end(marked);
      },
      () => {},
    );
  };

  const unwatchStore = store.onChange((changes) => {
    for (const { after, before } of changes) {
      const last = before?.attempts.at(-1);
      const now = after?.attempts.at(-1);
      if (last && (now?.id !== last.id || now.cause !== undefined)) {
        alive.get(last.id)?.abort();
        alive.delete(last.id);
        alive.delete(`${last.id} limit`);
      }
    }
  });
  const unwatchRunner = runner.watch((report) => void take(report));

  return {
    start,
    end,
    reconcile,
    record,
    async close() {
      unwatchRunner();
      unwatchStore();
      closing.abort();
      await Promise.allSettled([...starting.values(), ...chains.values()]);
    },
  };
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
