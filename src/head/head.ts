import { randomBytes } from 'node:crypto';
import { totalmem } from 'node:os';
import type { TurnOffAnswer } from '../api/types.ts';
import { Autoscaler } from '../autoscaler/loop.ts';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { backUp } from '../base/sqlite-repair.ts';
import { defaultLimits } from '../core/jobs/choose.ts';
import { headJobsIn } from '../core/jobs/head-room.ts';
import type { Plan } from '../core/plan/plan.ts';
import { plan } from '../core/plan/plan-cluster.ts';
import { infeasibleWords } from '../core/plan/words.ts';
import type { ClusterSpec } from '../core/spec/cluster.ts';
import { reasonWords } from '../core/turn-off.ts';
import type { View } from '../core/view.ts';
import type { EngineState } from '../engines/engine.ts';
import { type LogStore, openLogStore } from '../jobs/log-store.ts';
import { openPackageStore, type PackageStore } from '../jobs/packages.ts';
import { type JobQueue, openQueue } from '../jobs/queue.ts';
import { sweep } from '../jobs/retention.ts';
import { type JobStore, openJobStore } from '../jobs/store.ts';
import { openUsers, type Users } from '../jobs/users.ts';
import { recentFailures } from './api/questions.ts';
import { capacityOf, isUnknown } from './capacity.ts';
import { openHeadDatabase, repairWords } from './database.ts';
import { embeddedGround } from './embedded-ground.ts';
import { type EventLog, openEventLog } from './event-log.ts';
import { headEvents } from './events.ts';
import type { RayFront } from './gateway/ray-front.ts';
import { type Ground, type GroundEdges, type GroundEngine, heardBy } from './ground.ts';
import type { History } from './history.ts';
import { marking, rebuiltHistory } from './history-facts.ts';
import { loadSpec } from './load-spec.ts';
import { Meter } from './meter.ts';
import { countingSink, HeadMetrics } from './metrics.ts';
import { priceOf, type Sight, samplePoint } from './observer.ts';
import { withQueuedDemand } from './queued-demand.ts';
import { openScalingJournal, type ScalingJournal } from './scaling-journal.ts';
import { type ClusterFile, changeCluster, keepCopy, readCluster, type StateFolder } from './state-folder.ts';
import { beginTurnOff, commandUnderWay } from './turn-off/activity.ts';
import { clearMachines, leaveMachine } from './turn-off/clear.ts';
import { telling, turnOffEvents } from './turn-off/events.ts';
import { TurnOffKeeper } from './turn-off/turn-off.ts';

/** Everything a running cluster consists of, for the HTTP API to show and to act on. */
export interface Head {
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
  readonly engine: GroundEngine;
  /** The Ray that the cluster stands on, for the gateway. */
  readonly ray?: RayFront;
  readonly history: History;
  readonly metrics: HeadMetrics;
  /** A line in the daemon's own log: what no event can tell, because telling failed. */
  readonly log: (line: string) => void;
  spec(): ClusterSpec;
  /** Where a machine is reached, by the provider's name of it. */
  readonly addressOf: (machine: string) => string | undefined;
  /** A person empties this machine: one of the user's own is not taken again at once. */
  rest(machine: string): void;
  /** Reads the cluster's record again and applies what changed, without touching jobs. */
  reload(): void;
  sight(): Sight;
  /** What the instances have cost since the start, where prices are known. */
  spent(): number;
  /** How long the last pass and its calls took. */
  passTime(): number | undefined;
  /** Both sides have answered in full since the start. */
  ready(): boolean;
  /** Called after each pass and on every change of nodes. */
  watch(listener: () => void): () => void;
  wake(): void;
  /** Ends the instance of a worker at once, with what runs on it. False where none runs under this id. */
  end(instance: string): boolean;
  /** When it ends by itself; undefined when it never does. */
  turnsOff(): TurnOffAnswer | undefined;
  extend(request: Parameters<TurnOffKeeper['extend']>[0]): TurnOffAnswer | undefined;
  /** The cluster is to end now, and nothing else may change it any more: why. */
  readonly due: Promise<string>;
  /** Ends everything but this process, and writes down when and why. Rejects where it has to be tried again. */
  turnOff(why: string): Promise<void>;
  close(): Promise<void>;
}

const backUpEvery = 600_000;
const sweepEvery = 60_000;
const sampleEvery = 2_000;

