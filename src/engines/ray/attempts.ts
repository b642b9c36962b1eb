import type { Clock, Duration } from '../../base/clock.ts';
import { MantaError } from '../../base/errors.ts';
import type { EventSink } from '../../base/events.ts';
import { endLog, logExtent, openLogWriter, setupLogOf } from '../../base/log-segments.ts';
import { steadyClock } from '../../base/steady-clock.ts';
import { failureText } from '../../core/jobs/messages.ts';
import type { AttemptOrder, AttemptReport, Driver } from '../runner.ts';
import { type AttemptRecord, AttemptRecords, isOf } from './attempt-record.ts';
import type { Bookings } from './bookings.ts';
import { rayErrors } from './errors.ts';
import { rayEvents } from './events.ts';
import type { RayHttp } from './http.ts';
import { type EndEdges, settleEnd } from './job-end.ts';
import { isTerminal, type JobInfo } from './job-info.ts';
import type { RayJobsApi, SubmitAnswer } from './jobs-api.ts';
import { type KillEdges, killJob } from './kill-job.ts';
import { LeavingJobs } from './leaving-jobs.ts';
import { LogPull, type PullEdges } from './log-pull.ts';
import { entrypointOf, type Submission, wantedName } from './submission.ts';

export interface AttemptEdges
  extends Pick<EndEdges, 'fateOf' | 'isLeaving'>,
    Pick<KillEdges, 'infos' | 'killSupervisor'> {
  readonly folder: string;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly http: RayHttp;
  readonly jobs: RayJobsApi;
  readonly bookings: Bookings;
  readonly submissionOf: (name: string, order: AttemptOrder, signal: AbortSignal) => Promise<Submission>;
  /** It is going to be handed over, once what it needs is where Ray finds it. */
  readonly onTaken: (order: AttemptOrder) => void;
  readonly onBooked: (order: AttemptOrder) => void;
  readonly onRunning: (id: string, node: string) => void;
  /** The program of a job that joined the cluster, if one did. */
  readonly driverOf: (submission: string, signal: AbortSignal) => Promise<Driver | undefined>;
}

interface Attempt {
  record: AttemptRecord;
  report: AttemptReport;
  info?: JobInfo;
  pull?: LogPull;
  /** Set from the moment Ray says that it is over until its output is here. */
  ending?: Promise<void>;
  /** Of the clock that nobody sets, as all instants here. */
  runningSince?: number;
  handedAt: number;
  /** When a stop that was asked for turns into a kill. */
  graceEnd?: number;
  killing?: Promise<void>;
  /** What went wrong with it last: said once. */
  trouble?: string;
}

/** While something is about to start, its change is seen this soon; a poll is one small question to the GCS. */
const startingPeriod = 50;
const runningPeriod = 250;
const startingFor = 20_000;
/** For a job that could not be told to end, because Ray's dashboard does not answer. */
const unheardGrace = 30_000;
const driverWithin = 3_000;
/** Questions a second to the agents of the nodes about output, while nothing comes. */
const questionsPerSecond = 50;

