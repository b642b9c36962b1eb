import type { EventSink } from '../../../base/events.ts';
import { endLog, logExtent, openLogWriter, setupLogOf } from '../../../base/files/log-segments.ts';
import type { Clock, Duration } from '../../../base/time/clock.ts';
import { failureText } from '../../../core/jobs/messages.ts';
import type { NamedSlice } from '../../../core/placement/slices.ts';
import type { AttemptReport, Driver } from '../../runner.ts';
import { rayEvents } from '../events.ts';
import type { Bookings } from '../gcs/bookings.ts';
import { type AttemptRecord, type AttemptRecords, isOf } from './attempt-record.ts';
import type { RayHttp } from './http.ts';
import { type EndEdges, settleEnd } from './job-end.ts';
import { isTerminal, type JobInfo } from './job-info.ts';
import { type KillEdges, killJob } from './kill-job.ts';
import { LogPull } from './log-pull.ts';
import { archivesOf } from './packages.ts';
import type { RayJobBody } from './submission.ts';

export interface RayAttemptEdges
  extends Pick<EndEdges, 'fateOf' | 'isLeaving'>,
    Pick<KillEdges, 'infos' | 'killSupervisor'> {
  readonly clock: Clock;
  /** It is never set, forwards or backwards. */
  readonly steadyClock: Clock;
  readonly events: EventSink;
  readonly http: RayHttp;
  readonly bookings: Bookings;
  readonly records: AttemptRecords;
  /** The slice of these that is not whole any more, where one is. `leaving`: hosts that drain count as gone. */
  readonly brokenSlice: (slices: readonly NamedSlice[], leaving: boolean) => string | undefined;
  readonly onRunning: (id: string, node: string) => void;
  /** The program of a job that joined the cluster, if one did. */
  readonly driverOf: (submission: string, signal: AbortSignal) => Promise<Driver | undefined>;
  /** Hears of every change. */
  readonly tell: (report: AttemptReport) => void;
  /** How long to wait before output is asked for again where none came. */
  readonly quietPause: () => Duration;
  /** Aborted when nothing is followed any more. */
  readonly closing: AbortSignal;
}

type EndOfAttempt = Pick<AttemptReport, 'cause' | 'exitCode' | 'message'>;

const driverWithin = 3_000;
/** A program sees that a host is gone before the state tells it, by as much as this. */
const sliceVerdictWithin = 5_000;

/** One attempt that is handed to Ray: what is known of it, on disk and in memory, and how it comes to its end. */
export class RayAttempt {
  readonly #edges: RayAttemptEdges;
  #record: AttemptRecord;
  #report: AttemptReport;
  #pull: LogPull | undefined;
  /** Set from the moment Ray says that it is over until its output is here. */
  #ending: Promise<void> | undefined;
  /** Of the clock that nobody sets, as all instants here. */
  #runningSince: number | undefined;
  #handedAt: number;
  /** When a stop that was asked for turns into a kill. */
  #graceEnd: number | undefined;
  #isKilling = false;
  /** The slice without which it cannot go on. */
  #lostSlice: string | undefined;
  /** What went wrong with it last: said once. */
  #trouble: string | undefined;

  /** `handedAt` is 0 for one that was handed over by a former mantad. */
  constructor(record: AttemptRecord, handedAt: number, edges: RayAttemptEdges) {
    this.#edges = edges;
    this.#record = record;
    this.#report = record.end ?? waitingReport(record);
    this.#handedAt = handedAt;
  }

  get record(): AttemptRecord {
    return this.#record;
  }

  get isOver(): boolean {
    return this.#record.end !== undefined;
  }

  /** Settles when its end is known, or could not be learnt; undefined where nothing says that it is over. */
  get ending(): Promise<void> | undefined {
    return this.#ending;
  }

  /** It waits, and was handed over so recently that it may start at any moment. */
  startsSoon(within: Duration): boolean {
    return this.#report.state === 'waiting' && this.#edges.steadyClock.now() - this.#handedAt < within;
  }

  async closePull(): Promise<void> {
    await this.#pull?.close();
  }

  /** Lasts before Ray hears of it: a try whose answer is lost is known again by its words. */
  noteTry({ entrypoint, runtime_env: environment }: RayJobBody): void {
    const { sent, entrypoint: last, earlierEntrypoints = [] } = this.#record;
    if (sent && entrypoint === last) return;
    const changed = sent ? { earlierEntrypoints: [...earlierEntrypoints, last] } : {};
    const archives = archivesOf(environment);
    this.#save({ sent: true, entrypoint, ...(archives.length > 0 && { archives }), ...changed }, true);
  }

