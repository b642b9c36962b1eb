import { randomBytes } from 'node:crypto';
import type { TurnOffAnswer } from '../api/types.ts';
import { Autoscaler } from '../autoscaler/loop.ts';
import { messageOf } from '../base/errors.ts';
import type { Clock } from '../base/time/clock.ts';
import type { Plan } from '../core/plan/plan.ts';
import { plan } from '../core/plan/plan-cluster.ts';
import { infeasibleWords } from '../core/plan/words.ts';
import type { ClusterSpec } from '../core/spec/cluster.ts';
import { reasonWords } from '../core/turn-off.ts';
import type { View } from '../core/view.ts';
import type { Engine } from '../engines/engine.ts';
import type { LogStore } from '../jobs/logs/log-store.ts';
import type { PackageStore } from '../jobs/packages/packages.ts';
import type { JobQueue } from '../jobs/queue/queue.ts';
import { sweep } from '../jobs/queue/retention.ts';
import type { JobStore } from '../jobs/queue/store.ts';
import type { Users } from '../jobs/users/users.ts';
import { changeCluster, readCluster } from '../state/cluster-record.ts';
import type { StateFolder } from '../state/state-folder.ts';
import { recentFailures } from './api/questions.ts';
import { type Backend, type BackendEngine, forwardEventsTo } from './backend/backend.ts';
import { headEvents } from './events.ts';
import type { RayFront } from './gateway/ray-front.ts';
import type { Head } from './head.ts';
import type { EventLog } from './journal/event-log.ts';
import type { History } from './journal/history.ts';
import { marking } from './journal/history-facts.ts';
import type { ScalingJournal } from './journal/scaling-journal.ts';
import type { LiveSpec } from './live-spec.ts';
import type { LastPass } from './report/last-pass.ts';
import { CostMeter } from './report/meter.ts';
import type { HeadMetrics } from './report/metrics.ts';
import { priceOf, type Sight, samplePoint } from './report/observer.ts';
import { withQueuedDemand } from './report/queued-demand.ts';
import type { Stores } from './stores.ts';
import { beginTurnOff, commandUnderWay } from './turn-off/activity.ts';
import { clearMachines, leaveMachine } from './turn-off/clear.ts';
import { tellingDrivers } from './turn-off/tell-drivers.ts';
import { TurnOffKeeper } from './turn-off/turn-off.ts';

export interface HeadParts {
  readonly folder: StateFolder;
  readonly clock: Clock;
  readonly log: (line: string) => void;
  readonly startedAt: number;
  readonly spec: LiveSpec;
  readonly metrics: HeadMetrics;
  readonly lastPass: LastPass;
  readonly stores: Stores;
  readonly backend: Backend;
  readonly queue: JobQueue;
  readonly history: History;
}

const backUpEvery = 600_000;
const sweepEvery = 60_000;
const sampleEvery = 2_000;

/** A cluster whose parts are open: its loop, what is told of it, and its end. */
export class RunningHead implements Head {
  readonly folder: StateFolder;
  readonly clock: Clock;
  readonly startedAt: number;
  readonly queue: JobQueue;
  readonly store: JobStore;
  readonly logs: LogStore;
  readonly packages: PackageStore;
  readonly users: Users;
  readonly events: EventLog;
  readonly journal: ScalingJournal;
  readonly engine: BackendEngine;
  readonly ray?: RayFront;
  readonly history: History;
  readonly metrics: HeadMetrics;
  readonly log: (line: string) => void;
  readonly due: Promise<string>;
  readonly #parts: HeadParts;
  readonly #meter = new CostMeter();
  readonly #watchers = new Set<() => void>();
  readonly #ending = new AbortController();
  /** Why the cluster was on its way to its end when the mantad before this one died. */
  readonly #unfinished: string | undefined;
  readonly #keeper: TurnOffKeeper;
  readonly #autoscaler: Autoscaler;
  /** What cannot be placed, as it was told last. */
  #told = '';
  #running: Promise<unknown> = Promise.resolve();
  #stopping: Promise<unknown> | undefined;

