import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock, Duration } from '../../base/clock.ts';
import { MantaError } from '../../base/errors.ts';
import type { EventSink } from '../../base/events.ts';
import { endLog, logExtent, openLogWriter, setupLogOf } from '../../base/log-segments.ts';
import type { AttemptOrder, AttemptReport } from '../runner.ts';
import { type AttemptRecord, AttemptRecords } from './attempt-record.ts';
import type { Bookings } from './bookings.ts';
import { rayErrors } from './errors.ts';
import { rayEvents } from './events.ts';
import type { RayHttp } from './http.ts';
import { isTerminal, type JobInfo, type NodeFate, readEnd } from './job-info.ts';
import type { RayJobsApi } from './jobs-api.ts';
import { LeavingJobs } from './leaving-jobs.ts';
import { LogPull, type PullEdges } from './log-pull.ts';
import type { Submission } from './submission.ts';

export interface AttemptEdges {
  readonly folder: string;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly http: RayHttp;
  readonly jobs: RayJobsApi;
  readonly bookings: Bookings;
  /** What Ray's store has of these jobs; those it does not know are left out. */
  readonly infos: (ids: readonly string[], signal: AbortSignal) => Promise<ReadonlyMap<string, JobInfo>>;
  /** Ends the actor that runs the entrypoint, also one that has not found room yet. */
  readonly killSupervisor: (id: string, signal: AbortSignal) => Promise<void>;
  readonly fateOf: (node: string, signal: AbortSignal) => Promise<NodeFate>;
  readonly submissionOf: (name: string, order: AttemptOrder, signal: AbortSignal) => Promise<Submission>;
  /** It is going to be handed over, once what it needs is where Ray finds it. */
  readonly onTaken: (order: AttemptOrder) => void;
  readonly onBooked: (order: AttemptOrder) => void;
  readonly onRunning: (id: string, node: string) => void;
}

interface Attempt {
  record: AttemptRecord;
  report: AttemptReport;
  info?: JobInfo;
  pull?: LogPull;
  /** Set from the moment Ray says that it is over until its output is here. */
  ending?: Promise<void>;
  /** Of this process's clock that nobody sets. */
  runningSince?: number;
  handedAt: number;
}

/** While something is about to start, its change is seen this soon; a poll is one small question to the GCS. */
const startingPeriod = 50;
const runningPeriod = 250;
const startingFor = 20_000;
/** How long a node that lives may take to give the last output. */
const lastOutputWithin = 10_000;
const lostWithin = 1_000;
/** Ray's own health checks take half as long to find a node dead. */
const verdictWithin = 30_000;
/** How long Ray may take to settle a job whose supervisor was ended. */
const settledWithin = 30_000;
/** Questions a second to the agents of the nodes about output, while nothing comes. */
const questionsPerSecond = 50;

/** Attempts that were handed to Ray: followed to their ends, their output fetched, kept until they are forgotten. */
export class RayAttempts {
  readonly #edges: AttemptEdges;
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
    this.#records = new AttemptRecords(edges.folder);
    const remove = (name: string, signal: AbortSignal) => edges.jobs.delete(name, signal);
    this.#leaving = new LeavingJobs({ records: this.#records, delete: remove }, this.#closing.signal);
    for (const record of this.#records.all())
      if (record.forgotten) void this.#leaving.letGo(record);
      else
        this.#attempts.set(record.id, {
          record,
          report: record.end ?? { id: record.id, state: 'waiting', logSize: 0 },
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
    this.#save(attempt, { stopAsked: true });
    await this.#edges.jobs.stop(attempt.record.submission, signal);
    void this.#killAfter(attempt, grace);
    this.#look();
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
    if (!attempt?.record.end) return;
    this.#attempts.delete(id);
    this.#records.forget(attempt.record);
    void this.#leaving.letGo(attempt.record);
  }

