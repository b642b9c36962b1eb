import { MantaError } from '../../base/errors.ts';
import type { EventSink } from '../../base/events.ts';
import { takeLock } from '../../base/files/lock.ts';
import type { Host } from '../../base/host.ts';
import { readShell, shellCommand } from '../../base/shell/shell-file.ts';
import { mayComeUp, sshErrors } from '../../base/ssh/errors.ts';
import type { Clock } from '../../base/time/clock.ts';
import { clearHosts } from '../../bringup/node/clear-hosts.ts';
import type { HostToEnd } from '../../bringup/node/end-host.ts';
import { containersOf } from '../../bringup/node/end-node.ts';
import type { Cleared } from '../../core/cleared.ts';
import type { ClusterSpec } from '../../core/spec/cluster.ts';
import { ownHosts } from '../../core/spec/local.ts';
import type { Remain } from '../../providers/clouds.ts';
import { changeCluster, readCluster } from '../../state/cluster-record.ts';
import { loadSpec } from '../../state/load-spec.ts';
import { hasCronText, removeBootText } from '../../state/mantad/boot-entry.ts';
import { folderOnHead, removeCluster } from '../../state/state-folder.ts';
import { launcherErrors } from '../errors.ts';
import { launcherEvents } from '../events.ts';
import { lockAndLook } from '../head/lock.ts';
import { type HeadLook, idByKey } from '../head/look.ts';
import { stopMantad } from '../head/ship/ship.ts';
import { clearForRay } from '../reach/ray-compat.ts';
import type { RemoteCluster } from '../reach/remote-cluster.ts';
import { reachWorker } from '../reach/worker-key.ts';
import { endWorkers } from './workers.ts';

const removal = readShell(new URL('./remove-folder.sh', import.meta.url));

export interface DownRemoteRequest {
  readonly cluster: RemoteCluster;
  readonly workersOnly: boolean;
  /** Of the workers, as many as `min_workers` says stay. */
  readonly keepMinWorkers: boolean;
  /** Hosts that do not answer are given up. */
  readonly forget: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly events: EventSink;
}

export interface DownRemoteResult extends Cleared {
  readonly wasThere: boolean;
  /** Of a cloud: what carries the cluster's tag and is still there. */
  readonly remains?: readonly Remain[];
}

export const hostWithin = 20_000;

/**
 * Ends the cluster over SSH alone: mantad first, so that nothing is launched any more, then Ray on all workers at once,
 * then the head. Each host is looked at again before it counts as ended; those that do not answer hold nobody up.
 */
export async function downRemote(request: DownRemoteRequest, signal: AbortSignal): Promise<DownRemoteResult> {
  const { cluster, events } = request;
  const taken = takeLock(cluster.folder.files.commandLock);
  if ('holder' in taken) throw launcherErrors.Busy({ name: cluster.name, pid: taken.holder.pid });
  const unlocks: (() => Promise<void>)[] = [];
  try {
    const known = readCluster(cluster.folder) !== undefined;
    events.emit(launcherEvents.ending, { name: cluster.name, what: 'mantad' }, { id: 'down', state: 'running' });
    const look = await lockIfReached(request, unlocks, signal);
    if (look instanceof Error && !request.forget)
      throw launcherErrors.HeadUnreached(
        { name: cluster.name, host: cluster.head.name, why: look.message, next: nextOf(look) },
        look,
      );
    if (known && !request.workersOnly)
      changeCluster(cluster.folder, (now) => ({ ...now, endingSince: now.endingSince ?? request.clock.now() }));
    if (request.workersOnly && !(look instanceof Error) && look.serving !== undefined)
      return await endWorkers(request, look, signal);
    const result = await endAll(request, look instanceof Error ? undefined : look, signal);
    const left = look instanceof Error ? [...result.left, { host: cluster.head.name, why: look.message }] : result.left;
    await Promise.all(unlocks.splice(0).map((unlock) => unlock()));
    if (!request.workersOnly && (left.length === 0 || request.forget)) {
      // The folder holds the sockets of the connections: without it nobody could use or end them.
      await cluster.disconnect();
      removeCluster(cluster.folder);
    }
    if (!request.workersOnly) await clearForRay(cluster, signal).catch(() => {});
    const wasThere = known || (look instanceof Error ? false : look.cluster !== undefined);
    return { wasThere, ended: result.ended, left };
  } finally {
    await Promise.all(unlocks.map((unlock) => unlock()));
    taken.lock.release();
  }
}

/** What the reason itself advises, where waiting does not help. */
const nextOf = (why: Error): string | undefined =>
  why instanceof MantaError && !mayComeUp(why) ? why.hint : undefined;

/** The head as it is while no other command changes it; the reason where it cannot be reached. */
export async function lockIfReached(
  { cluster, clock }: DownRemoteRequest,
  unlocks: (() => Promise<void>)[],
  signal: AbortSignal,
): Promise<HeadLook | Error> {
  try {
    await cluster.head.connect({ signal, within: hostWithin });
    const { look, unlock } = await lockAndLook(cluster, 'down', clock, signal);
    unlocks.push(unlock);
    return look;
  } catch (error) {
    signal.throwIfAborted();
    if (launcherErrors.BusyElsewhere.is(error)) throw error;
    return error as Error;
  }
}