  /** Ray has not taken it: no job stands under its name. */
  noteRefusal(): void {
    this.#save({ sent: false });
  }

  noteAccepted(): void {
    this.#handedAt = this.#edges.steadyClock.now();
    this.#save({ accepted: true });
    this.#tell();
  }

  /** Its name at Ray is another's: nothing of it is kept when the next one is chosen. */
  rename(nextName: () => string): void {
    this.#edges.records.remove(this.#record);
    this.#record = { ...this.#record, submission: nextName(), sent: false, earlierEntrypoints: [] };
    this.#report = waitingReport(this.#record);
  }

  /** A full disk is not a reason to let it run. */
  noteStop(): void {
    if (this.#record.stopAsked) return;
    try {
      this.#save({ stopAsked: true });
    } catch (error) {
      this.#record = { ...this.#record, stopAsked: true };
      this.troubleWith(`record the stop of '${this.#record.id}'`, error);
    }
  }

  /** Ends it by force when that much time has passed; an earlier order counts more. */
  killAfter(left: Duration): void {
    const at = this.#edges.steadyClock.now() + left;
    this.#graceEnd = Math.min(this.#graceEnd ?? Number.POSITIVE_INFINITY, at);
    if (this.#isKilling) return;
    this.#isKilling = true;
    void this.#kill().finally(() => {
      this.#isKilling = false;
    });
  }

