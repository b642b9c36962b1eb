import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { EventSink } from '../base/events.ts';
import type { Host } from '../base/host.ts';
import { takeLock } from '../base/lock.ts';
import { shellQuoted } from '../base/shell-quote.ts';
import { version } from '../base/version.ts';
import { type BroughtUp, bringUpNode } from '../bringup/bring-up.ts';
import { tellWaits, throughDrops } from '../bringup/drops.ts';
import { bringupErrors } from '../bringup/errors.ts';
import { bringupEvents } from '../bringup/events.ts';
import type { NodeFiles } from '../bringup/node.ts';
import { gcsPortOf, headOrder } from '../bringup/order.ts';
import { roomForFiles } from '../bringup/prepare.ts';
import { hasTokenMode, rayVersions } from '../bringup/ray-versions.ts';
import { findStaging } from '../bringup/staging.ts';
import { stagedPath } from '../bringup/sync.ts';
import { durationWords } from '../core/plan/words.ts';
import { compareVersions } from '../core/versions.ts';
import { reloadText } from '../head/boot-entry.ts';
import {
  type ClusterFile,
  changeCluster,
  createCluster,
  headHome,
  type RayHead,
  readCluster,
} from '../head/state-folder.ts';
import { credentialsOf, isCloud } from '../providers/clouds.ts';
import { requireClaim } from '../providers/local/claims.ts';
import { runningJobs, workersNow } from './cluster-now.ts';
import { launcherErrors } from './errors.ts';
import { launcherEvents } from './events.ts';
import { lockAndLook } from './head-lock.ts';
import { type HeadLook, headLook, idByKey, unmakeKey } from './head-look.ts';
import { letIn } from './let-in.ts';
import { localFiles } from './mounts.ts';
import { madeByRay } from './ray-compat.ts';
import { type RemoteCluster, startedElsewhere } from './remote-cluster.ts';
import { runtimeOf } from './runtime.ts';
import { shipRuntime, startMantad, versionOf } from './ship.ts';
import { untilOf } from './up.ts';
import { planUp, type UpPlan } from './up-plan.ts';