/** Attempts that were handed to Ray: followed to their ends, their output fetched, kept until they are forgotten. */
export class RayAttempts {
  readonly #edges: AttemptEdges;
  /** It is never set, forwards or backwards. */
  readonly #clock: Clock;
  readonly #records: AttemptRecords;
  readonly #attempts = new Map<string, Attempt>();
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
    const { infos, killSupervisor } = edges;
    const remove = (name: string, signal: AbortSignal) => edges.jobs.delete(name, signal);
    const leaving = { clock: edges.clock, records: this.#records, infos, killSupervisor, delete: remove };
    this.#leaving = new LeavingJobs(leaving, this.#closing.signal);
    for (const record of this.#records.all())
      if (record.forgotten) this.#letGo(record);
      else
        this.#attempts.set(record.id, {
          record,
          report: record.end ?? waitingReport(record),
          handedAt: 0,
        });
    void this.#follow();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake.abort();
    await Promise.allSettled([...this.#starting.values(), this.#looking]);
    const pulls = [...this.#attempts.values()].flatMap(({ pull }) => pull ?? []);
    await Promise.allSettled(pulls.map((pull) => pull.close()));
  }

  watch(listener: (report: AttemptReport) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Names at Ray of what was handed over here. */
  submissions(): ReadonlySet<string> {
    return new Set([...[...this.#attempts.values()].map(({ record }) => record.submission), ...this.#leaving.names]);
  }

  /** Some attempt is not over yet. */
  get busy(): boolean {
    return this.#open().length > 0;
  }

  async start(order: AttemptOrder, signal: AbortSignal): Promise<void> {
    const known = this.#attempts.get(order.id);
    if (known?.record.accepted || known?.record.end) return;
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
    if (attempt && !attempt.record.accepted && !attempt.record.end) await this.#giveUp(attempt, signal);
    if (!attempt?.record.accepted || attempt.record.end) return;
    if (!attempt.record.stopAsked) this.#noteStop(attempt);
    let left = grace;
    try {
      await this.#edges.jobs.stop(attempt.record.submission, signal);
    } catch (error) {
      // The job has heard nothing yet: that is asked for again, and the kill, which goes another way, can wait for it.
      if (grace > 0) left = Math.max(grace, unheardGrace);
      throw error;
    } finally {
      attempt.graceEnd = Math.min(attempt.graceEnd ?? Number.POSITIVE_INFINITY, this.#clock.now() + left);
      attempt.killing ??= this.#kill(attempt).finally(() => delete attempt.killing);
      this.#look();
    }
  }

  /** Complete, and as of now. */
  async reports(signal: AbortSignal): Promise<AttemptReport[]> {
    // What was read before this was asked may be old.
    await this.#looking?.catch(() => {});
    signal.throwIfAborted();
    await this.#readAll();
    const known = [...this.#attempts.values()].filter(({ record }) => record.accepted || record.end);
    return Promise.all(known.map((attempt) => this.#sized(attempt)));
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
    this.#leaving.letGo(record).catch((error: unknown) => this.#trouble(`let go of the attempt '${record.id}'`, error));
  }

  async #handOver(order: AttemptOrder, signal: AbortSignal): Promise<void> {
    const { id } = order;
    const attempt = this.#attempts.get(id) ?? this.#newAttempt(order);
    this.#attempts.set(id, attempt);
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
        this.#save(attempt, { sent: false });
        return await this.#end(attempt, { cause: 'start-failed', message: refused });
      }
    } catch (error) {
      this.#edges.bookings.drop(id);
      if (shipping.signal.aborted) return await this.#giveUp(attempt, signal);
      if (!(error instanceof MantaError && rayErrors.PackageTooLarge.is(error))) throw error;
      return await this.#end(attempt, { cause: 'setup-failed', message: error.message });
    }
    attempt.handedAt = this.#clock.now();
    this.#save(attempt, { accepted: true });
    this.#tell(attempt);
    this.#look();
  }

  #newAttempt(order: AttemptOrder): Attempt {
    const { id, log } = order;
    const record = { format: 1, id, submission: this.#nameFor(order), log, entrypoint: entrypointOf(order) } as const;
    return { record, report: waitingReport(record), handedAt: this.#clock.now() };
  }

  #nameFor(order: AttemptOrder): string {
    const taken = this.submissions();
    return this.#records.freeName(wantedName(order), (name) => taken.has(name));
  }

  /** A name that somebody else's job has at Ray is left to it. */
  async #submit(
    attempt: Attempt,
    submission: Submission,
    order: AttemptOrder,
    signal: AbortSignal,
  ): Promise<SubmitAnswer> {
    for (;;) {
      const name = attempt.record.submission;
      this.#noteTry(attempt, submission);
      const answer = await this.#edges.jobs.submit({ ...submission, submission_id: name }, signal);
      const info = answer.exists ? (await this.#edges.infos([name], signal)).get(name) : undefined;
      if (!info || isOf(attempt.record, info)) return answer;
      this.#records.use(name);
      this.#records.remove(attempt.record);
      attempt.record = { ...attempt.record, submission: this.#nameFor(order), sent: false, earlierEntrypoints: [] };
      attempt.report = waitingReport(attempt.record);
    }
  }

  /** Lasts before Ray hears of it: a try whose answer is lost is known again by its words. */
  #noteTry(attempt: Attempt, { entrypoint }: Submission): void {
    const { sent, entrypoint: last, earlierEntrypoints = [] } = attempt.record;
    if (sent && entrypoint === last) return;
    const changed = sent ? { earlierEntrypoints: [...earlierEntrypoints, last] } : {};
    this.#save(attempt, { sent: true, entrypoint, ...changed }, true);
  }

  /** Stopped on its way to Ray. A try whose answer was lost may have come there all the same, or come there later. */
  async #giveUp(attempt: Attempt, signal: AbortSignal): Promise<void> {
    const { submission } = attempt.record;
    const info = (await this.#edges.infos([submission], signal)).get(submission);
    if (info && isOf(attempt.record, info)) return this.#learn(attempt, info);
    if (attempt.ending) return await attempt.ending;
    const end = this.#end(attempt, { cause: 'stopped', message: 'stopped' });
    void this.#endBy(attempt, end);
    await end;
  }

  async #kill(attempt: Attempt): Promise<void> {
    const { infos, killSupervisor } = this.#edges;
    const { id, submission } = attempt.record;
    const edges: KillEdges = {
      clock: this.#clock,
      infos,
      killSupervisor,
      graceLeft: () => (attempt.graceEnd ?? 0) - this.#clock.now(),
      isOver: () => attempt.record.end !== undefined || attempt.ending !== undefined,
      giveUp: () => this.#endBy(attempt, this.#end(attempt, { cause: 'stopped', message: 'stopped' })),
      trouble: (error) => this.#troubleWith(attempt, `end '${id}'`, error),
    };
    await killJob(submission, edges, this.#closing.signal);
  }

  #open(): Attempt[] {
    return [...this.#attempts.values()].filter(({ record }) => !record.end);
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
    const now = this.#clock.now();
    const soon = open.some(({ handedAt, report }) => report.state === 'waiting' && now - handedAt < startingFor);
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
      const info = found && isOf(attempt.record, found) ? found : undefined;
      try {
        if (info) this.#learn(attempt, info);
      } catch (error) {
        this.#troubleWith(attempt, `follow '${attempt.record.id}'`, error);
      }
      if (!info && accepted.has(attempt) && !attempt.ending) {
        const message = 'Ray does not know the attempt any more: its control store was started anew';
        void this.#endBy(attempt, this.#end(attempt, { cause: 'node-lost', message }));
      }
    }
  }

  /** An end that fails, such as for a full disk, is learnt again at the next look. */
  #endBy(attempt: Attempt, ending: Promise<void>): Promise<void> {
    attempt.ending = ending.catch((error: unknown) => {
      delete attempt.ending;
      this.#troubleWith(attempt, `learn the end of '${attempt.record.id}'`, error);
    });
    return attempt.ending;
  }

  #learn(attempt: Attempt, info: JobInfo): void {
    if (attempt.ending) return;
    attempt.info = info;
    if (!attempt.record.accepted) this.#save(attempt, { accepted: true });
    const agent = info.driver_agent_http_address;
    if (agent && !attempt.pull) this.#begin(attempt, info, agent);
    if (isTerminal(info)) void this.#endBy(attempt, this.#finish(attempt, info));
  }

  #begin(attempt: Attempt, info: JobInfo, agent: string): void {
    const first = attempt.record.startedAt === undefined;
    if (first) this.#save(attempt, { startedAt: this.#startOf(attempt, info) });
    const { id, submission, log, entrypoint, startedAt = 0 } = attempt.record;
    attempt.pull = new LogPull({ submission, entrypoint, agent, log }, this.#pullEdges);
    const node = info.driver_node_id ?? '';
    this.#edges.onRunning(id, node);
    if (first) attempt.runningSince = this.#clock.now();
    attempt.report = { ...attempt.report, state: 'running', node, startedAt };
    if (!isTerminal(info)) this.#tell(attempt);
  }

  get #pullEdges(): PullEdges {
    const { http, clock } = this.#edges;
    return { http, clock, quietPause: () => (this.#open().length * 1_000) / questionsPerSecond };
  }

  /** Seen at once it is now; seen late, by a head that was away, the submission is all that is known. */
  #startOf(attempt: Attempt, info: JobInfo): number {
    const submitted = info.start_time ?? this.#edges.clock.now();
    const late = attempt.handedAt === 0;
    const seen = late ? submitted : this.#edges.clock.now();
    return isTerminal(info) ? Math.min(seen, info.end_time ?? seen) : seen;
  }

  async #finish(attempt: Attempt, info: JobInfo): Promise<void> {
    const job = { info, stopped: attempt.record.stopAsked === true, pull: attempt.pull };
    const abandon = (pull: LogPull, reason: string): Promise<void> => this.#abandon(pull, attempt, reason);
    const [end, driver] = await Promise.all([
      settleEnd(job, { ...this.#edges, abandon }, this.#closing.signal),
      info.driver_node_id ? this.#driverOf(attempt) : undefined,
    ]);
    if (driver) attempt.report = { ...attempt.report, driver };
    await this.#end(attempt, end, info);
  }

  /** A dashboard that does not answer keeps no attempt from ending. */
  async #driverOf({ record }: Attempt): Promise<Driver | undefined> {
    const over = new AbortController();
    const until = AbortSignal.any([this.#closing.signal, over.signal]);
    const late = this.#clock.sleep(driverWithin, until).catch(() => {});
    const found = this.#edges.driverOf(record.submission, until).catch(() => undefined);
    return await Promise.race([found, late.then(() => undefined)]).finally(() => over.abort());
  }

  async #abandon(pull: LogPull, { record }: Attempt, reason: string): Promise<void> {
    await pull.abandon(reason);
    this.#edges.events.emit(rayEvents.outputLost, { attempt: record.id, reason });
  }

  async #end(
    attempt: Attempt,
    end: Pick<AttemptReport, 'cause' | 'exitCode' | 'message'>,
    info?: JobInfo,
  ): Promise<void> {
    const { record, pull } = attempt;
    if (pull && !pull.over) await this.#abandon(pull, attempt, 'Ray did not tell its end');
    // As on any engine: what a set-up said is the output of an attempt that got no further.
    if (end.cause === 'setup-failed')
      for (const folder of [setupLogOf(record.log), record.log])
        this.#note(folder, `${failureText({ cause: end.cause, message: end.message })}\n`);
    const { size } = await endLog(record.log);
    const startedAt = record.startedAt;
    const endedAt = Math.max(startedAt ?? 0, info?.end_time ?? this.#edges.clock.now());
    const report: AttemptReport = {
      ...attempt.report,
      ...end,
      state: 'ended',
      ...(startedAt === undefined ? {} : { startedAt }),
      endedAt,
      logSize: size,
    };
    this.#save(attempt, { end: report });
    this.#edges.bookings.drop(record.id);
    attempt.report = report;
    this.#tell(attempt);
  }

  #note(folder: string, text: string): void {
    const writer = openLogWriter(folder, { now: () => this.#edges.clock.now() });
    writer.write(Buffer.from(text));
    writer.end();
  }

  async #sized(attempt: Attempt): Promise<AttemptReport> {
    const { report, record } = attempt;
    if (report.state === 'ended') return report;
    const size = attempt.pull?.size ?? (await logExtent(record.log)).size;
    return { ...report, logSize: size, ...this.#ran(attempt) };
  }

  #ran({ runningSince }: Attempt): Pick<AttemptReport, 'ranFor'> {
    return runningSince === undefined ? {} : { ranFor: this.#clock.now() - runningSince };
  }

  #save(attempt: Attempt, more: Partial<AttemptRecord>, lasting = false): void {
    const record = { ...attempt.record, ...more };
    this.#records.write(record, lasting);
    attempt.record = record;
  }

  /** A full disk is no reason to let it run. */
  #noteStop(attempt: Attempt): void {
    try {
      this.#save(attempt, { stopAsked: true });
    } catch (error) {
      attempt.record = { ...attempt.record, stopAsked: true };
      this.#troubleWith(attempt, `note the stop of '${attempt.record.id}'`, error);
    }
  }

  #tell(attempt: Attempt): void {
    if (this.#closing.signal.aborted) return;
    const report = { ...attempt.report, ...(attempt.record.end ? {} : this.#ran(attempt)) };
    for (const listener of this.#listeners) listener(report);
  }

  #troubleWith(attempt: Attempt, work: string, error: unknown): void {
    const trouble = `${work}: ${(error as Error).message}`;
    if (this.#closing.signal.aborted || trouble === attempt.trouble) return;
    attempt.trouble = trouble;
    this.#trouble(work, error);
  }

  #trouble(work: string, error: unknown): void {
    this.#edges.events.emit(rayEvents.trouble, { work, detail: (error as Error).message });
  }
}

const waitingReport = ({ id, submission }: AttemptRecord): AttemptReport => ({
  id,
  state: 'waiting',
  ...(submission === id ? {} : { submission }),
  logSize: 0,
});
