import { MantaError } from '../../../base/errors.ts';
import type { Clock, Duration } from '../../../base/time/clock.ts';
import { steadyClock } from '../../../base/time/steady-clock.ts';
import type { NamedSlice } from '../../../core/placement/slices.ts';
import type { AttemptOrder, AttemptReport } from '../../runner.ts';
import { rayErrors } from '../errors.ts';
import { rayEvents } from '../events.ts';
import { RayAttempt, type RayAttemptEdges } from './attempt.ts';
import { type AttemptRecord, AttemptRecords } from './attempt-record.ts';
import { onSlices, wantsSlices } from './gang-slices.ts';
import type { RayJobsApi, SubmitAnswer } from './jobs-api.ts';
import { LeavingJobs } from './leaving-jobs.ts';
import { entrypointOf, type RayJobBody, wantedName } from './submission.ts';

export interface AttemptEdges
  extends Omit<RayAttemptEdges, 'steadyClock' | 'records' | 'tell' | 'quietPause' | 'closing'> {
  readonly folder: string;
  readonly jobs: RayJobsApi;
  readonly submissionOf: (name: string, order: AttemptOrder, signal: AbortSignal) => Promise<RayJobBody>;
  /** It is going to be handed over, once what it needs is where Ray finds it. */
  readonly onTaken: (order: AttemptOrder) => void;
  readonly onBooked: (order: AttemptOrder) => void;
  /** Whole slices that are free now, as many as it asks for; undefined where there are not so many. */
  readonly slicesFor: (order: AttemptOrder) => readonly NamedSlice[] | undefined;
}

/** While something is about to start, its change is seen this soon; a poll is one small question to the GCS. */
const startingPeriod = 50;
const runningPeriod = 250;
const startingFor = 20_000;
/** For a job that could not be told to end, because Ray's dashboard does not answer. */
const unheardGrace = 30_000;
/** Questions a second to the agents of the nodes about output, while nothing comes. */
const questionsPerSecond = 50;

/** Attempts that were handed to Ray: followed to their ends, their output fetched, kept until they are forgotten. */
export class RayAttempts {
  readonly #edges: AttemptEdges;
  readonly #ofEach: RayAttemptEdges;
  /** It is never set, forwards or backwards. */
  readonly #clock: Clock;
  readonly #records: AttemptRecords;
  readonly #attempts = new Map<string, RayAttempt>();
  readonly #starting = new Map<string, Promise<void>>();
  /** Those whose packages are on their way; Ray has not heard of them. */
  readonly #shipping = new Map<string, AbortController>();
  readonly #leaving: LeavingJobs;
  readonly #listeners = new Set<(report: AttemptReport) => void>();
  readonly #closing = new AbortController();
  #wake = new AbortController();
  #looking: Promise<void> | undefined;