  /** Takes in what Ray says of its job. */
  learn(info: JobInfo): void {
    if (this.#ending) return;
    if (!this.#record.accepted) this.#save({ accepted: true });
    const agent = info.driver_agent_http_address;
    if (agent && !this.#pull) this.#begin(info, agent);
    if (isTerminal(info)) void this.#endBy(this.#finish(info));
  }

  /** Whether the job that Ray has under its name is this attempt. */
  isOf(info: JobInfo): boolean {
    return isOf(this.#record, info);
  }

  /** A job across slices has nothing to run on once one of them is not whole: it is ended at Ray, and counts as preempted. */
  lookAtSlices(): void {
    const { slices } = this.#record;
    if (slices === undefined || this.#record.stopAsked || this.#lostSlice !== undefined) return;
    this.#lostSlice = this.#edges.brokenSlice(slices, false);
    if (this.#lostSlice !== undefined) this.killAfter(0);
  }

  /** Ray does not have it any more. */
  lose(message: string): void {
    void this.#endBy(this.end({ cause: 'node-lost', message }));
  }

  /** It ends without Ray; resolves when that is written down. */
  async endAsStopped(): Promise<void> {
    const end = this.end({ cause: 'stopped', message: 'stopped' });
    void this.#endBy(end);
    await end;
  }

  async end(given: EndOfAttempt, info?: JobInfo): Promise<void> {
    const { clock, bookings } = this.#edges;
    const end = await this.#endOnSlices(given);
    const record = this.#record;
    if (this.#pull && !this.#pull.over) await this.#abandon(this.#pull, 'Ray did not report how it ended');
    // As on any engine: what a setup said is the output of an attempt that got no further.
    if (end.cause === 'setup-failed')
      for (const folder of [setupLogOf(record.log), record.log])
        this.#note(folder, `${failureText({ cause: end.cause, message: end.message })}\n`);
    const { size } = await endLog(record.log);
    const startedAt = record.startedAt;
    const endedAt = Math.max(startedAt ?? 0, info?.end_time ?? clock.now());
    const report: AttemptReport = {
      ...this.#report,
      ...end,
      state: 'ended',
      ...(startedAt === undefined ? {} : { startedAt }),
      endedAt,
      logSize: size,
    };
    this.#save({ end: report });
    bookings.drop(record.id);
    this.#report = report;
    this.#tell();
  }

  /** Whatever its own exit code says of it: what fails when a slice goes was preempted. */
  async #endOnSlices(end: EndOfAttempt): Promise<EndOfAttempt> {
    const { slices } = this.#record;
    if (slices === undefined || end.cause === 'succeeded' || this.#record.stopAsked) return end;
    const { steadyClock, brokenSlice, closing } = this.#edges;
    const until = steadyClock.now() + sliceVerdictWithin;
    let lost = this.#lostSlice;
    while (lost === undefined && !closing.aborted) {
      lost = brokenSlice(slices, true);
      if (lost !== undefined || steadyClock.now() >= until) break;
      await steadyClock.sleep(250, closing).catch(() => {});
    }
    return lost === undefined ? end : { cause: 'preempted', message: `the slice ${lost} lost a host` };
  }

  /** The current report, with the size of the output. */
  async sizedReport(): Promise<AttemptReport> {
    if (this.#report.state === 'ended') return this.#report;
    const size = this.#pull?.size ?? (await logExtent(this.#record.log)).size;
    return { ...this.#report, logSize: size, ...this.#ran };
  }

  troubleWith(work: string, error: unknown): void {
    const detail = (error as Error).message;
    const trouble = `${work}: ${detail}`;
    if (this.#edges.closing.aborted || trouble === this.#trouble) return;
    this.#trouble = trouble;
    this.#edges.events.emit(rayEvents.trouble, { work, detail });
  }

  async #kill(): Promise<void> {
    const { infos, killSupervisor, steadyClock, closing } = this.#edges;
    const { id, submission } = this.#record;
    const edges: KillEdges = {
      clock: steadyClock,
      infos,
      killSupervisor,
      graceLeft: () => (this.#graceEnd ?? 0) - steadyClock.now(),
      isOver: () => this.isOver || this.#ending !== undefined,
      giveUp: () => this.#endBy(this.end({ cause: 'stopped', message: 'stopped' })),
      trouble: (error) => this.troubleWith(`end '${id}'`, error),
    };
    await killJob(submission, edges, closing);
  }

  /** An end that fails, such as for a full disk, is learnt again at the next look. */
  #endBy(ending: Promise<void>): Promise<void> {
    this.#ending = ending.catch((error: unknown) => {
      this.#ending = undefined;
      this.troubleWith(`learn the end of '${this.#record.id}'`, error);
    });
    return this.#ending;
  }

  #begin(info: JobInfo, agent: string): void {
    const { http, clock, steadyClock, quietPause, onRunning } = this.#edges;
    const first = this.#record.startedAt === undefined;
    if (first) this.#save({ startedAt: this.#startOf(info) });
    const { id, submission, log, entrypoint, startedAt = 0 } = this.#record;
    this.#pull = new LogPull({ submission, entrypoint, agent, log }, { http, clock, quietPause });
    const node = info.driver_node_id ?? '';
    onRunning(id, node);
    if (first) this.#runningSince = steadyClock.now();
    this.#report = { ...this.#report, state: 'running', node, startedAt };
    if (!isTerminal(info)) this.#tell();
  }

  /** Seen at once it is now; seen late, by a head that was away, the submission is all that is known. */
  #startOf(info: JobInfo): number {
    const now = this.#edges.clock.now();
    const submitted = info.start_time ?? now;
    const seen = this.#handedAt === 0 ? submitted : now;
    return isTerminal(info) ? Math.min(seen, info.end_time ?? seen) : seen;
  }

  async #finish(info: JobInfo): Promise<void> {
    const job = { info, stopped: this.#record.stopAsked === true, pull: this.#pull };
    const abandon = (pull: LogPull, reason: string): Promise<void> => this.#abandon(pull, reason);
    const [end, driver] = await Promise.all([
      settleEnd(job, { ...this.#edges, abandon }, this.#edges.closing),
      info.driver_node_id ? this.#driver() : undefined,
    ]);
    if (driver) this.#report = { ...this.#report, driver };
    await this.end(end, info);
  }

  /** A dashboard that does not answer keeps no attempt from ending. */
  async #driver(): Promise<Driver | undefined> {
    const { closing, steadyClock, driverOf } = this.#edges;
    const over = new AbortController();
    const until = AbortSignal.any([closing, over.signal]);
    const late = steadyClock.sleep(driverWithin, until).catch(() => {});
    const found = driverOf(this.#record.submission, until).catch(() => undefined);
    return await Promise.race([found, late.then(() => undefined)]).finally(() => over.abort());
  }

  async #abandon(pull: LogPull, reason: string): Promise<void> {
    await pull.abandon(reason);
    this.#edges.events.emit(rayEvents.outputLost, { attempt: this.#record.id, reason });
  }

  #note(folder: string, text: string): void {
    const writer = openLogWriter(folder, { now: () => this.#edges.clock.now() });
    writer.write(Buffer.from(text));
    writer.end();
  }

  get #ran(): Pick<AttemptReport, 'ranFor'> {
    return this.#runningSince === undefined ? {} : { ranFor: this.#edges.steadyClock.now() - this.#runningSince };
  }

  #save(more: Partial<AttemptRecord>, lasting = false): void {
    const record = { ...this.#record, ...more };
    this.#edges.records.write(record, lasting);
    this.#record = record;
  }

  #tell(): void {
    if (this.#edges.closing.aborted) return;
    this.#edges.tell({ ...this.#report, ...(this.isOver ? {} : this.#ran) });
  }
}

const waitingReport = ({ id, submission }: AttemptRecord): AttemptReport => ({
  id,
  state: 'waiting',
  ...(submission === id ? {} : { submission }),
  logSize: 0,
});
