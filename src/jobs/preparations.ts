import { BackOff } from '../base/back-off.ts';
import type { Clock } from '../base/clock.ts';
import type { EventSink } from '../base/events.ts';
import type { Job } from '../core/jobs/job.ts';
import type { Runner } from '../engines/runner.ts';
import type { AttemptKeeper } from './attempts.ts';
import { jobEvents } from './events.ts';
import type { LogStore } from './log-store.ts';
import type { PackageStore } from './packages.ts';
import { needsPackages, type Prepared, preparationFailure, prepare, prepareWithout } from './prepare.ts';
import { packageUris } from './runtime-env.ts';

export interface PreparationDeps {
  readonly packages: PackageStore;
  readonly runner: Pick<Runner, 'environments'>;
  readonly logs: LogStore;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly attempts: Pick<AttemptKeeper, 'record'>;
  /** Environment of the nodes, for `${NAME}` in `env_vars`. */
  readonly baseEnv: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Something became ready, or failed. */
  readonly changed: () => void;
}

/** Environments of waiting jobs, made ready before their turn so that nothing holds room while it is unpacked. */
export interface Preparations {
  /** What the job needs, when it is ready; begins what is missing. A job that cannot be prepared fails. */
  of(job: Job): Prepared | undefined;
  prepare(job: Job, then: (made: Prepared) => unknown): Promise<void>;
  /** Nobody wants it any more: what is under way is broken off. */
  drop(job: string): void;
}

interface Making {
  readonly done: Promise<Prepared | undefined>;
  readonly ending: AbortController;
}

/** Downloads and unpackings of one user. Those of others never wait for them. */
const atOncePerUser = 4;
/** Of what has only to be looked up. */
const lookUpsAtOnce = 64;
/** Of jobs whose packages are looked for on the disk. */
const looksASecond = 1_000;
/** After trouble of the head itself, such as a full disk. */
const firstPause = 5_000;
const longestPause = 60_000;
/** Trouble that has not gone by then, about eight minutes later, does not go: it has to do with the job after all. A full disk does. */
const mostTries = 10;

export function keepPreparations(deps: PreparationDeps): Preparations {
  const { packages, logs, clock, events, attempts, runner, baseEnv, signal } = deps;
  const ready = new Map<string, Prepared>();
  const underWay = new Map<string, Making>();
  const slots = new Map<string, number>();
  const rests = new BackOff(clock, firstPause, longestPause);
  /** Tries in a row that failed by the head. */
  const troubles = new Map<string, number>();
  /** Known to need a slot, as long as nothing was unpacked since: a long queue is not looked up at every pass. */
  const wantSlot = new Set<string>();
  let lookUps = 0;
  let looks = { since: Number.NEGATIVE_INFINITY, count: 0 };

  const begin = (job: Job): Making => {
    const ending = new AbortController();
    const until = AbortSignal.any([signal, ending.signal]);
    const made = async (): Promise<Prepared | undefined> => {
      try {
        const prepared = await prepare(job, packages, { support: runner.environments, baseEnv }, until);
        if (until.aborted) return undefined;
        ready.set(job.id, prepared);
        rests.forget(job.id);
        troubles.delete(job.id);
        return prepared;
      } catch (error) {
        if (until.aborted) return undefined;
        const failure = preparationFailure(error);
        if (failure.of === 'disk') troubles.delete(job.id);
        else if (!rests.rests(job.id)) troubles.set(job.id, (troubles.get(job.id) ?? 0) + 1);
        if (failure.of === 'job' || (troubles.get(job.id) ?? 0) >= mostTries) await setupFailed(job, failure.message);
        else {
          rests.tried(job.id);
          events.emit(jobEvents.journalTrouble, { detail: failure.message });
        }
        return undefined;
      } finally {
        underWay.delete(job.id);
        deps.changed();
      }
    };
    const making = { ending, done: made() };
    underWay.set(job.id, making);
    return making;
  };

  /** Begins where there is a slot: of the user's own, or none where nothing has to be fetched or unpacked. */
  const beginInTurn = (job: Job): void => {
    const taken = slots.get(job.user) ?? 0;
    if (lookUps < lookUpsAtOnce && isHere(job)) {
      lookUps += 1;
      void begin(job).done.finally(() => (lookUps -= 1));
    } else if (taken < atOncePerUser) {
      slots.set(job.user, taken + 1);
      const release = (): void => {
        const left = (slots.get(job.user) ?? 1) - 1;
        if (left > 0) slots.set(job.user, left);
        else slots.delete(job.user);
      };
      void begin(job)
        .done.then((made) => made && wantSlot.clear())
        .finally(release);
    }
  };
  const isHere = (job: Job): boolean => {
    const now = clock.now();
    if (Math.abs(now - looks.since) >= 1_000) looks = { since: now, count: 0 };
    if (wantSlot.has(job.id) || looks.count >= looksASecond) return false;
    looks.count += 1;
    const here = packageUris(job.runtimeEnv).every((uri) => packages.isReady(job.user, uri));
    if (!here) wantSlot.add(job.id);
    return here;
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
      if (made || underWay.has(job.id) || rests.rests(job.id)) return made;
      if (needsPackages(job)) {
        beginInTurn(job);
        return undefined;
      }
      try {
        const plain = prepareWithout(job, { support: runner.environments, baseEnv });
        ready.set(job.id, plain);
        return plain;
      } catch (error) {
        const done = setupFailed(job, preparationFailure(error).message).then(() => undefined);
        underWay.set(job.id, { ending: new AbortController(), done });
        void done.finally(() => underWay.delete(job.id));
        return undefined;
      }
    },
    async prepare(job, then) {
      const made = await (underWay.get(job.id) ?? begin(job)).done;
      if (made) await then(made);
    },
    drop(job) {
      ready.delete(job);
      underWay.get(job)?.ending.abort();
      wantSlot.delete(job);
      rests.forget(job);
      troubles.delete(job);
    },
  };
}
