import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import type { EventSink } from '../../base/events.ts';
import { takeLock } from '../../base/files/lock.ts';
import { readShell, shellProgram } from '../../base/shell/shell-file.ts';
import type { Clock } from '../../base/time/clock.ts';
import { version } from '../../base/version.ts';
import { bringupErrors } from '../../bringup/errors.ts';
import { type BroughtUp, bringUpNode } from '../../bringup/node/bring-up.ts';
import type { NodeFiles, NodeOrder } from '../../bringup/node/node.ts';
import { roomForFiles } from '../../bringup/node/prepare.ts';
import type { Restart } from '../../bringup/node/record.ts';
import { tellWaits } from '../../bringup/steps/through-drops.ts';
import { durationWords } from '../../core/plan/words.ts';
import { compareVersions } from '../../core/versions.ts';
import { type HeadIdentity, headIdentityOf } from '../../providers/clouds.ts';
import { requireClaim } from '../../providers/local/claims.ts';
import {
  type ClusterRecord,
  changeCluster,
  createCluster,
  type HeadRecord,
  type RayHead,
  readLaptopRecord,
  recordFormat,
  withRemoteHead,
} from '../../state/cluster-record.ts';
import { reloadText } from '../../state/mantad/boot-entry.ts';
import { folderOnHead } from '../../state/state-folder.ts';
import { launcherErrors } from '../errors.ts';
import { launcherEvents } from '../events.ts';
import { lockAndLook } from '../head/lock.ts';
import { type HeadLook, removeUnusedKey } from '../head/look.ts';
import { versionOf } from '../head/ship/ship.ts';
import { runningJobs, workersNow } from '../reach/current-cluster.ts';
import { madeByRay } from '../reach/ray-compat.ts';
import { type RemoteCluster, startedElsewhere } from '../reach/remote-cluster.ts';
import { admitHead } from './admit-head.ts';
import { HandOver } from './hand-over.ts';
import { headOrderFor, rayHeadFor, tokenFor } from './head-order.ts';
import { localFiles } from './mounts.ts';
import { planUp, type UpPlan } from './plan.ts';
import { untilOf } from './this-machine.ts';

const putting = readShell(new URL('./put-folder.sh', import.meta.url));

export interface UpRemoteRequest {
  readonly cluster: RemoteCluster;
  /** The state folders' home on this machine. */
  readonly home: string;
  readonly overrides: NonNullable<ClusterRecord['overrides']>;
  /** When it ends by itself, by the head's clock; null takes back what was said before. Absent: as it was. */
  readonly until?: (now: number) => number | null;
  readonly noRestart: boolean;
  readonly restartOnly: boolean;
  readonly loginShells: boolean;
  readonly usageStats: boolean;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly events: EventSink;
  /** mantad serves on the head: what it does can be told. `began` is when this started, by the clock of the head. */
  readonly onHandedOver: (began: number) => void;
  /** Sees the plan before anything is done; false ends it. */
  readonly agree: (plan: UpPlan) => Promise<boolean>;
}

export type UpRemoteResult =
  | { readonly done: false; readonly plan: UpPlan }
  | {
      readonly done: true;
      readonly plan: UpPlan;
      readonly head: BroughtUp;
    };

const connectWithin = 900_000;
const turnsOffWithin = 120_000;

/**
 * Brings the head up and hands the cluster over to mantad there, which brings the workers up. Every step may be repeated:
 * cut short at any moment, the next `up` or `down` completes it.
 */
export async function upRemote(request: UpRemoteRequest, signal: AbortSignal): Promise<UpRemoteResult> {
  const { cluster } = request;
  const taken = takeLock(cluster.folder.files.commandLock);
  if ('holder' in taken) throw launcherErrors.Busy({ name: cluster.name, pid: taken.holder.pid });
  try {
    return await bringUp(request, signal);
  } finally {
    taken.lock.release();
  }
}