  async #handOver(order: AttemptOrder, signal: AbortSignal): Promise<void> {
    const { id, log } = order;
    const attempt: Attempt = this.#attempts.get(id) ?? {
      record: { format: 1, id, submission: this.#records.submissionOf(id), log, entrypoint: order.entrypoint },
      report: { id, state: 'waiting', logSize: 0 },
      handedAt: performance.now(),
    };
    this.#records.write(attempt.record);
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
      const { refused } = await this.#edges.jobs.submit(submission, signal);
      if (refused !== undefined) return await this.#end(attempt, { cause: 'start-failed', message: refused });
    } catch (error) {
      this.#edges.bookings.drop(id);
      if (shipping.signal.aborted) return await this.#giveUp(attempt, signal);
      if (!(error instanceof MantaError && rayErrors.PackageTooLarge.is(error))) throw error;
      return await this.#end(attempt, { cause: 'setup-failed', message: error.message });
    }
    attempt.handedAt = performance.now();
    this.#save(attempt, { accepted: true });
    this.#tell(attempt);
    this.#look();
  }

  /** Stopped on its way to Ray; an earlier try whose answer was lost may have come there all the same. */
  async #giveUp(attempt: Attempt, signal: AbortSignal): Promise<void> {
    const { submission } = attempt.record;
    const info = (await this.#edges.infos([submission], signal)).get(submission);
    if (info) this.#learn(attempt, info);
    else await this.#end(attempt, { cause: 'stopped', message: 'stopped' });
  }

  /**
   * Ray kills by itself only after its own, longer wait, and one that has not begun it does not stop at all: its
   * supervisor is taken away. One that Ray cannot settle even then is over by Manta's word.
   */
  async #killAfter(attempt: Attempt, grace: Duration): Promise<void> {
    const { signal } = this.#closing;
    const { submission } = attempt.record;
    const graceEnd = performance.now() + grace;
    let killedAt: number | undefined;
    for (let pause = 50; !signal.aborted && !attempt.record.end && !attempt.ending; ) {
      try {
        const info = (await this.#edges.infos([submission], signal)).get(submission);
        if (info?.status === 'PENDING' || performance.now() >= graceEnd) {
          await this.#edges.killSupervisor(submission, signal);
          killedAt ??= performance.now();
          pause = Math.min(2_000, pause * 2);
        }
      } catch (error) {
        if (!signal.aborted) this.#trouble(`end '${attempt.record.id}'`, error);
        pause = 2_000;
      }
      if (killedAt !== undefined && performance.now() - killedAt > settledWithin && !attempt.ending)
        attempt.ending = this.#end(attempt, { cause: 'stopped', message: 'stopped' });
      const left = graceEnd - performance.now();
      const wait = killedAt === undefined ? Math.min(250, Math.max(1, left)) : pause;
      await sleep(wait, undefined, { signal }).catch(() => {});
    }
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
      await sleep(period, undefined, { signal: this.#wake.signal }).catch(() => {});
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
    const now = performance.now();
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
      const info = infos.get(name);
      if (info) this.#learn(attempt, info);
      else if (accepted.has(attempt) && !attempt.ending) {
        const message = 'Ray does not know the attempt any more: its control store was started anew';
        attempt.ending = this.#end(attempt, { cause: 'node-lost', message });
      }
    }
  }

  #learn(attempt: Attempt, info: JobInfo): void {
    attempt.info = info;
    if (!attempt.record.accepted) this.#save(attempt, { accepted: true });
    const { id, submission, log, entrypoint } = attempt.record;
    const agent = info.driver_agent_http_address;
    if (agent && !attempt.pull) {
      attempt.pull = new LogPull({ submission, entrypoint, agent, log }, this.#pullEdges);
      const node = info.driver_node_id ?? '';
      this.#edges.onRunning(id, node);
      const first = attempt.record.startedAt === undefined;
      if (first) this.#save(attempt, { startedAt: this.#startOf(attempt, info) });
      if (first) attempt.runningSince = performance.now();
      attempt.report = { ...attempt.report, state: 'running', node, startedAt: attempt.record.startedAt ?? 0 };
      if (!isTerminal(info)) this.#tell(attempt);
    }
    if (isTerminal(info) && !attempt.ending)
      attempt.ending = this.#finish(attempt, info).catch((error: unknown) => {
        delete attempt.ending;
        if (!this.#closing.signal.aborted) this.#trouble(`learn the end of '${id}'`, error);
      });
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
    const { signal } = this.#closing;
    const node = info.driver_node_id;
    // Asked of those only whose end the node may explain.
    const suspect = info.status === 'FAILED' && typeof info.driver_exit_code !== 'number';
    let fate = node && suspect ? await this.#edges.fateOf(node, signal) : 'alive';
    if (attempt.pull && !(await attempt.pull.finish(fate === 'alive' ? lastOutputWithin : lostWithin))) {
      if (node && fate === 'alive') fate = await this.#verdictOn(node, suspect ? verdictWithin : 0, signal);
      const reason = fate === 'alive' ? `node ${node} did not give it` : `node ${node} is gone`;
      attempt.pull.abandon(reason);
      this.#edges.events.emit(rayEvents.outputLost, { attempt: attempt.record.id, reason });
    }
    await this.#end(attempt, readEnd(info, { stopped: attempt.record.stopAsked === true, fate }), info);
  }

  /** What Ray says of a node that does not answer: for many seconds that it lives, also where it is gone. */
  async #verdictOn(node: string, within: number, signal: AbortSignal): Promise<NodeFate> {
    for (const until = performance.now() + within; ; await this.#edges.clock.sleep(500, signal)) {
      const fate = await this.#edges.fateOf(node, signal).catch(() => 'alive' as const);
      if (fate !== 'alive' || performance.now() >= until) return fate;
    }
  }

  async #end(
    attempt: Attempt,
    end: Pick<AttemptReport, 'cause' | 'exitCode' | 'message'>,
    info?: JobInfo,
  ): Promise<void> {
    const { record } = attempt;
    // As on any engine: what a set-up said is the output of an attempt that got no further.
    if (end.cause === 'setup-failed')
      for (const folder of [setupLogOf(record.log), record.log]) this.#note(folder, `${end.message}\n`);
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
    this.#edges.bookings.drop(record.id);
    attempt.report = report;
    this.#save(attempt, { end: report });
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
    return runningSince === undefined ? {} : { ranFor: performance.now() - runningSince };
  }

  #save(attempt: Attempt, more: Partial<AttemptRecord>): void {
    attempt.record = { ...attempt.record, ...more };
    this.#records.write(attempt.record);
  }

  #tell(attempt: Attempt): void {
    if (this.#closing.signal.aborted) return;
    const report = { ...attempt.report, ...(attempt.record.end ? {} : this.#ran(attempt)) };
    for (const listener of this.#listeners) listener(report);
  }

  #trouble(work: string, error: unknown): void {
    this.#edges.events.emit(rayEvents.trouble, { work, detail: (error as Error).message });
  }
}
