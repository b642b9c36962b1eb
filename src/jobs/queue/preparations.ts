import type { EventSink } from '../../base/events.ts';
import { BackOff } from '../../base/time/back-off.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Job } from '../../core/jobs/job.ts';
import type { Runner } from '../../engines/runner.ts';
import { jobEvents } from '../events.ts';
import type { LogStore } from '../logs/log-store.ts';
import type { PackageStore } from '../packages/packages.ts';
import {
  needsPackages,
  type PreparedEnv,
  preparationFailure,
  prepare,
  prepareWithout,
  type Where,
} from '../packages/prepare.ts';
import { packageUris } from '../packages/runtime-env.ts';
import type { AttemptKeeper } from './attempts.ts';

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

interface Making {
  readonly done: Promise<PreparedEnv | undefined>;
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

/** Environments of waiting jobs, made ready before their turn so that nothing holds room while it is unpacked. */
export class Preparations {
  readonly #deps: PreparationDeps;
  readonly #ready = new Map<string, PreparedEnv>();
  readonly #underWay = new Map<string, Making>();
  readonly #slots = new Map<string, number>();
  readonly #rests: BackOff;
  /** Tries in a row that failed by the head. */
  readonly #troubles = new Map<string, number>();
  /** Known to need a slot, as long as nothing was unpacked since: a long queue is not looked up at every pass. */
  readonly #wantSlot = new Set<string>();
  #lookUps = 0;
  #looks = { since: Number.NEGATIVE_INFINITY, count: 0 };

  constructor(deps: PreparationDeps) {
    this.#deps = deps;
    this.#rests = new BackOff(deps.clock, firstPause, longestPause);
  }

  /** What the job needs, when it is ready; begins what is missing. A job that cannot be prepared fails. */
  of(job: Job): PreparedEnv | undefined {
    const made = this.#ready.get(job.id);
    if (made || this.#underWay.has(job.id) || this.#rests.rests(job.id)) return made;
    if (needsPackages(job)) {
      this.#beginInTurn(job);
      return undefined;
    }
    try {
      const plain = prepareWithout(job, this.#where);
      this.#ready.set(job.id, plain);
      return plain;
    } catch (error) {
      const done = this.#setupFailed(job, preparationFailure(error).message).then(() => undefined);
      this.#underWay.set(job.id, { ending: new AbortController(), done });
      void done.finally(() => this.#underWay.delete(job.id));
      return undefined;
    }
  }

  async prepare(job: Job, then: (made: PreparedEnv) => unknown): Promise<void> {
    const made = await (this.#underWay.get(job.id) ?? this.#begin(job)).done;
    if (made) await then(made);
  }

  /** Nobody wants it any more: what is under way is broken off. */
  drop(job: string): void {
    this.#ready.delete(job);
    this.#underWay.get(job)?.ending.abort();
    this.#wantSlot.delete(job);
    this.#rests.forget(job);
    this.#troubles.delete(job);
  }

  get #where(): Where {
    const { runner, baseEnv } = this.#deps;
    return { support: runner.environments, baseEnv };
  }

  #begin(job: Job): Making {
    const ending = new AbortController();
    const making = { ending, done: this.#make(job, AbortSignal.any([this.#deps.signal, ending.signal])) };
    this.#underWay.set(job.id, making);
    return making;
  }

  async #make(job: Job, until: AbortSignal): Promise<PreparedEnv | undefined> {
    try {
      const prepared = await prepare(job, this.#deps.packages, this.#where, until);
      if (until.aborted) return undefined;
      this.#ready.set(job.id, prepared);
      this.#rests.forget(job.id);
      this.#troubles.delete(job.id);
      return prepared;
    } catch (error) {
      if (!until.aborted) await this.#onFailure(job, error);
      return undefined;
    } finally {
      this.#underWay.delete(job.id);
      this.#deps.changed();
    }
  }

  async #onFailure(job: Job, error: unknown): Promise<void> {
    const failure = preparationFailure(error);
    const before = this.#troubles.get(job.id) ?? 0;
    if (failure.of === 'disk') this.#troubles.delete(job.id);
    else if (!this.#rests.rests(job.id)) this.#troubles.set(job.id, before + 1);
    if (failure.of === 'job' || (this.#troubles.get(job.id) ?? 0) >= mostTries)
      return this.#setupFailed(job, failure.message);
    this.#rests.tried(job.id);
    this.#deps.events.emit(jobEvents.journalTrouble, { detail: failure.message });
  }

  /** Begins where there is a slot: of the user's own, or none where nothing has to be fetched or unpacked. */
  #beginInTurn(job: Job): void {
    const taken = this.#slots.get(job.user) ?? 0;
    if (this.#lookUps < lookUpsAtOnce && this.#isHere(job)) {
      this.#lookUps += 1;
      void this.#begin(job).done.finally(() => (this.#lookUps -= 1));
    } else if (taken < atOncePerUser) {
      this.#slots.set(job.user, taken + 1);
      void this.#begin(job)
        .done.then((made) => made && this.#wantSlot.clear())
        .finally(() => this.#release(job.user));
    }
  }

  #release(user: string): void {
    const left = (this.#slots.get(user) ?? 1) - 1;
    if (left > 0) this.#slots.set(user, left);
    else this.#slots.delete(user);
  }

  #isHere(job: Job): boolean {
    const { clock, packages } = this.#deps;
    const now = clock.now();
    if (Math.abs(now - this.#looks.since) >= 1_000) this.#looks = { since: now, count: 0 };
    if (this.#wantSlot.has(job.id) || this.#looks.count >= looksASecond) return false;
    this.#looks.count += 1;
    const here = packageUris(job.runtimeEnv).every((uri) => packages.isReady(job.user, uri));
    if (!here) this.#wantSlot.add(job.id);
    return here;
  }

  /** The reason stands in the log of the attempt that could not begin. */
  async #setupFailed(job: Job, message: string): Promise<void> {
    const { logs, events, attempts } = this.#deps;
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
  }
}