/** Opens the cluster in a state folder: adopts what is there, then lets queue and autoscaler run. */
export async function openHead(
  folder: StateFolder,
  clock: Clock,
  env: Readonly<Record<string, string | undefined>>,
  log: (line: string) => void,
  /** Only then anything is done: until then the cluster is looked at and told of. */
  mayAct: Promise<void> = Promise.resolve(),
): Promise<Head> {
  const startedAt = clock.now();
  const read = (): ClusterSpec => {
    const record = readCluster(folder);
    if (record === undefined) throw new Error(`${folder.files.cluster} is gone`);
    keepCopy(folder, record);
    return loadSpec(record);
  };
  let spec = read();
  let last: { view: View; plan: Plan } | undefined;
  const loop: { autoscaler?: Autoscaler } = {};
  let engineState: EngineState | undefined;
  const { database, repaired } = openHeadDatabase(folder.files.journal, folder.files.backups, startedAt);
  const metrics = new HeadMetrics(folder.name);
  const trouble = (error: unknown): void => log(messageOf(error));
  const eventLog = openEventLog(database, () => clock.now(), trouble);
  const events = countingSink(eventLog, metrics, (instance) => {
    const asked = last?.view.instances.find((each) => each.id === instance && each.kind === 'worker')?.requestedAt;
    return asked === undefined ? undefined : Math.max(0, clock.now() - asked);
  });
  if (repaired) events.emit(headEvents.repaired, { damage: repaired.damage, detail: repairWords(repaired) });

  const journal = openScalingJournal(database, () => clock.now());
  const store = openJobStore(database);
  const users = openUsers(database, clock, events);
  const logs = openLogStore(folder.files.logs, () => clock.now());
  const packages = openPackageStore({ database, folder: folder.files.packages, clock });
  const ground = await openGround(readCluster(folder), {
    folder,
    clock,
    events,
    spec: () => spec,
    wake: () => loop.autoscaler?.wake(),
    log,
  });
  const { engine, provider } = ground;
  spec = ground.complete(spec);

  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  const headJobs = readCluster(folder)?.engine === 'ray' ? headJobsIn(memory) : defaultLimits.headJobs;
  const queue = openQueue({
    store,
    logs,
    packages,
    runner: engine,
    clock,
    events,
    limits: () => ({ ...defaultLimits, headJobs, weights: users.weights(), admins: users.admins() }),
    capacity: () => capacityOf(spec, engineState?.nodes ?? []),
    newId: () => `raysubmit_${randomWord(16)}`,
    baseEnv: env,
  });

  let passBegan = performance.now();
  let passMs: number | undefined;
  let told = '';
  const watchers = new Set<() => void>();
  const history = await rebuiltHistory(journal, store, startedAt);
  const meter = new Meter();
  const ending = new AbortController();
  const unfinished = readCluster(folder)?.turningOff;
  const keeper = new TurnOffKeeper({
    folder,
    clock,
    events: telling(events, ground, ending.signal),
    spec: () => spec,
    jobs: () => store.live.values(),
    activity: (signal) => ground.activity(signal),
    commandUnderWay: () => commandUnderWay(folder, clock.now()),
    begin: ({ because }) => beginTurnOff(folder, reasonWords(because), clock.now()),
    ...(ground.stopFile !== undefined && { stopFile: ground.stopFile }),
    failed: trouble,
  });
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    ending.abort();
    stopping ??= queue.close().then(() => running);
    return stopping;
  };

  const head: Head = {
    folder,
    clock,
    startedAt,
    queue,
    store,
    logs,
    packages,
    users,
    events: eventLog,
    journal,
    engine,
    ...(ground.ray && { ray: ground.ray }),
    history,
    metrics,
    log,
    spec: () => spec,
    addressOf: (machine) => ground.addressOf(machine),
    rest: (machine) => ground.rest?.(machine),
    reload() {
      spec = ground.complete(read());
      keeper.reload();
      events.emit(headEvents.specChanged, { file: readCluster(folder)?.config?.path ?? 'built-in' });
      ground.reloaded();
      loop.autoscaler?.forgive();
      queue.poke();
    },
    sight: () => ({
      now: clock.now(),
      spec,
      view: last?.view,
      plan: last?.plan,
      engine: engineState,
      jobs: store.live.values(),
      counts: store.counts(),
    }),
    spent: () => meter.spent,
    passTime: () => passMs,
    ready: () =>
      last?.view.complete.engine === true &&
      last.view.complete.provider &&
      (queue.synced || unfinished !== undefined) &&
      ground.ready?.() !== false,
    watch(listener) {
      watchers.add(listener);
      return () => void watchers.delete(listener);
    },
    wake: () => loop.autoscaler?.wake(),
    end: (instance) => loop.autoscaler?.end(instance) === true,
    turnsOff: () => keeper.answer(),
    extend: (request) => keeper.extend(request),
    due:
      unfinished === undefined
        ? keeper.due.then(({ because }) => reasonWords(because))
        : Promise.resolve(unfinished.why),
    async turnOff(why) {
      events.emit(turnOffEvents.turningOff, { why });
      await stop();
      const since = readCluster(folder)?.turningOff?.since ?? clock.now();
      const { ended, left } = await clearMachines(ground, { clock, events, since });
      events.emit(turnOffEvents.turnedOff, { hosts: ended.length, left: left.length });
      // Until that is ordered the next mantad would have to: only then is it over.
      await leaveMachine(ground, left, { clock, events });
      changeCluster(folder, ({ turningOff: _, ...record }) => ({ ...record, ended: { at: clock.now(), why, left } }));
    },
    async close() {
      await stop();
      await ground.close();
      await eventLog.close();
      database.close();
    },
  };

  const onPass = (view: View, made: Plan): void => {
    passMs = performance.now() - passBegan;
    metrics.passTime.observe(passMs / 1000);
    last = { view, plan: made };
    meter.charge(view.at, view.instances, (instance) => priceOf(spec, instance));
    const impossible = made.infeasible
      .map((each) => infeasibleWords(each, view.at))
      .sort()
      .join('\n');
    if (impossible !== told && impossible !== '') events.emit(headEvents.infeasible, { text: impossible });
    told = impossible;
    ground.onPass(() => recentFailures(head), made, ending.signal);
    changed();
  };

  const observed = withQueuedDemand(
    {
      async state(signal) {
        passBegan = performance.now();
        engineState = await engine.state(signal);
        // Own machines are looked at on their way into the cluster.
        if (spec.nodeTypes.some(isUnknown)) spec = ground.complete(spec);
        return engineState;
      },
      drain: (node, reason, signal) => engine.drain(node, reason, signal),
      reportInfeasible: (infeasible, signal) => engine.reportInfeasible(infeasible, signal),
    },
    queue,
  );
  const autoscaler = new Autoscaler({
    clock,
    provider,
    engine: observed,
    starter: ground.starter,
    events: heardBy(ground, events),
    journal: marking(journal, history),
    planner: plan,
    spec: () => spec,
    newId: () => `i${randomBytes(6).toString('hex')}`,
    onPass,
    settings: ground.settings,
  });
  loop.autoscaler = autoscaler;

  const changed = (): void => {
    history.add(samplePoint(head.sight()));
    for (const watcher of watchers) watcher();
  };
  engine.watchState(() => {
    head.wake();
    queue.poke();
  });
  queue.watch((changes) => {
    metrics.countJobs(changes);
    head.wake();
  });

  const every = (period: number, work: () => Promise<unknown> | void): Promise<void> =>
    repeat(clock, period, work, trouble, ending.signal);
  const running = Promise.all([
    // One that was on its way to its end when mantad died goes on with that. The queue waits for an engine that, after a
    // reboot, only the others bring back: it is waited for by nobody.
    ...(unfinished === undefined
      ? [
          mayAct.then(() =>
            Promise.all([
              queue.run(),
              autoscaler.run(ending.signal),
              ground.keep(ending.signal),
              keeper.run(ending.signal),
            ]),
          ),
        ]
      : []),
    every(sampleEvery, async () => {
      engineState = await engine.state(ending.signal);
      changed();
    }),
    every(sweepEvery, () => sweep({ store, logs, packages, clock, limits: {} })),
    every(backUpEvery, () =>
      backUp(database, folder.files.backups, clock.now()).catch((error: unknown) =>
        events.emit(headEvents.backupFailed, { detail: messageOf(error) }),
      ),
    ),
  ]).then(() => {});
  await backUp(database, folder.files.backups, clock.now()).catch(trouble);
  return head;
}

async function repeat(
  clock: Clock,
  period: number,
  work: () => Promise<unknown> | void,
  failed: (error: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(period, signal).catch(() => {});
    if (signal.aborted) return;
    try {
      await work();
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
  }
}

function openGround(record: ClusterFile | undefined, edges: GroundEdges): Promise<Ground> {
  if (record?.engine !== 'ray') return embeddedGround(edges);
  // The head of a cluster of other machines was brought up by its launcher; one of this machine alone is a process.
  if (record.ray === undefined)
    return import('./one-machine/raylet-ground.ts').then(({ rayletGround }) => rayletGround(edges));
  return import('./ray/ray-ground.ts').then(({ rayGround }) => rayGround(edges));
}

const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz123456789';

function randomWord(length: number): string {
  return Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join('');
}
