import { readFileSync } from 'node:fs';
import type { TurnOffAnswer } from '../../api/types.ts';
import type { EventSink } from '../../base/events.ts';
import { readJson, writeJson } from '../../base/files/json-file.ts';
import { type Clock, type Duration, type Instant, latestInstant } from '../../base/time/clock.ts';
import { steadyClock } from '../../base/time/steady-clock.ts';
import { durationWords } from '../../core/duration.ts';
import type { Job } from '../../core/jobs/job.ts';
import type { ClusterSpec } from '../../core/spec/cluster.ts';
import {
  type Activity,
  activityWords,
  afterLook,
  extendedBy,
  type IdleMemory,
  jobActivity,
  reasonWords,
  type TurnOff,
  type TurnOffFacts,
  type TurnOffTerms,
  turnOffOf,
  turnOffTerms,
  turnOffText,
  warnsFrom,
} from '../../core/turn-off.ts';
import { readCluster } from '../../state/cluster-record.ts';
import type { StateFolder } from '../../state/state-folder.ts';
import { headErrors } from '../errors.ts';
import { headEvents } from '../events.ts';

export interface TurnOffEdges {
  readonly folder: StateFolder;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly spec: () => ClusterSpec;
  /** Those that are not over. */
  readonly jobs: () => Iterable<Job>;
  /** What runs or waits beside them. Throws where that cannot be known. */
  readonly activity: (signal: AbortSignal) => Promise<readonly Activity[]>;
  /** A command that changes the cluster at this moment, in words. */
  readonly commandUnderWay: () => string | undefined;
  /** Takes the cluster for its end. False when a command was faster. */
  readonly begin: (end: TurnOff) => boolean;
  /** Where somebody may ask for the end. */
  readonly stopFile?: string;
  readonly failed: (error: unknown) => void;
}

/** `turn-off.json`: what must outlive mantad. Of an earlier life of the cluster it says nothing. */
interface Kept extends Partial<IdleMemory> {
  readonly life: Instant;
  readonly keepUntil?: Instant;
}

const pace = 1_000;
const longestPace = 10_000;
const lookWithin = 20_000;
const writeEvery = 60_000;

/** Looks whether the cluster is to end by itself, says so before, and when it has come to that. */
export class TurnOffKeeper {
  /** The cluster is to end now. */
  readonly due: Promise<TurnOff>;
  readonly #edges: TurnOffEdges;
  readonly #steady: Clock;
  readonly #found: (turnOff: TurnOff) => void;
  #life: Instant;
  #until: Instant | undefined;
  #keepUntil: Instant | undefined;
  #memory: IdleMemory | undefined;
  #written = Number.NEGATIVE_INFINITY;
  #busyWith: readonly Activity[] = [];
  #warnedFor: Instant | undefined;
  #ending: TurnOff | undefined;