export interface UpRemoteRequest {
  readonly cluster: RemoteCluster;
  /** The state folders' home on this machine. */
  readonly home: string;
  readonly overrides: NonNullable<ClusterFile['overrides']>;
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

/** Ray's own page; what users speak to on 8265 is mantad. */
const dashboardPort = 8264;
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
  const { cluster, events } = request;
  const { head: host, spec, name } = cluster;
  if (look.cluster?.endingSince !== undefined) throw launcherErrors.HalfDown({ name });
  const headVersion = look.serving?.version ?? versionOf(look.supervisorRuntime ?? '');
  if (compareVersions(headVersion, version) > 0)
    throw launcherErrors.HeadNewer({ name, head: headVersion, client: version });
  if (look.freeBytes !== undefined && look.freeBytes < roomForFiles) throw bringupErrors.DiskFull({ node: host.name });
  const before = look.cluster;
  const { remote } = readCluster(cluster.folder) ?? {};
  const ray: RayHead = {
    id: before?.ray?.id ?? remote?.clusterId ?? idByKey(look, 'cluster'),
    instance:
      remote?.instance ??
      before?.ray?.instance ??
      look.record?.instance ??
      `head-${idByKey(look, 'head').slice(0, 12)}`,
    address: cluster.headAddress,
    gcsPort: gcsPortOf(spec),
    dashboardPort,
    loginShells: request.loginShells,
    usageStats: request.usageStats,
    ...(request.noRestart && { leaveWorkers: true }),
    mounts: mountsOnHead(spec.head.container !== undefined ? await findStaging(host, name, { signal }) : '', files),
  };
  const token = await tokenFor(request, look, signal);
  const order = headOrder(
    {
      spec,
      headAddress: ray.address,
      loginShells: ray.loginShells,
      usageStats: ray.usageStats,
      dashboardPort,
      ...(token !== undefined && { token }),
    },
    ray.instance,
    files,
  );
  const restart = request.restartOnly ? 'always' : request.noRestart ? 'never' : 'changed';
  const plan = await planUp({
    cluster,
    order,
    files,
    look,
    home: request.home,
    clusterId: ray.id,
    restart,
    startOnly: request.restartOnly,
    version,
    workersNow: () => workersNow(cluster, look, signal),
    runningJobs: async () => {
      const running = await runningJobs(cluster, look, signal);
      if (running === undefined) events.emit(launcherEvents.jobsUnknown, { host: host.name });
      return running ?? { total: 0, names: [] };
    },
    madeByRay: () => madeByRay(cluster, signal),
  });
  if (!(await request.agree(plan))) {
    await unmakeKey(host, name, look, signal);
    return { done: false, plan };
  }
  const cloud = isCloud(spec.provider.type);
  if (!cloud) {
    const claimant = { clusterId: ray.id, cluster: name, owner: ownerOf(), headAddress: ray.address };
    await requireClaim(host, claimant, ray.instance, { signal }).catch(async (error: unknown) => {
      await unmakeKey(host, name, look, signal);
      throw error;
    });
  }
  // Only a head that is this cluster's own: what is known here of another is not lost to one that was refused.
  remember(request);
  const synced = Promise.withResolvers<void>();
  const ending = new AbortController();
  const all = AbortSignal.any([signal, ending.signal]);
  let seen: HeadLook | undefined = look;
  let lettingIn: Promise<void> | undefined;
  const handOver = async (): Promise<void> => {
    // A host that was lost may have been rebooted: what ran on it is then another process, or none.
    const now = seen ?? (await lookAgain(host, name, all));
    seen = undefined;
    const runtime = await runtimeOf(request.env, all);
    const keys = letIn(cluster, now, events, all);
    lettingIn = keys.done;
    const [{ node }] = await Promise.all([
      shipRuntime(host, now, runtime, request.env, { signal: all, within: 600_000 }),
      synced.promise,
    ]);
    await keys.most();
    const record = recordFor(request, now, ray);
    const credential = cloud ? await credentialsOf(spec, request.env) : undefined;
    await putFolder(request, record, credential, all);
    const boot = await startMantad(host, name, now, { node, runtime }, { signal: all });
    request.onHandedOver(look.now);
    if (boot === 'none') events.emit(launcherEvents.noBoot, { host: host.name });
  };
  const lost = (why: Error): void => events.emit(bringupEvents.goingOn, { node: host.name, why: why.message });
  const connect = (): Promise<void> => host.connect({ signal: all, within: connectWithin });
  const handingOver = throughDrops(connect, handOver, lost, all);
  // What keeps mantad from being started is told at once, and not when the last setup command is through.
  handingOver.catch((error: unknown) => ending.abort(error));
  try {
    const brought = await bringUpNode(
      host,
      order,
      {
        events,
        connectWithin,
        startOnly: request.restartOnly,
        restart,
        allowNoAuth: spec.provider.manta.allowNoAuth,
        onSynced: () => synced.resolve(),
      },
      all,
    );
    await handingOver;
    await lettingIn;
    events.emit(launcherEvents.headUp, { host: host.name }, { id: `node ${host.name}`, state: 'done' });
    return { done: true, plan, head: brought };
  } catch (error) {
    ending.abort(error);
    synced.reject(error);
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

async function lookAgain(host: Host, cluster: string, signal: AbortSignal): Promise<HeadLook> {
  const { text, read } = headLook(cluster, true);
  return read((await host.sh(text, { signal })).stdout);
}

const ownerOf = (): string => `${userInfo().username}@${hostname()}`;

/** Ray's token; none where the Ray on the head knows of none and the file says that this is wanted. */
async function tokenFor(
  { cluster, loginShells, events }: UpRemoteRequest,
  look: HeadLook,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (cluster.spec.provider.manta.allowNoAuth) {
    const found = await rayVersions(cluster.head, { loginShells }, cluster.place, signal).catch(() => undefined);
    if (found !== undefined && !hasTokenMode(found)) {
      events.emit(launcherEvents.noAuth, { version: found.ray });
      return undefined;
    }
  }
  return look.rayToken ?? randomBytes(32).toString('hex');
}

/** The cluster's record on this machine: what the next command needs to find it again. */
function remember({ cluster, overrides, clock }: UpRemoteRequest): void {
  const { folder, headAddress } = cluster;
  const { config } = cluster.file;
  const known = readCluster(folder);
  const wanted = { engine: 'ray' as const, config, overrides, remote: { ...known?.remote, address: headAddress } };
  if (known === undefined) createCluster(folder, { ...wanted, createdAt: clock.now() });
  else changeCluster(folder, (record) => ({ ...record, ...wanted }));
}

function recordFor({ cluster, overrides, until }: UpRemoteRequest, look: HeadLook, ray: RayHead): ClusterFile {
  const { cluster: before } = look;
  return {
    format: 1,
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

/** Where the mounts lie on the head's own host, from which its workers get them. */
const mountsOnHead = (staging: string, { mounts }: NodeFiles): RayHead['mounts'] =>
  mounts.map(({ remote, directory }) => ({
    remote,
    local: staging === '' ? remote : stagedPath(staging, remote),
    directory,
  }));

/** What mantad's folder on the head begins with: the record, and the host keys that are known here. */
async function putFolder(
  { cluster }: UpRemoteRequest,
  record: ClusterFile,
  credential: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { head: host, name, folder } = cluster;
  const there = `${headHome}/clusters/${name}`;
  const pins = existsSync(folder.files.hosts)
    ? readdirSync(folder.files.hosts).filter((file) => file.endsWith('.pin'))
    : [];
  const write = (path: string, text: string): string =>
    `printf %s ${shellQuoted(text)} >${path}.new && sync -- ${path}.new && mv ${path}.new ${path} || exit 1\n`;
  const { code, stderr } = await host.sh(
    `umask 077; cd "$HOME" || exit 1
mkdir -p ${['backups', 'tokens', 'packages', 'logs', 'instances', 'hosts'].map((each) => `${there}/${each}`).join(' ')} || exit 1
${pins.map((pin) => `[ -s ${there}/hosts/${pin} ] || { ${write(`${there}/hosts/${pin}`, readFileSync(join(folder.files.hosts, pin), 'utf8'))} }`).join('\n')}
${credential === undefined ? '' : write(`${there}/credential`, `${credential}\n`)}${write(`${there}/cluster.json`, `${JSON.stringify(record)}\n`)}sync -- ${there} ${there}/hosts
${reloadText(name)}`,
    { signal },
  );
  if (code !== 0) throw launcherErrors.NotShipped({ host: host.name, what: 'the cluster file', detail: stderr.trim() });
}