  constructor(edges: AttemptEdges) {
    this.#edges = edges;
    this.#clock = steadyClock(edges.clock);
    this.#records = new AttemptRecords(edges.folder, (path, why) =>
      this.#trouble('read the record of an attempt', new Error(`${why.message}; set aside as '${path}'`)),
    );
    this.#ofEach = {
      ...edges,
      steadyClock: this.#clock,
      records: this.#records,
      tell: (report) => {
        for (const listener of this.#listeners) listener(report);
      },
      quietPause: () => (this.#open().length * 1_000) / questionsPerSecond,
      closing: this.#closing.signal,
    };
    const { infos, killSupervisor } = edges;
    const remove = (name: string, signal: AbortSignal) => edges.jobs.delete(name, signal);
    const leaving = { clock: edges.clock, records: this.#records, infos, killSupervisor, delete: remove };
    this.#leaving = new LeavingJobs(leaving, this.#closing.signal);
    for (const record of this.#records.all())
      if (record.forgotten) this.#letGo(record);
      else this.#attempts.set(record.id, new RayAttempt(record, 0, this.#ofEach));
    void this.#follow();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake.abort();
    await Promise.allSettled([...this.#starting.values(), this.#looking]);
    await Promise.allSettled([...this.#attempts.values()].map((attempt) => attempt.closePull()));
  }

  watch(listener: (report: AttemptReport) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Names at Ray of what was handed over here. */
  submissions(): ReadonlySet<string> {
    return new Set([...[...this.#attempts.values()].map(({ record }) => record.submission), ...this.#leaving.names]);
  }

  /** Slices that attempts have which are not over. */
  heldSlices(): ReadonlySet<string> {
    return new Set(this.#open().flatMap(({ record }) => (record.slices ?? []).map(({ name }) => name)));
  }

  /** Names of the archives on disk that attempts need which are not over. */
  archives(): ReadonlySet<string> {
    return new Set(this.#open().flatMap(({ record }) => record.archives ?? []));
  }

  /** Some attempt is not over yet. */
  get busy(): boolean {
    return this.#open().length > 0;
  }

  async start(order: AttemptOrder, signal: AbortSignal): Promise<void> {
    const known = this.#attempts.get(order.id);
    if (known?.record.accepted || known?.isOver) return;
    let starting = this.#starting.get(order.id);
    if (!starting) {
      starting = this.#handOver(order, signal).finally(() => this.#starting.delete(order.id));
      this.#starting.set(order.id, starting);
    }
    return starting;
  }

  async stop(id: string, grace: Duration, signal: AbortSignal): Promise<void> {
    this.#shipping.get(id)?.abort();
    await this.#starting.get(id)?.catch(() => {});
    const attempt = this.#attempts.get(id);
    if (attempt && !attempt.record.accepted && !attempt.isOver) await this.#giveUp(attempt, signal);
    if (!attempt?.record.accepted || attempt.isOver) return;
    attempt.noteStop();
    let left = grace;
    try {
      await this.#edges.jobs.stop(attempt.record.submission, signal);
    } catch (error) {
      // The job has heard nothing yet: that is asked for again, and the kill, which goes another way, can wait for it.
      if (grace > 0) left = Math.max(grace, unheardGrace);
      throw error;
    } finally {
      attempt.killAfter(left);
      this.#look();
    }
  }

  /** Complete and current. */
  async reports(signal: AbortSignal): Promise<AttemptReport[]> {
    // What was read before this was asked may be old.
    await this.#looking?.catch(() => {});
    signal.throwIfAborted();
    await this.#readAll();
    const known = [...this.#attempts.values()].filter(({ record, isOver }) => record.accepted || isOver);
    return Promise.all(known.map((attempt) => attempt.sizedReport()));
  }

  forget(id: string): void {
    const attempt = this.#attempts.get(id);
    const starting = this.#starting.get(id);
    if (attempt && starting) {
      this.#shipping.get(id)?.abort();
      const forget = (): void => this.forget(id);
      return void starting.then(forget, forget).catch((error: unknown) => this.#trouble(`forget '${id}'`, error));
    }
    const { record } = attempt ?? {};
    // One that Ray has, and that is not over, has to be stopped first.
    if (!record || (record.accepted && !record.end)) return;
    if (record.sent || record.accepted) this.#records.forget(record);
    this.#attempts.delete(id);
    this.#edges.bookings.drop(id);
    this.#letGo(record);
  }

  #letGo(record: AttemptRecord): void {
    this.#leaving.letGo(record).catch((error: unknown) => this.#trouble(`release the attempt '${record.id}'`, error));
  }

  async #handOver(given: AttemptOrder, signal: AbortSignal): Promise<void> {
    const { id } = given;
    const known = this.#attempts.get(id);
    const slices = wantsSlices(given) ? (known?.record.slices ?? this.#edges.slicesFor(given)) : undefined;
    const order = slices === undefined ? given : onSlices(given, slices);
    const attempt = known ?? this.#newAttempt(order, slices);
    this.#attempts.set(id, attempt);
    if (wantsSlices(given) && slices === undefined)
      return await attempt.end({ cause: 'preempted', message: 'a slice that it was to run on is gone' });
    this.#edges.onTaken(order);
    const shipping = new AbortController();
    this.#shipping.set(id, shipping);
    try {
      const during = AbortSignal.any([signal, shipping.signal]);
      const submission = await this.#edges
        .submissionOf(attempt.record.submission, order, during)
        .finally(() => this.#shipping.delete(id));
      shipping.signal.throwIfAborted();
      this.#edges.onBooked(order);
      const { refused } = await this.#submit(attempt, submission, order, signal);
      if (refused !== undefined) {
        attempt.noteRefusal();
        return await attempt.end({ cause: 'start-failed', message: refused });
      }
    } catch (error) {
      this.#edges.bookings.drop(id);
      if (shipping.signal.aborted) return await this.#giveUp(attempt, signal);
      if (!(error instanceof MantaError && rayErrors.PackageTooLarge.is(error))) throw error;
      return await attempt.end({ cause: 'setup-failed', message: error.message });
    }
    attempt.noteAccepted();
    this.#look();
  }

  #newAttempt(order: AttemptOrder, slices: readonly NamedSlice[] | undefined): RayAttempt {
    const { id, log } = order;
    const record = { format: 1, id, submission: this.#nameFor(order), log, entrypoint: entrypointOf(order) } as const;
    return new RayAttempt({ ...record, ...(slices && { slices }) }, this.#clock.now(), this.#ofEach);
  }

  #nameFor(order: AttemptOrder): string {
    const taken = this.submissions();
    return this.#records.freeName(wantedName(order), (name) => taken.has(name));
  }

  /** A name that somebody else's job has at Ray is left to it. */
  async #submit(
    attempt: RayAttempt,
    submission: RayJobBody,
    order: AttemptOrder,
    signal: AbortSignal,
  ): Promise<SubmitAnswer> {
    for (;;) {
      const name = attempt.record.submission;
      attempt.noteTry(submission);
      const answer = await this.#edges.jobs.submit({ ...submission, submission_id: name }, signal);
      const info = answer.exists ? (await this.#edges.infos([name], signal)).get(name) : undefined;
      if (!info || attempt.isOf(info)) return answer;
      this.#records.use(name);
      attempt.rename(() => this.#nameFor(order));
    }
  }

  /** Stopped on its way to Ray. A try whose answer was lost may have come there all the same, or come there later. */
  async #giveUp(attempt: RayAttempt, signal: AbortSignal): Promise<void> {
    const { submission } = attempt.record;
    const info = (await this.#edges.infos([submission], signal)).get(submission);
    if (info && attempt.isOf(info)) return attempt.learn(info);
    if (attempt.ending) return await attempt.ending;
    await attempt.endAsStopped();
  }

  #open(): RayAttempt[] {
    return [...this.#attempts.values()].filter(({ isOver }) => !isOver);
  }

  /** Look again now. */
  #look(): void {
    this.#wake.abort();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    for (let failures = 0; !signal.aborted; ) {
      this.#wake = new AbortController();
      const period = this.#period() * 2 ** Math.min(failures, 4);
      await this.#clock.sleep(period, this.#wake.signal).catch(() => {});
      if (signal.aborted) return;
      this.#looking = this.#readAll();
      failures = await this.#looking.then(
        () => 0,
        () => failures + 1,
      );
      this.#looking = undefined;
    }
  }

  #period(): Duration {
    const open = this.#open();
    if (open.length === 0) return 60_000;
    const soon = open.some((attempt) => attempt.startsSoon(startingFor));
    return (soon ? startingPeriod : runningPeriod) + open.length / 2;
  }

  async #readAll(): Promise<void> {
    const open = this.#open().filter(({ ending }) => !ending);
    if (open.length === 0) return;
    const asked = new Map(open.map((attempt) => [attempt.record.submission, attempt]));
    const accepted = new Set(open.filter(({ record }) => record.accepted));
    const infos = await this.#edges.infos([...asked.keys()], this.#closing.signal);
    for (const [name, attempt] of asked) {
      const found = infos.get(name);
      const info = found && attempt.isOf(found) ? found : undefined;
      try {
        if (info) attempt.learn(info);
        if (info && !attempt.ending) attempt.lookAtSlices();
      } catch (error) {
        attempt.troubleWith(`follow '${attempt.record.id}'`, error);
      }
      if (!info && accepted.has(attempt) && !attempt.ending)
        attempt.lose('Ray no longer knows the attempt: its control store was restarted');
    }
  }

  #trouble(work: string, error: unknown): void {
    this.#edges.events.emit(rayEvents.trouble, { work, detail: (error as Error).message });
  }
}