async function bringUp(request: UpRemoteRequest, signal: AbortSignal): Promise<UpRemoteResult> {
  const { cluster, events, clock } = request;
  const { head: host, spec } = cluster;
  const moved = startedElsewhere(cluster);
  if (moved !== undefined) throw launcherErrors.HeadMoved({ name: cluster.name, ...moved });
  const files = localFiles(spec, cluster.file.config.path, request.cwd);
  events.emit(launcherEvents.connecting, { host: host.name }, { id: `node ${host.name}`, state: 'running' });
  const until = performance.now() + connectWithin;
  await host.connect({
    signal,
    within: connectWithin,
    onWait: tellWaits((why) => {
      const longest = durationWords(Math.max(0, until - performance.now()));
      events.emit(launcherEvents.waiting, { host: host.name, why, longest });
    }),
  });
  const { look, lost, unlock } = await lockWhenTurnedOff(cluster, clock, signal);
  try {
    return await bringUpLocked(request, files, look, AbortSignal.any([signal, lost]));
  } finally {
    await unlock();
  }
}

async function bringUpLocked(
  request: UpRemoteRequest,
  files: NodeFiles,
  look: HeadLook,
  signal: AbortSignal,
): Promise<UpRemoteResult> {
  const { cluster } = request;
  const { head: host, name } = cluster;
  checkHead(cluster, look);
  const identity = cluster.spec.provider.kind === 'cloud' ? await headIdentityOf(cluster.spec, request.env) : undefined;
  const ray = await rayHeadFor(request, files, { look, identity }, signal);
  const order = headOrderFor(request, ray, files, await tokenFor(request, look, signal));
  const plan = await planFor(request, order, { ray, files, look }, signal);
  if (!(await request.agree(plan))) {
    await removeUnusedKey(host, name, look, signal);
    return { done: false, plan };
  }
  if (cluster.spec.provider.kind !== 'cloud') {
    const claimant = { clusterId: ray.id, cluster: name, owner: ownerOf(), headAddress: ray.address };
    await requireClaim(host, claimant, ray.instance, { signal }).catch(async (error: unknown) => {
      await removeUnusedKey(host, name, look, signal);
      throw error;
    });
  }
  // Only a head that is this cluster's own: what is known here of another is not lost to one that was refused.
  remember(request);
  const prepared = await admitHead(request, look, signal);
  const handed = { ray: prepared === undefined ? ray : { ...ray, prepared }, look, identity };
  return { done: true, plan, head: await carryOut(request, order, handed, signal) };
}

/** Whether this Manta may bring up this head, as it was found. */
function checkHead({ name, head: host }: RemoteCluster, look: HeadLook): void {
  if (look.cluster?.endingSince !== undefined) throw launcherErrors.HalfDown({ name });
  const headVersion = look.serving?.version ?? versionOf(look.supervisorRuntime ?? '');
  if (compareVersions(headVersion, version) > 0)
    throw launcherErrors.HeadNewer({ name, head: headVersion, client: version });
  if (look.freeBytes !== undefined && look.freeBytes < roomForFiles) throw bringupErrors.DiskFull({ node: host.name });
}

const restartOf = ({ restartOnly, noRestart }: UpRemoteRequest): Restart =>
  restartOnly ? 'always' : noRestart ? 'never' : 'changed';

function planFor(
  request: UpRemoteRequest,
  order: NodeOrder,
  { ray, files, look }: { readonly ray: RayHead; readonly files: NodeFiles; readonly look: HeadLook },
  signal: AbortSignal,
): Promise<UpPlan> {
  const { cluster, events } = request;
  return planUp({
    cluster,
    order,
    files,
    look,
    home: request.home,
    clusterId: ray.id,
    restart: restartOf(request),
    startOnly: request.restartOnly,
    version,
    workersNow: () => workersNow(cluster, look, signal),
    runningJobs: async () => {
      const running = await runningJobs(cluster, look, signal);
      if (running === undefined) events.emit(launcherEvents.jobsUnknown, { host: cluster.head.name });
      return running ?? { total: 0, names: [] };
    },
    madeByRay: () => madeByRay(cluster, signal),
  });
}