async function endAll(request: DownRemoteRequest, look: HeadLook | undefined, signal: AbortSignal): Promise<Cleared> {
  const { cluster, events, workersOnly } = request;
  const { head, name } = cluster;
  if (look !== undefined) {
    if (!workersOnly) await markEnding(head, name, look, request.clock.now(), signal);
    await stopMantad(head, name, look, { signal });
  }
  const workers = workersOf(cluster, look);
  events.emit(
    launcherEvents.ending,
    { name, what: `Ray on ${workers.length} workers${workersOnly ? '' : ' and the head'}` },
    { id: 'down', state: 'running' },
  );
  const hosts = workers.map((address) => ({
    name: address,
    open: () => reachWorker(cluster, address, signal, hostWithin),
  }));
  const own = look !== undefined && !workersOnly ? [{ name: head.name, open: async () => head }] : [];
  const { ended, left: notEnded } = await clearHosts([...hosts, ...own], whatToEnd(cluster, look), signal);
  const left = [...notEnded];
  // Until every host was reached the head keeps what the next `down` needs, from whatever machine it is run: which hosts
  // there were, and the key and the claims to take back from them.
  const complete = left.length === 0 || (request.forget && !left.some(({ host }) => host === head.name));
  if (look !== undefined && !workersOnly && complete) {
    const rest = await removeHead(head, name, signal);
    if (rest.length > 0) left.push({ host: head.name, why: `still running: ${rest.join(', ')}` });
  }
  for (const each of left) events.emit(launcherEvents.left, each);
  events.emit(
    launcherEvents.endedThere,
    { name, hosts: ended.length, left: left.map(({ host }) => host) },
    { id: 'down', state: left.length === 0 ? 'done' : 'failed' },
  );
  return { ended, left };
}

/** Every host that may carry something of the cluster: those of the file, now and at the last `up`, and those that mantad had. */
function workersOf(cluster: RemoteCluster, look: HeadLook | undefined): readonly string[] {
  const named = specsOf(cluster, look).flatMap((spec) =>
    ownHosts(spec).pools.flatMap((pool) => pool.hosts.map((each) => each.name)),
  );
  return [...new Set([...named, ...(look?.hosts ?? [])])].filter((address) => address !== cluster.headAddress);
}

/** What the file says, and what it said when the cluster was started: somebody may have edited it since. */
function specsOf({ spec, name, folder }: RemoteCluster, look: HeadLook | undefined): readonly ClusterSpec[] {
  const before = [readCluster(folder), look?.cluster].flatMap((record) => {
    try {
      return record?.config === undefined ? [] : [loadSpec({ name, config: record.config })];
    } catch {
      // What was started with it is still known to mantad.
      return [];
    }
  });
  return [spec, ...before];
}

/** Everything that a host may carry of the cluster. */
function whatToEnd(cluster: RemoteCluster, look: HeadLook | undefined): HostToEnd {
  const all = specsOf(cluster, look).flatMap(containersOf);
  const containers = [...new Map(all.map((each) => [`${each.engine} ${each.name}`, each])).values()];
  const clusterId = look?.cluster?.ray.id ?? (look?.publicKey && idByKey(look, 'cluster'));
  return {
    cluster: cluster.name,
    containers,
    ...(look?.publicKey !== undefined && { publicKey: look.publicKey }),
    ...(clusterId !== undefined && { clusterId }),
  };
}

/** From here on no supervisor starts mantad again, whatever happens to this command. */
export async function markEnding(
  head: Host,
  name: string,
  { cluster: record }: HeadLook,
  now: number,
  signal: AbortSignal,
): Promise<void> {
  if (record === undefined || record.endingSince !== undefined) return;
  const marked = Buffer.from(`${JSON.stringify({ ...record, endingSince: now })}\n`);
  try {
    await head.put(`~/${folderOnHead(name).files.cluster}`, marked, 0o600, { signal });
  } catch (error) {
    // A full disk is often why it is taken down; the mark only helps a `down` that is cut short.
    if (!sshErrors.NotWritten.is(error)) throw error;
  }
}

/** Takes the cluster's folder away, and what a full disk may have kept from being taken back before; names what stays. */
async function removeHead(head: Host, name: string, signal: AbortSignal): Promise<readonly string[]> {
  const texts = [
    shellCommand(removal, { folder: folderOnHead(name).path }),
    removeBootText(name),
    `${hasCronText(name)} && echo 'manta-left the entry of cron'`,
    'exit 0\n',
  ];
  const { stdout } = await head.sh(texts.join('\n'), { signal });
  return [...stdout.matchAll(/^manta-left (.*)$/gm)].map((match) => match[1] ?? '');
}