  constructor(parts: HeadParts) {
    const { stores, backend } = parts;
    this.#parts = parts;
    this.folder = parts.folder;
    this.clock = parts.clock;
    this.startedAt = parts.startedAt;
    this.queue = parts.queue;
    this.store = stores.store;
    this.logs = stores.logs;
    this.packages = stores.packages;
    this.users = stores.users;
    this.events = stores.eventLog;
    this.journal = stores.journal;
    this.engine = backend.engine;
    if (backend.ray) this.ray = backend.ray;
    this.history = parts.history;
    this.metrics = parts.metrics;
    this.log = parts.log;
    this.#unfinished = readCluster(parts.folder)?.turningOff?.why;
    this.#keeper = this.#makeKeeper();
    this.#autoscaler = this.#makeAutoscaler();
    this.due =
      this.#unfinished === undefined
        ? this.#keeper.due.then(({ because }) => reasonWords(because))
        : Promise.resolve(this.#unfinished);
  }

  /** Lets everything run; what acts does so once it may. */
  run(mayAct: Promise<void>): void {
    const { stores, queue, backend } = this.#parts;
    const { signal } = this.#ending;
    this.engine.watchState(() => {
      this.wake();
      queue.poke();
    });
    queue.watch((changes) => {
      this.metrics.countJobs(changes);
      this.wake();
    });
    const act = async (): Promise<void> => {
      await mayAct;
      // The queue waits for an engine that, after a reboot, only the others bring back.
      await Promise.all([queue.run(), this.#autoscaler.run(signal), backend.keep(signal), this.#keeper.run(signal)]);
    };
    const backUpFailed = (error: unknown): void =>
      stores.events.emit(headEvents.backupFailed, { detail: messageOf(error) });
    this.#running = Promise.all([
      // One that was on its way to its end when mantad died goes on with that.
      this.#unfinished === undefined ? act() : undefined,
      this.#every(sampleEvery, () => this.#sample()),
      this.#every(sweepEvery, () => sweep({ ...stores, clock: this.clock, limits: {} })),
      this.#every(backUpEvery, () => stores.backUp().catch(backUpFailed)),
    ]);
  }

  spec(): ClusterSpec {
    return this.#parts.spec.current;
  }

  readonly addressOf = (machine: string): string | undefined => this.#parts.backend.addressOf(machine);

  rest(machine: string): void {
    this.#parts.backend.rest?.(machine);
  }

  reload(): void {
    const { spec, backend, stores, folder } = this.#parts;
    spec.reload();
    this.#keeper.reload();
    stores.events.emit(headEvents.specChanged, { file: readCluster(folder)?.config?.path ?? 'built-in' });
    backend.reloaded();
    this.#autoscaler.forgive();
    this.queue.poke();
  }

  sight(): Sight {
    const { store } = this;
    const seen = { now: this.clock.now(), spec: this.spec(), ...this.#parts.lastPass.sight };
    return { ...seen, jobs: store.live.values(), counts: store.counts() };
  }

  spent(): number {
    return this.#meter.spent;
  }

  passTime(): number | undefined {
    return this.#parts.lastPass.took;
  }

  ready(): boolean {
    const { lastPass, backend } = this.#parts;
    const synced = this.queue.synced || this.#unfinished !== undefined;
    return lastPass.isComplete && synced && backend.ready?.() !== false;
  }

  watch(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => void this.#watchers.delete(listener);
  }

  wake(): void {
    this.#autoscaler.wake();
  }

  end(instance: string): boolean {
    return this.#autoscaler.end(instance);
  }

  turnsOff(): TurnOffAnswer | undefined {
    return this.#keeper.answer();
  }

  extend(request: Parameters<TurnOffKeeper['extend']>[0]): TurnOffAnswer | undefined {
    return this.#keeper.extend(request);
  }

  async turnOff(why: string): Promise<void> {
    const { clock, folder } = this;
    const { backend, stores } = this.#parts;
    const { events } = stores;
    events.emit(headEvents.turningOff, { why });
    await this.#stop();
    const since = readCluster(folder)?.turningOff?.since ?? clock.now();
    const { ended, left } = await clearMachines(backend, { clock, events, since });
    events.emit(headEvents.turnedOff, { hosts: ended.length, left: left.length });
    // Until that is ordered the next mantad would have to: only then is it over.
    await leaveMachine(backend, left, { clock, events });
    changeCluster(folder, ({ turningOff: _, ...record }) => ({ ...record, ended: { at: clock.now(), why, left } }));
  }

  async close(): Promise<void> {
    await this.#stop();
    await this.#parts.backend.close();
    await this.#parts.stores.close();
  }

  #makeKeeper(): TurnOffKeeper {
    const { folder, clock, backend, stores } = this.#parts;
    return new TurnOffKeeper({
      folder,
      clock,
      events: tellingDrivers(stores.events, backend, this.#ending.signal),
      spec: () => this.spec(),
      jobs: () => stores.store.live.values(),
      activity: (signal) => backend.activity(signal),
      commandUnderWay: () => commandUnderWay(folder, clock.now()),
      begin: ({ because }) => beginTurnOff(folder, reasonWords(because), clock.now()),
      ...(backend.stopFile !== undefined && { stopFile: backend.stopFile }),
      failed: (error) => this.#trouble(error),
    });
  }

  #makeAutoscaler(): Autoscaler {
    const { clock, backend, stores, history, queue } = this.#parts;
    return new Autoscaler({
      clock,
      provider: backend.provider,
      engine: withQueuedDemand(this.#observedEngine(), queue),
      starter: backend.starter,
      events: forwardEventsTo(backend, stores.events),
      journal: marking(stores.journal, history),
      planner: plan,
      spec: () => this.spec(),
      newId: () => `i${randomBytes(6).toString('hex')}`,
      onPass: (view, made) => this.#onPass(view, made),
      settings: backend.settings,
    });
  }

  /** The engine as the loop asks it: its answer begins a pass, and is kept to be shown. */
  #observedEngine(): Engine {
    const { spec, lastPass } = this.#parts;
    const { engine } = this;
    return {
      async state(signal) {
        lastPass.begin();
        const state = await engine.state(signal);
        lastPass.heard(state);
        spec.learn();
        return state;
      },
      drain: (node, reason, signal) => engine.drain(node, reason, signal),
      reportInfeasible: (infeasible, signal) => engine.reportInfeasible(infeasible, signal),
    };
  }

  #onPass(view: View, made: Plan): void {
    const { lastPass, backend, stores } = this.#parts;
    lastPass.made(view, made);
    this.#meter.charge(view.at, view.instances, (instance) => priceOf(this.spec(), instance));
    const impossible = made.infeasible
      .map((each) => infeasibleWords(each, view.at))
      .sort()
      .join('\n');
    if (impossible !== this.#told && impossible !== '') stores.events.emit(headEvents.infeasible, { text: impossible });
    this.#told = impossible;
    backend.onPass(() => recentFailures(this), made, this.#ending.signal);
    this.#changed();
  }

  async #sample(): Promise<void> {
    this.#parts.lastPass.heard(await this.engine.state(this.#ending.signal));
    this.#changed();
  }

  #changed(): void {
    this.history.add(samplePoint(this.sight()));
    for (const watcher of this.#watchers) watcher();
  }

  async #every(period: number, work: () => Promise<unknown>): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      await this.clock.sleep(period, signal).catch(() => {});
      if (signal.aborted) return;
      try {
        await work();
      } catch (error) {
        if (!signal.aborted) this.#trouble(error);
      }
    }
  }

  #stop(): Promise<unknown> {
    this.#ending.abort();
    this.#stopping ??= this.queue.close().then(() => this.#running);
    return this.#stopping;
  }

  #trouble(error: unknown): void {
    this.log(messageOf(error));
  }
}