/** Brings the head up, and beside that mantad on it. */
async function carryOut(
  request: UpRemoteRequest,
  order: NodeOrder,
  {
    ray,
    look,
    identity,
  }: { readonly ray: RayHead; readonly look: HeadLook; readonly identity: HeadIdentity | undefined },
  signal: AbortSignal,
): Promise<BroughtUp> {
  const { cluster, events, env } = request;
  const { head: host, spec } = cluster;
  const ending = new AbortController();
  const all = AbortSignal.any([signal, ending.signal]);
  const handOver = new HandOver({
    cluster,
    env,
    events,
    connectWithin,
    look,
    putFolder: async (now) => {
      const credential = identity?.kind === 'file' ? identity.text : undefined;
      await putFolder(request, recordFor(request, now, ray), credential, all);
    },
    onHandedOver: request.onHandedOver,
  });
  const handingOver = handOver.run(all);
  // What keeps mantad from being started is told at once, and not when the last setup command is through.
  handingOver.catch((error: unknown) => ending.abort(error));
  try {
    const how = { events, connectWithin, startOnly: request.restartOnly, restart: restartOf(request) };
    const { allowNoAuth } = spec.provider.manta;
    const brought = await bringUpNode(host, order, { ...how, allowNoAuth, onSynced: () => handOver.synced() }, all);
    await handingOver;
    await handOver.keysInstalled;
    events.emit(launcherEvents.headUp, { host: host.name }, { id: `node ${host.name}`, state: 'done' });
    return brought;
  } catch (error) {
    ending.abort(error);
    handOver.giveUp(error);
    await handingOver.catch(() => {});
    throw ending.signal.reason;
  }
}

/** A cluster that turns itself off just now is waited for. */
async function lockWhenTurnedOff(
  cluster: RemoteCluster,
  clock: Clock,
  signal: AbortSignal,
): ReturnType<typeof lockAndLook> {
  for (const until = performance.now() + turnsOffWithin; ; ) {
    const locked = await lockAndLook(cluster, 'up', clock, signal);
    const { cluster: record, supervisorPid } = locked.look;
    const ending = record?.turningOff !== undefined || (record?.ended !== undefined && supervisorPid !== undefined);
    if (!ending) return locked;
    await locked.unlock();
    if (supervisorPid === undefined || performance.now() > until)
      throw launcherErrors.TurningOff({ name: cluster.name });
    await clock.sleep(500, signal);
  }
}

const ownerOf = (): string => `${userInfo().username}@${hostname()}`;

/** The cluster's record on this machine: what the next command needs to find it again. */
function remember({ cluster, overrides, clock }: UpRemoteRequest): void {
  const { folder, headAddress } = cluster;
  const { config } = cluster.file;
  const remote = { ...readLaptopRecord(folder)?.remote, address: headAddress };
  if (changeCluster(folder, (record) => ({ ...withRemoteHead(record, remote), config, overrides })) !== undefined)
    return;
  createCluster(folder, { role: 'laptop', engine: 'ray', config, overrides, remote, createdAt: clock.now() });
}

function recordFor({ cluster, overrides, until }: UpRemoteRequest, look: HeadLook, ray: RayHead): HeadRecord {
  const { cluster: before } = look;
  return {
    format: recordFormat,
    role: 'head',
    name: cluster.name,
    machine: look.hostname,
    // One that turned itself off begins a new life.
    createdAt: (before?.ended === undefined ? before?.createdAt : undefined) ?? look.now,
    engine: 'ray',
    config: cluster.file.config,
    overrides,
    ray,
    ...untilOf(until?.(look.now), before, { now: look.now, lives: look.mantadPid !== undefined }),
  };
}

/** What mantad's folder on the head begins with: the record, and the host keys that are known here. */
async function putFolder(
  { cluster }: UpRemoteRequest,
  record: HeadRecord,
  credential: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { head: host, name, folder } = cluster;
  const pins = existsSync(folder.files.hosts)
    ? readdirSync(folder.files.hosts).filter((file) => file.endsWith('.pin'))
    : [];
  const put = shellProgram(
    putting,
    {
      folder: folderOnHead(name).path,
      record: `${JSON.stringify(record)}\n`,
      credential: credential === undefined ? '' : `${credential}\n`,
    },
    pins.flatMap((pin) => [pin, readFileSync(join(folder.files.hosts, pin), 'utf8')]),
  );
  const { code, stderr } = await host.sh(`${put}${reloadText(name)}`, { signal });
  if (code !== 0) throw launcherErrors.NotShipped({ host: host.name, what: 'the cluster file', detail: stderr.trim() });
}
