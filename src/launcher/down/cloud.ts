import { takeLock } from '../../base/files/lock.ts';
import type { Host } from '../../base/host.ts';
import type { Duration } from '../../base/time/clock.ts';
import { type CloudCluster, type CloudProvider, listsLag, type Remain } from '../../providers/clouds.ts';
import { descriptorFor } from '../../providers/table.ts';
import { changeCluster, readCluster } from '../../state/cluster-record.ts';
import { removeCluster } from '../../state/state-folder.ts';
import { launcherErrors } from '../errors.ts';
import { launcherEvents } from '../events.ts';
import { type CloudRequest, clientFor, openCloudOf, specFor } from '../head/cloud-client.ts';
import { endCloudInstances } from '../head/cloud-head.ts';
import { forgetHead, remembered } from '../head/cloud-record.ts';
import { headLook } from '../head/look.ts';
import { patiently } from '../head/patient-cloud.ts';
import { stopMantad } from '../head/ship/ship.ts';
import { whyOf } from './remains-words.ts';
import { type DownRemoteRequest, type DownRemoteResult, hostWithin, lockIfReached, markEnding } from './remote.ts';
import { endWorkers } from './workers.ts';

/** A cloud's instances go by its own order, and with them all that is on them; what is left is what the cloud still lists. */
export async function downCloud(down: DownRemoteRequest, signal: AbortSignal): Promise<DownRemoteResult> {
  const { cluster, events, clock, env, workersOnly } = down;
  const { folder, file, head, name } = cluster;
  const taken = takeLock(folder.files.commandLock);
  if ('holder' in taken) throw launcherErrors.Busy({ name, pid: taken.holder.pid });
  const unlocks: (() => Promise<void>)[] = [];
  try {
    if (!workersOnly) changeCluster(folder, (now) => ({ ...now, endingSince: now.endingSince ?? clock.now() }));
    // The code of a cloud takes a while to load, as long as a host takes to answer.
    descriptorFor(cluster.spec, 'cloud')
      .load()
      .catch(() => {});
    // mantad first, so that nothing is launched any more; a head that does not answer is ended all the same.
    const look = await lockIfReached(down, unlocks, signal);
    if (workersOnly && !(look instanceof Error) && look.serving !== undefined)
      return await endWorkers(down, look, signal);
    if (!(look instanceof Error)) {
      await markEnding(head, name, look, clock.now(), signal);
      await stopMantad(head, name, look, { signal });
    }
    const unseen = look instanceof Error ? unseenOf(down) : await unseenOn(head, name, signal).catch(() => listsLag);
    // The head goes with the rest, and the mark keeps others off it meanwhile.
    await Promise.all(unlocks.splice(0).map((unlock) => unlock()));
    const request = { folder, file, env, clock, events };
    if (workersOnly) return { wasThere: true, ...(await endCloudInstances(request, 'workers', { unseen }, signal)) };
    await cluster.disconnect();
    return await endInCloud(request, unseen, down.forget, signal);
  } finally {
    await Promise.all(unlocks.map((unlock) => unlock()));
    taken.lock.release();
  }
}

/** As `down` of a cluster whose head this machine does not reach, or that has none: by what the cloud lists alone. */
export async function downWithoutHead(
  request: CloudRequest,
  { unseen, forget }: { readonly unseen: Duration; readonly forget: boolean },
  signal: AbortSignal,
): Promise<DownRemoteResult> {
  const { folder, clock } = request;
  const taken = takeLock(folder.files.commandLock);
  if ('holder' in taken) throw launcherErrors.Busy({ name: folder.name, pid: taken.holder.pid });
  try {
    changeCluster(folder, (now) => ({ ...now, endingSince: now.endingSince ?? clock.now() }));
    return await endInCloud(request, unseen, forget, signal);
  } finally {
    taken.lock.release();
  }
}

/**
 * The instances, and what was made beside them as soon as none is shown. This machine keeps what it knows of the cluster until
 * nothing is left that should have gone, so that the next `down` completes it.
 */
async function endInCloud(
  request: CloudRequest,
  unseen: Duration,
  forget: boolean,
  signal: AbortSignal,
): Promise<DownRemoteResult> {
  const { folder, events } = request;
  const { name } = folder;
  events.emit(launcherEvents.ending, { name, what: 'the instances' }, { id: 'down', state: 'running' });
  const rest = await openCloudOf(request, remembered(request).clusterId);
  let releasing: Promise<void> | undefined;
  const onNone = (): void => {
    const what = 'what was made for it in the cloud';
    events.emit(launcherEvents.ending, { name, what }, { id: 'down', state: 'running' });
    releasing = rest.release(signal);
    releasing.catch(() => {});
  };
  const { ended, left } = await endWith(
    () => endCloudInstances(request, 'all', { unseen, onNone }, signal),
    () => releasing,
  );
  const remains = left.length === 0 ? await remainsOf(rest, request, signal) : [];
  const stuck = remains.filter(({ keeps }) => keeps === undefined);
  const complete = left.length === 0 && stuck.length === 0;
  if (left.length === 0) forgetHead(folder);
  if (complete || forget) removeCluster(folder);
  const names = [...left.map(({ host }) => host), ...stuck.map(({ kind, id }) => `${kind} ${id}`)];
  const outcome = { name, hosts: ended.length, left: names };
  events.emit(launcherEvents.endedThere, outcome, { id: 'down', state: complete ? 'done' : 'failed' });
  return { wasThere: true, ended, left, remains };
}

/** None of the other's calls is under way when this ends, whatever came of either. */
async function endWith<Value>(work: () => Promise<Value>, other: () => Promise<void> | undefined): Promise<Value> {
  try {
    const value = await work();
    await other();
    return value;
  } catch (error) {
    await other()?.catch(() => {});
    throw error;
  }
}

async function remainsOf(
  provider: CloudProvider,
  { events }: CloudRequest,
  signal: AbortSignal,
): Promise<readonly Remain[]> {
  const remains = await provider.remains(signal);
  for (const remain of remains) {
    const { kind, id, cost } = remain;
    events.emit(launcherEvents.remains, { kind, id, why: whyOf(remain), cost });
  }
  return remains;
}

/** The cluster of this name that the cloud shows, for a machine that knows nothing of it. Throws where there are several. */
export async function findInCloud(request: CloudRequest, signal: AbortSignal): Promise<CloudCluster | undefined> {
  const module = await descriptorFor(specFor(request), 'cloud').load();
  const client = await clientFor(request, '', 'look');
  const found = await patiently(async () => (await module.clustersOf?.(client, signal)) ?? [], request.clock, signal);
  if (found.length > 1) throw launcherErrors.SeveralClusters({ name: request.folder.name, found });
  return found[0];
}

/** From here on this machine knows the cluster, and completes what it begins. */
export const adopt = (request: CloudRequest, { id }: CloudCluster): void => void remembered(request, id);

/** What a head that does not answer has launched, nobody knows; one that is gone launches nothing. */
function unseenOf({ cluster, clock }: DownRemoteRequest): Duration {
  const { ended } = readCluster(cluster.folder) ?? {};
  return ended?.headGone === true ? ended.at + listsLag - clock.now() : listsLag;
}

/** For how long the cloud's lists may not show all that was launched there. */
async function unseenOn(head: Host, cluster: string, signal: AbortSignal): Promise<Duration> {
  const { text, read } = headLook(cluster, false);
  const { unseenUntil = 0, now } = read((await head.sh(text, { signal, within: hostWithin })).stdout);
  return unseenUntil - now;
}
