import type { Clock } from '../base/clock.ts';
import type { EventSink } from '../base/events.ts';
import type { Job } from '../core/jobs/job.ts';
import type { Runner } from '../engines/runner.ts';
import type { AttemptKeeper } from './attempts.ts';
import { jobEvents } from './events.ts';
import type { LogStore } from './log-store.ts';
import type { PackageStore } from './packages.ts';
import { needsPackages, type Prepared, preparationFailure, prepare } from './prepare.ts';
import { readRuntimeEnv } from './runtime-env.ts';

export interface PreparationDeps {
  readonly packages: PackageStore;
  readonly runner: Pick<Runner, 'environments'>;
  readonly logs: LogStore;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly attempts: Pick<AttemptKeeper, 'record'>;
  readonly signal: AbortSignal;
  /** Something became ready, or failed. */
  readonly changed: () => void;
}

/** Environments of waiting jobs, made ready before their turn so that nothing holds room while it is unpacked. */
export interface Preparations {
  /** What the job needs, when it is ready; begins what is missing. A job that cannot be prepared fails. */
  of(job: Job): Prepared | undefined;
  prepare(job: Job, then: (made: Prepared) => unknown): Promise<void>;
  drop(job: string): void;
}

const atOnce = 4;
const tryAgainAfter = 5_000;

export function keepPreparations(deps: PreparationDeps): Preparations {
  const { logs, clock, events, attempts, signal } = deps;
  const ready = new Map<string, Prepared>();
  const underWay = new Set<string>();

  const prepareJob = async (job: Job, then: (made: Prepared) => unknown): Promise<void> => {
    underWay.add(job.id);
    try {
      const made = await prepare(job, deps.packages, deps.runner.environments, signal);
      ready.set(job.id, made);
      await then(made);
    } catch (error) {
      if (signal.aborted) return;
      const failure = preparationFailure(error);
      if (failure.ofTheJob) await setupFailed(job, failure.message);
      else {
        events.emit(jobEvents.journalTrouble, { detail: failure.message });
        await clock.sleep(tryAgainAfter, signal).catch(() => {});
      }
    } finally {
      underWay.delete(job.id);
      deps.changed();
    }
  };

  /** The reason stands in the log of the attempt that could not begin. */
  const setupFailed = async (job: Job, message: string): Promise<void> => {
    const last = job.attempts.at(-1);
    const number = job.attempts.length + (job.state === 'queued' ? 1 : 0);
    try {
      logs.note(job.id, number, `${message}\n`);
      await logs.end(job.id, number);
    } catch (error) {
      // The reason is journalled with the job; a log that cannot be written must not keep it from ending.
      events.emit(jobEvents.journalTrouble, { detail: (error as Error).message });
    }
    if (job.state === 'queued') await attempts.record(job.id, { kind: 'setup-failed', message });
    else if (last) {
      const news = { id: last.id, state: 'ended', cause: 'setup-failed', message } as const;
      await attempts.record(job.id, { kind: 'news', news });
    }
  };

  return {
    of(job) {
      const made = ready.get(job.id);
      if (made || underWay.has(job.id)) return made;
      if (needsPackages(job)) {
        if (underWay.size < atOnce) void prepareJob(job, () => {});
        return undefined;
      }
      try {
        const plain = readRuntimeEnv(job.runtimeEnv, deps.runner.environments);
        ready.set(job.id, plain);
        return plain;
      } catch (error) {
        underWay.add(job.id);
        void setupFailed(job, preparationFailure(error).message).finally(() => underWay.delete(job.id));
        return undefined;
      }
    },
    prepare: prepareJob,
    drop: (job) => void ready.delete(job),
  };
}
