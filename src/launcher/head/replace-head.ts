import { endInstances } from '../../autoscaler/teardown.ts';
import type { Clock } from '../../base/time/clock.ts';
import { launcherErrors } from '../errors.ts';
import { launcherEvents } from '../events.ts';
import { type RunningJobs, runningJobs } from '../reach/current-cluster.ts';
import type { RemoteCluster } from '../reach/remote-cluster.ts';
import { type CloudRequest, openCloudOf } from './cloud-client.ts';
import { newToken, noHead, remember, remembered } from './cloud-record.ts';
import { lockAndLook } from './lock.ts';
import { headLook } from './look.ts';
import { stopMantad } from './ship/ship.ts';

const connectWithin = 20_000;

/** What runs on a head that is to be replaced; undefined where it does not say. */
export async function jobsOnHead(cluster: RemoteCluster, signal: AbortSignal): Promise<RunningJobs | undefined> {
  try {
    await cluster.head.connect({ signal, within: connectWithin });
    const { text, read } = headLook(cluster.name, false);
    return await runningJobs(cluster, read((await cluster.head.sh(text, { signal })).stdout), signal);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/**
 * Ends the instance of the head, so that the next look finds none: mantad first, so that it launches nothing any more. The
 * cluster keeps its id, and with it its workers, until their leases expire.
 */
export async function endOldHead(
  request: CloudRequest,
  openOld: () => RemoteCluster,
  instance: string,
  signal: AbortSignal,
): Promise<void> {
  const { folder, clock, events } = request;
  // One that never got an address runs nothing.
  if (remembered(request).address !== undefined) await stopOnHead(openOld(), clock, signal);
  events.emit(launcherEvents.replacingHead, { instance }, { id: 'head', state: 'running' });
  const provider = await openCloudOf(request, remembered(request).clusterId);
  const only = {
    list: async (during: AbortSignal) => (await provider.list(during)).filter(({ id }) => id === instance),
    terminate: (ids: readonly string[], during: AbortSignal) => provider.terminate(ids, during),
  };
  const { left } = await endInstances(only, { clock, kinds: ['head'] }, signal);
  if (left.length > 0) throw launcherErrors.StillThere({ name: folder.name, what: [instance] });
  remember(folder, { ...noHead, launchToken: newToken(), asked: undefined, askedAt: undefined });
}

async function stopOnHead(cluster: RemoteCluster, clock: Clock, signal: AbortSignal): Promise<void> {
  const { head, name } = cluster;
  try {
    await head.connect({ signal, within: connectWithin });
    const { look, unlock } = await lockAndLook(cluster, 'up', clock, signal);
    try {
      await stopMantad(head, name, look, { signal });
    } finally {
      await unlock();
    }
    // The folder holds the sockets of the connections, which lead to a machine that goes.
    await cluster.disconnect();
  } finally {
    await cluster.close();
  }
}
