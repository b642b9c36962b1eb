import { randomBytes } from 'node:crypto';
import { totalmem } from 'node:os';
import type { TurnOffAnswer } from '../api/types.ts';
import { messageOf } from '../base/errors.ts';
import type { Clock } from '../base/time/clock.ts';
import { defaultLimits, type Limits } from '../core/jobs/choose.ts';
import { headJobsIn } from '../core/jobs/head-room.ts';
import type { ClusterSpec } from '../core/spec/cluster.ts';
import type { LogStore } from '../jobs/logs/log-store.ts';
import type { PackageStore } from '../jobs/packages/packages.ts';
import { JobQueue } from '../jobs/queue/queue.ts';
import type { JobStore } from '../jobs/queue/store.ts';
import type { Users } from '../jobs/users/users.ts';
import { type ClusterRecord, readCluster } from '../state/cluster-record.ts';
import { stateErrors } from '../state/errors.ts';
import type { StateFolder } from '../state/state-folder.ts';
import type { Backend, BackendContext, BackendEngine } from './backend/backend.ts';
import { embeddedBackend } from './backend/embedded-backend.ts';
import type { RayFront } from './gateway/ray-front.ts';
import type { EventLog } from './journal/event-log.ts';
import type { History } from './journal/history.ts';
import { rebuiltHistory } from './journal/history-facts.ts';
import type { ScalingJournal } from './journal/scaling-journal.ts';
import { LiveSpec } from './live-spec.ts';
import { capacityOf } from './report/capacity.ts';
import { LastPass } from './report/last-pass.ts';
import { HeadMetrics } from './report/metrics.ts';
import type { Sight } from './report/observer.ts';
import { RunningHead } from './running-head.ts';
import { openStores, type Stores } from './stores.ts';
import type { TurnOffKeeper } from './turn-off/turn-off.ts';

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
  readonly engine: BackendEngine;
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
  const spec = new LiveSpec(folder);
  const metrics = new HeadMetrics(folder.name);
  const lastPass = new LastPass(clock, metrics);
  const stores = openStores({ folder, clock, log, metrics, lastPass });
  const opened: { head?: RunningHead } = {};
  const backend = await openBackend(readCluster(folder), {
    folder,
    clock,
    events: stores.events,
    spec: () => spec.current,
    wake: () => opened.head?.wake(),
    log,
  });
  spec.completeBy(backend);

  const { store, logs, packages, events } = stores;
  const queue = new JobQueue({
    store,
    logs,
    packages,
    runner: backend.engine,
    clock,
    events,
    limits: limitsOf(folder, stores),
    capacity: () => capacityOf(spec.current, lastPass.nodes),
    newId: () => `raysubmit_${randomWord(16)}`,
    baseEnv: env,
  });
  const history = await rebuiltHistory(stores.journal, stores.store, startedAt);
  const head = new RunningHead({
    folder,
    clock,
    log,
    startedAt,
    spec,
    metrics,
    lastPass,
    stores,
    backend,
    queue,
    history,
  });
  opened.head = head;
  head.run(mayAct);
  await stores.backUp().catch((error: unknown) => log(messageOf(error)));
  return head;
}

function limitsOf(folder: StateFolder, { users }: Stores): () => Limits {
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  const headJobs = readCluster(folder)?.engine === 'ray' ? headJobsIn(memory) : defaultLimits.headJobs;
  return () => ({ ...defaultLimits, headJobs, weights: users.weights(), admins: users.admins() });
}

function openBackend(record: ClusterRecord | undefined, edges: BackendContext): Promise<Backend> {
  // The head of a cluster of other machines was brought up by its launcher; one of this machine alone is a process.
  if (record?.role === 'head')
    return import('./ray/ray-backend.ts').then(({ rayBackend }) => rayBackend(record, edges));
  if (record?.role === 'laptop') throw stateErrors.NotRunning({ name: record.name });
  if (record?.engine !== 'ray') return embeddedBackend(edges);
  const { kube } = record;
  if (kube !== undefined) return import('./kube/kube-backend.ts').then(({ kubeBackend }) => kubeBackend(kube, edges));
  return import('./one-machine/raylet-backend.ts').then(({ rayletBackend }) => rayletBackend(record, edges));
}

const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz123456789';

function randomWord(length: number): string {
  return Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join('');
}