  constructor(edges: TurnOffEdges) {
    this.#edges = edges;
    this.#steady = steadyClock(edges.clock);
    const { promise, resolve } = Promise.withResolvers<TurnOff>();
    this.due = promise;
    this.#found = resolve;
    this.#life = this.#readRecord();
    const kept = readKept(edges.folder);
    if (kept?.life !== this.#life) return;
    if (isInstant(kept.keepUntil)) this.#keepUntil = kept.keepUntil;
    if (kept.lookedAt !== undefined)
      this.#memory = { lookedAt: kept.lookedAt, ...(kept.idleSince !== undefined && { idleSince: kept.idleSince }) };
  }

  /** The cluster's record was written again. */
  reload(): void {
    const until = this.#until;
    const life = this.#readRecord();
    // Who says when it ends takes back what was said before.
    if (life !== this.#life || this.#until !== until) this.#keepUntil = undefined;
    this.#life = life;
    this.#write();
  }

  /** Nothing but a command of a user ends the cluster before. By a length it lives longer than it would; by a time, until then. */
  extend(request: { readonly by: Duration } | { readonly until: Instant }): TurnOffAnswer | undefined {
    const now = this.#edges.clock.now();
    const asked =
      'by' in request ? extendedBy(this.#terms(), this.#facts().livesSince, request.by, now) : request.until;
    if (!isInstant(asked)) throw headErrors.NoExtension({});
    const until = new Date(asked).toISOString();
    if (asked <= now) throw headErrors.NoExtension({ until });
    this.#keepUntil = Math.round(asked);
    this.#write();
    this.#edges.events.emit(headEvents.extended, { until });
    return this.answer();
  }

  /** Undefined for a cluster that never ends by itself. */
  answer(): TurnOffAnswer | undefined {
    const terms = this.#terms();
    const { idleShutdown, maxLifetime, until } = terms;
    const now = this.#edges.clock.now();
    const facts = this.#facts();
    const end = this.#ending ?? turnOffOf(terms, facts, now);
    if (end === undefined && idleShutdown === undefined && maxLifetime === undefined && until === undefined)
      return undefined;
    const busyWith = activityWords(this.#busyWith);
    return {
      ...terms,
      ...(facts.idleSince !== undefined && { idleSince: Math.round(facts.idleSince) }),
      ...(busyWith !== '' && { busyWith }),
      ...(end && { at: Math.round(end.at), because: end.because.kind }),
      soon: end !== undefined && now >= warnsFrom(end),
      text: this.#ending
        ? `is shutting down: ${reasonWords(this.#ending.because)}`
        : turnOffText(terms, end, busyWith, now),
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#edges.clock.sleep(pace, signal).catch(() => {});
      if (signal.aborted) return;
      try {
        const end = await this.#look(signal);
        if (end === undefined || !this.#edges.begin(end)) continue;
        this.#ending = end;
        return this.#found(end);
      } catch (error) {
        if (!signal.aborted) this.#edges.failed(error);
      }
    }
  }

  async #look(signal: AbortSignal): Promise<TurnOff | undefined> {
    const asked = stopRequest(this.#edges.stopFile);
    const terms = this.#terms();
    if (terms.idleShutdown !== undefined && !asked) {
      const every = Math.min(longestPace, Math.max(pace, terms.idleShutdown / 10));
      if (this.#steady.now() - (this.#memory?.lookedAt ?? Number.NEGATIVE_INFINITY) >= every - pace / 2)
        await this.#lookAtWork(terms.idleShutdown, signal);
    }
    const end = this.#plan(asked);
    this.#warn(end);
    if (end === undefined || !this.#isDue(end) || this.#edges.commandUnderWay() !== undefined) return undefined;
    if (end.because.kind !== 'idle') return end;
    // Once more: something may have begun since the last look.
    await this.#lookAtWork(terms.idleShutdown ?? 0, signal);
    const again = this.#plan(asked);
    return again && this.#isDue(again) ? again : undefined;
  }

  #plan(asked: TurnOffFacts['asked']): TurnOff | undefined {
    return turnOffOf(this.#terms(), { ...this.#facts(), ...(asked && { asked }) }, this.#edges.clock.now());
  }

  #isDue = ({ at }: TurnOff): boolean => at <= this.#edges.clock.now();

  async #lookAtWork(soon: Duration, signal: AbortSignal): Promise<void> {
    this.#busyWith = await this.#activities(soon, AbortSignal.any([signal, AbortSignal.timeout(lookWithin)]));
    signal.throwIfAborted();
    const before = this.#memory;
    const now = this.#steady.now();
    this.#memory = afterLook(before, this.#busyWith.length > 0, now);
    if (before?.idleSince !== this.#memory.idleSince || now - this.#written > writeEvery) this.#write();
  }

  async #activities(soon: Duration, signal: AbortSignal): Promise<readonly Activity[]> {
    const command = this.#edges.commandUnderWay();
    if (command !== undefined) return [{ kind: 'command', what: command, count: 1 }];
    const jobs = jobActivity(this.#edges.jobs(), soon, this.#edges.clock.now());
    if (jobs.length > 0) return jobs;
    try {
      const others = await this.#edges.activity(signal);
      // That took its time, in which a job may have come.
      return [...jobActivity(this.#edges.jobs(), soon, this.#edges.clock.now()), ...others];
    } catch (error) {
      return [{ kind: 'unknown', what: `check that failed (${(error as Error).message})`, count: 1 }];
    }
  }

  #warn(end: TurnOff | undefined): void {
    if (end === undefined || this.#edges.clock.now() < warnsFrom(end) || end.because.kind === 'asked') return;
    // A plan that moves by less than its notice is the same one, looked at again.
    if (
      this.#warnedFor !== undefined &&
      Math.abs(end.at - this.#warnedFor) < Math.max(pace * 5, end.at - warnsFrom(end))
    )
      return;
    this.#warnedFor = end.at;
    this.#edges.events.emit(headEvents.turnOffSoon, {
      at: end.at,
      left: durationWords(end.at - this.#edges.clock.now()),
      why: reasonWords(end.because),
    });
  }

  #terms(): TurnOffTerms {
    return {
      ...turnOffTerms(this.#edges.spec().provider.manta),
      ...(this.#until !== undefined && { until: this.#until }),
      ...(this.#keepUntil !== undefined && { keepUntil: this.#keepUntil }),
    };
  }

  /** Ages are measured by a clock that nobody sets, and told by the one that people read. */
  #facts(): TurnOffFacts {
    const shift = this.#edges.clock.now() - this.#steady.now();
    const idleSince = this.#memory?.idleSince;
    return { livesSince: this.#life + shift, ...(idleSince !== undefined && { idleSince: idleSince + shift }) };
  }

  #readRecord(): Instant {
    const record = readCluster(this.#edges.folder);
    this.#until = record?.until;
    return record?.createdAt ?? this.#edges.clock.now();
  }

  #write(): void {
    this.#written = this.#steady.now();
    const kept: Kept = {
      life: this.#life,
      ...this.#memory,
      ...(this.#keepUntil !== undefined && { keepUntil: this.#keepUntil }),
    };
    writeJson(this.#edges.folder.files.turnOff, kept);
  }
}

const isInstant = (value: number | undefined): value is Instant =>
  typeof value === 'number' && value >= 0 && value <= latestInstant;

function readKept(folder: StateFolder): Kept | undefined {
  try {
    return readJson<Kept>(folder.files.turnOff);
  } catch {
    return undefined;
  }
}

/** `exec --stop` in a tmux: its command has ended, and the cluster is to end after it. */
function stopRequest(file: string | undefined): TurnOffFacts['asked'] {
  if (file === undefined) return undefined;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  const { session, exitCode } = (safeJson(text) ?? {}) as { session?: unknown; exitCode?: unknown };
  return {
    by:
      typeof session === 'string'
        ? `session ${session} (--stop), which ended with exit code ${Number(exitCode)}`
        : '--stop',
  };
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
