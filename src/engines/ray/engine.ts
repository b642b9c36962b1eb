import { join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { type EventSink, silent } from '../../base/events.ts';
import type { Clock, Duration } from '../../base/time/clock.ts';
import { orAborted } from '../../base/time/deadline.ts';
import { doubling, retry } from '../../base/time/retry.ts';
import type { TaskDemand } from '../../core/demand.ts';
import type { InfeasibleDemand } from '../../core/plan/plan.ts';
import { untested } from '../../core/ray-version.ts';
import type { ScalingSpec } from '../../core/scaling.ts';
import type { Engine, EngineState } from '../engine.ts';
import type { AttemptOrder, AttemptReport, Driver, Runner } from '../runner.ts';
import { rayErrors } from './errors.ts';
import { appendNotes, type DriverNote, notesFile, notesText } from './event-file.ts';
import { rayEvents } from './events.ts';
import { type AutoscalerReport, nothingToReport, writeConfig, writeReport } from './gcs/autoscaler-report.ts';
import { Bookings } from './gcs/bookings.ts';
import { Gcs, type RayNodeInfo } from './gcs/gcs.ts';
import type { GcsOptions } from './gcs/gcs-client.ts';
import { IdleClocks } from './gcs/idle-clocks.ts';
import { PreemptedNodes } from './gcs/preempted-nodes.ts';
import { readState } from './gcs/read-state.ts';
import { StateWatch } from './gcs/state-watch.ts';
import { writeConstraint } from './gcs/write-demand.ts';
import { AutoscalerStateService, DrainReason } from './gen/autoscaler_pb.js';
import { RayAttempts } from './jobs/attempts.ts';
import { brokenSlice, withHeld } from './jobs/gang-slices.ts';
import { RayHttp } from './jobs/http.ts';
import type { NodeFate } from './jobs/job-info.ts';
import { driverOf, type RayJob, RayJobsApi } from './jobs/jobs-api.ts';
import { type OtherWork, otherWork } from './jobs/other-work.ts';
import { RayPackages, type ShipArchive, type ShippedArchive } from './jobs/packages.ts';
import { submissionOf } from './jobs/submission.ts';

export interface RayEngineOptions extends GcsOptions {
  /** `http://host:port` of Ray's dashboard, where jobs are handed over. */
  readonly dashboard: string;
  /** What must outlive this process of the attempts under way. */
  readonly folder: string;
  readonly clock: Clock;
  readonly events?: EventSink;
  /** For archives that are larger than `uploadLimit`. Absent: they are refused. */
  readonly shipArchive?: ShipArchive;
  /** Those that were. Absent: each is made and shipped again. */
  readonly shippedArchive?: ShippedArchive;
  /** Appends to a file where Ray's folders are not on this machine, such as in a container. Whether it did. */
  readonly append?: (path: string, text: string, signal: AbortSignal) => Promise<boolean>;
  /** @default 100 MiB, the most that Ray takes in one request */
  readonly uploadLimit?: number;
}

const nodeIdBytes = 28;
/** With pauses that double from half a second, for half a minute. */
const meetTries = 7;
const listedWithin = 15_000;
const { method: service } = AutoscalerStateService;

/** A real Ray, through its public contracts: the state of its autoscaler service, its store and its jobs API. */
export class RayEngine implements Engine, Runner {
  readonly environments = 'all';
  readonly #options: RayEngineOptions;
  readonly #events: EventSink;
  readonly #gcs: Gcs;
  readonly #http: RayHttp;
  readonly #jobs: RayJobsApi;
  readonly #bookings = new Bookings();
  readonly #idle = new IdleClocks();
  readonly #watch: StateWatch;
  readonly #attempts: RayAttempts;
  #reported = 0;
  #report: AutoscalerReport = nothingToReport;
  #config: ScalingSpec | undefined;
  #metrics: string | undefined;
  #session = '';
  readonly #preempted: PreemptedNodes;
  #listing: Promise<readonly RayJob[]> | undefined;
  readonly #closing = new AbortController();

  /** Takes up what was handed over before. Ray need not run yet. */
  constructor(options: RayEngineOptions) {
    this.#options = options;
    this.#events = options.events ?? silent;
    this.#gcs = new Gcs(options);
    this.#http = new RayHttp(options.token);
    this.#jobs = new RayJobsApi(options.dashboard, this.#http);
    this.#preempted = new PreemptedNodes(options.folder);
    const packages = new RayPackages(
      {
        dashboard: options.dashboard,
        folder: join(options.folder, 'ray-packages'),
        uploadLimit: options.uploadLimit ?? 100 << 20,
        ...(options.shipArchive ? { shipArchive: options.shipArchive } : {}),
        ...(options.shippedArchive ? { shippedArchive: options.shippedArchive } : {}),
      },
      this.#http,
    );
    this.#attempts = new RayAttempts({
      folder: options.folder,
      clock: options.clock,
      events: this.#events,
      http: this.#http,
      jobs: this.#jobs,
      bookings: this.#bookings,
      infos: (ids, signal) => this.#gcs.jobs(ids, signal),
      killSupervisor: (id, signal) => this.#gcs.killSupervisor(id, signal),
      fateOf: (node, signal) => this.#fateOf(node, signal),
      isLeaving: (node) => this.#isLeaving(node),
      brokenSlice: (slices, leaving) => {
        const { latest } = this.#watch;
        return latest && brokenSlice(slices, latest.nodes, leaving);
      },
      slicesFor: (order) =>
        this.#bookings.slicesFor(order, this.#watch.latest, performance.now(), this.#attempts.heldSlices()),
      submissionOf: (name, order, signal) => submissionOf(name, order, packages, signal),
      driverOf: async (submission, signal) => (await this.driverOf(submission, signal))?.driver,
      onTaken: (order) => this.#bookings.hold(order.id, order, this.#watch.latest, performance.now()),
      onBooked: (order) => this.#bookings.add(order.id, order, this.#watch.latest, performance.now()),
      onRunning: (id, node) => this.#bookings.placed(id, node, this.#watch.latest, performance.now()),
    });
    this.#watch = new StateWatch({
      clock: options.clock,
      read: (signal) => this.#read(signal),
      busy: () => this.#attempts.busy,
    });
  }

  /** As the constructor, which does not wait for Ray; rejects when Ray does not answer, or does not take the token. */
  static async open(options: RayEngineOptions, signal: AbortSignal): Promise<RayEngine> {
    const engine = new RayEngine(options);
    try {
      await engine.#read(signal);
      return engine;
    } catch (error) {
      await engine.close();
      throw error;
    }
  }

  /** Lets go of Ray, which goes on with its jobs. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#watch.close();
    await this.#attempts.close();
    this.#http.close();
    this.#gcs.close();
  }

  async state(signal: AbortSignal): Promise<EngineState> {
    const seen = this.#bookings.seenIn(await this.#read(signal), performance.now());
    return { ...seen, nodes: withHeld(seen.nodes, this.#attempts.heldSlices()) };
  }

  /** Without what was handed over and Ray does not show yet. */
  stateAsRayHasIt(signal: AbortSignal): Promise<EngineState> {
    return this.#read(signal);
  }

  async drain(
    node: string,
    reason: { readonly kind: 'idle' } | { readonly kind: 'preemption'; readonly deadline: number },
    signal: AbortSignal,
  ): Promise<{ readonly accepted: boolean; readonly reason?: string }> {
    const id = Buffer.from(node, 'hex');
    if (id.length !== nodeIdBytes) throw rayErrors.Refused({ call: 'DrainNode', detail: `'${node}' is not a node id` });
    const idle = reason.kind === 'idle';
    const request = {
      node: id,
      // Ray aborts on a reason that is not set.
      reason: idle ? DrainReason.IDLE : DrainReason.PREEMPTION,
      message: idle ? 'idle for longer than its timeout' : 'the provider is reclaiming the machine',
      deadlineMs: idle ? 0n : BigInt(Math.round(reason.deadline)),
    };
    const reply = await this.#gcs.call(service.drainNode, request, signal);
    if (!idle && reply.accepted) this.#notePreempted(node);
    return { accepted: reply.accepted, ...(reply.problem === '' ? {} : { reason: reply.problem }) };
  }

  async reportInfeasible(infeasible: readonly InfeasibleDemand[], signal: AbortSignal): Promise<void> {
    await this.report({ ...this.#report, infeasible }, signal);
  }

  /** Once a pass: what `ray status`, Ray's page and its drivers show of instances that are no nodes yet. */
  async report(report: AutoscalerReport, signal: AbortSignal): Promise<void> {
    this.#report = report;
    const now = this.#options.clock.now();
    // Ray drops, without a word, a report whose version is not above the last one it saw, also one of an earlier head.
    if (this.#reported === 0) {
      const before = await this.#gcs.call(service.getClusterStatus, {}, signal);
      this.#reported = Number(before.report?.version ?? 0n);
    }
    this.#reported = Math.max(this.#reported + 1, Math.floor(now));
    await this.#gcs.call(service.reportAutoscalingState, { report: writeReport(report, this.#reported, now) }, signal);
  }

  /** At the start and whenever the cluster's file has changed: how far the cluster may grow. */
  async reportConfig(spec: ScalingSpec, signal: AbortSignal): Promise<void> {
    this.#config = spec;
    await this.#gcs.call(service.reportClusterConfig, { config: writeConfig(spec) }, signal);
  }

  /** Where Prometheus finds the metrics of the autoscaler, `host:port`; Ray's service discovery tells it. */
  async announceMetrics(address: string, signal: AbortSignal): Promise<void> {
    this.#metrics = address;
    await this.#gcs.put('AutoscalerMetricsAddress', address, '', signal);
  }

  /** Tells every driver. False when Ray's folders cannot be written to. */
  async tellDrivers(notes: readonly DriverNote[], signal: AbortSignal): Promise<boolean> {
    const session = await this.#gcs.sessionFolder(signal);
    if (session === undefined) return false;
    if (await appendNotes(session, notes)) return true;
    return (await this.#options.append?.(notesFile(session), notesText(notes), signal)) ?? false;
  }

  /** Replaces the standing request; Ray keeps it in memory until its GCS restarts. */
  async requestResources(requests: readonly TaskDemand[], signal: AbortSignal): Promise<void> {
    await this.#gcs.call(service.requestClusterResourceConstraint, { constraint: writeConstraint(requests) }, signal);
  }

  /** Called after any change of nodes or demand: time to look at `state` again. */
  watchState(listener: () => void): () => void {
    return this.#watch.watch(listener);
  }

  hasRoom(order: Pick<AttemptOrder, 'resources' | 'labels' | 'gang'>): boolean {
    return this.#bookings.hasRoom(order, this.#watch.latest, performance.now(), this.#attempts.heldSlices());
  }

  start(order: AttemptOrder, signal: AbortSignal): Promise<void> {
    return this.#attempts.start(order, signal);
  }

  stop(attempt: string, grace: Duration, signal: AbortSignal): Promise<void> {
    return this.#attempts.stop(attempt, grace, signal);
  }

  attempts(signal: AbortSignal): Promise<readonly AttemptReport[]> {
    return this.#attempts.reports(signal);
  }

  async forget(attempt: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#attempts.forget(attempt);
  }

  watch(listener: (report: AttemptReport) => void): () => void {
    return this.#attempts.watch(listener);
  }

  /** Names of those that were shipped and that attempts need which are not over. */
  archives(): ReadonlySet<string> {
    return this.#attempts.archives();
  }

  /** Jobs that were submitted straight to Ray, and drivers that were started by hand. */
  async jobsOfOthers(signal: AbortSignal): Promise<readonly RayJob[]> {
    // One may be handed over, or let go of, while Ray lists them.
    const before = this.#attempts.submissions();
    const jobs = await this.#listed(signal);
    const own = new Set([...before, ...this.#attempts.submissions()]);
    return jobs.filter(({ submission_id }) => submission_id === null || !own.has(submission_id));
  }

  /** Programs that joined the cluster, by the names of the jobs that started them. */
  async drivers(signal: AbortSignal): Promise<ReadonlyMap<string, Driver>> {
    const jobs = await this.#listed(signal);
    return new Map(
      jobs.flatMap((job): [string, Driver][] => {
        const driver = driverOf(job);
        return driver && job.submission_id !== null ? [[job.submission_id, driver]] : [];
      }),
    );
  }

  /** The same of one job, by its name or by the id of its driver. */
  async driverOf(
    id: string,
    signal: AbortSignal,
  ): Promise<{ readonly submission: string; readonly driver: Driver } | undefined> {
    const job = await this.#jobs.find(id, signal);
    const driver = job && driverOf(job);
    return driver && job.submission_id !== null ? { submission: job.submission_id, driver } : undefined;
  }

  /** What lives there beside the attempts of jobs. */
  async otherWork(signal: AbortSignal): Promise<OtherWork> {
    return await otherWork(this.#options.dashboard, this.#http, await this.jobsOfOthers(signal), signal);
  }

  /** A value of the GCS's own store; undefined when there is none. */
  value(key: string, namespace: string, signal: AbortSignal): Promise<Uint8Array | undefined> {
    return this.#gcs.value(key, namespace, signal);
  }

  put(key: string, value: string | Uint8Array, namespace: string, signal: AbortSignal): Promise<void> {
    return this.#gcs.put(key, value, namespace, signal);
  }

  nodeTable(signal: AbortSignal): Promise<readonly RayNodeInfo[]> {
    return this.#gcs.nodeTable(signal);
  }

  /** The instance's node is in the table and its agent answers: only then can a job run there. */
  async ready(instance: string, signal: AbortSignal): Promise<boolean> {
    const nodes = await this.#gcs.nodeTable(signal);
    const node = nodes.find((each) => each.alive && each.instance === instance);
    return node !== undefined && this.#agentAnswers(node, signal);
  }

  /** The same of the head, which has no instance id where it was started by hand. */
  async headReady(signal: AbortSignal): Promise<boolean> {
    const node = (await this.#gcs.nodeTable(signal)).find((each) => each.alive && each.head);
    return node !== undefined && this.#agentAnswers(node, signal);
  }

  /** One listing for all who want it at the same time: Ray makes it of everything it knows. */
  #listed(signal: AbortSignal): Promise<readonly RayJob[]> {
    this.#listing ??= this.#jobs
      .list(AbortSignal.any([this.#closing.signal, AbortSignal.timeout(listedWithin)]))
      .finally(() => (this.#listing = undefined));
    return orAborted(this.#listing, signal);
  }

  /** Ray calls a node preempted that dies behind the deadline; one that went before it was preempted too. */
  async #fateOf(node: string, signal: AbortSignal): Promise<NodeFate> {
    const fate = await this.#gcs.fateOf(node, signal);
    return fate === 'lost' && this.#preempted.has(node) ? 'preempted' : fate;
  }

  #isLeaving(node: string): boolean {
    const draining = this.#watch.latest?.nodes.some(({ id, state }) => id === node && state === 'draining');
    return draining === true || this.#preempted.has(node);
  }

  #notePreempted(node: string): void {
    try {
      this.#preempted.add(node);
    } catch (error) {
      this.#events.emit(rayEvents.trouble, { work: 'record a preemption', detail: (error as Error).message });
    }
  }

  async #agentAnswers({ address, agentPort }: RayNodeInfo, signal: AbortSignal): Promise<boolean> {
    if (agentPort <= 0) return false;
    const host = address.includes(':') ? `[${address}]` : address;
    const question = { path: '/api/local_raylet_healthz', timeout: 3_000 };
    const answer = await this.#http.ask(`http://${host}:${agentPort}`, question, signal).catch(() => undefined);
    return answer?.status === 200;
  }

  async #read(signal: AbortSignal): Promise<EngineState> {
    // A last seen version beyond the server's own aborts the whole GCS: it is never sent.
    const reply = await this.#gcs.call(service.getClusterResourceState, { lastSeenVersion: 0n }, signal);
    if (!reply.state) throw rayErrors.Refused({ call: 'GetClusterResourceState', detail: 'the response has no state' });
    const state = this.#idle.read(readState(reply.state, this.#options.clock.now()), performance.now());
    this.#watch.learn(state);
    if (reply.state.session !== this.#session) {
      this.#session = reply.state.session;
      void this.#meet(this.#session);
    }
    return state;
  }

  /** A Ray that was restarted has forgotten what it was told, and may be another version. */
  async #meet(session: string): Promise<void> {
    const { signal } = this.#closing;
    const meet = async (): Promise<void> => {
      if (session !== this.#session) return;
      if (this.#config) await this.reportConfig(this.#config, signal);
      if (this.#metrics !== undefined) await this.announceMetrics(this.#metrics, signal);
      const range = untested((await this.#jobs.version(signal)).version);
      if (range) this.#events.emit(rayEvents.versionUntested, range);
    };
    // The GCS is up seconds before the dashboard.
    const again = (_: unknown, tries: number): boolean => tries < meetTries;
    await retry(meet, { clock: this.#options.clock, signal, pause: doubling(500), again }).catch((error: unknown) => {
      if (signal.aborted) return;
      this.#events.emit(rayEvents.trouble, { work: "read Ray's version", detail: messageOf(error) });
    });
  }
}
