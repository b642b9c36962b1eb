import { rmSync } from 'node:fs';
import { clearInstances } from '../../autoscaler/teardown.ts';
import type { Duration } from '../../base/time/clock.ts';
import { targetOf } from '../../bringup/node/reach.ts';
import type { Cleared } from '../../core/cleared.ts';
import type { ClusterSpec } from '../../core/spec/cluster.ts';
import { listsLag, settlingTime } from '../../providers/clouds.ts';
import type { Provider, ProviderInstance } from '../../providers/provider.ts';
import { readCluster, readLaptopRecord } from '../../state/cluster-record.ts';
import { headAddresses, usesInside } from '../../state/head-address.ts';
import { reachedFrom, type StateFolder } from '../../state/state-folder.ts';
import { launcherErrors } from '../errors.ts';
import { launcherEvents } from '../events.ts';
import { type CloudRequest, openCloudOf, specFor } from './cloud-client.ts';
import { type CloudRemote, remember, remembered } from './cloud-record.ts';
import { canAskAgain, HeadLaunch } from './head-launch.ts';
import { type HeadCloud, patientCloud } from './patient-cloud.ts';

const bootsWithin = 900_000;
const lookEvery = 500;
/** An instance that has none by then gets no address outside. */
const outsideWithin = 10_000;

/**
 * Finds the head's instance, or asks for one, and waits until it has an address. What was asked for is written down
 * before the call: cut short, the next `up` finds it and never makes a second one.
 */
export async function ensureCloudHead(request: CloudRequest, signal: AbortSignal): Promise<ProviderInstance> {
  const provider = patientCloud(await openCloudOf(request, remembered(request).clusterId, 'make'), request.clock);
  // Where the file names no zones, a cloud may know in which ones the cluster can be.
  const spec = (await provider.learn(signal))(specFor(request));
  const gone = await isGone(provider, request, spec, signal);
  const launch = new HeadLaunch(request, spec, provider);
  if (gone) await launch.ask(signal);
  return await booted(provider, request, spec, launch, signal);
}

/** The head when it runs and has the addresses that it is going to have. */
async function booted(
  provider: HeadCloud,
  request: CloudRequest,
  spec: ClusterSpec,
  launch: HeadLaunch,
  signal: AbortSignal,
): Promise<ProviderInstance> {
  const { folder, clock, events } = request;
  let insideSince: number | undefined;
  let seen: string | undefined;
  for (const until = clock.now() + bootsWithin; ; ) {
    const known = remembered(request);
    const listed = await provider.list(signal);
    const [head, ...others] = liveHeads(listed, known);
    const { forLaptop, forWorkers } = headAddresses(head?.address ?? {}, spec);
    if (head?.state === 'running' && forLaptop !== undefined && forWorkers !== undefined) {
      insideSince ??= clock.now();
      const complete = usesInside(spec) || spec.auth.proxyCommand !== undefined || head.address?.outside !== undefined;
      if (complete || clock.now() - insideSince >= outsideWithin) {
        if (head.id !== known.instance) forgetKey(folder, forLaptop);
        const { id: instance, zone } = head;
        remember(folder, { instance, address: forLaptop, inside: forWorkers, zone });
        events.emit(launcherEvents.gotHead, { instance, address: forLaptop }, { id: 'head', state: 'done' });
        for (const { id } of others) events.emit(launcherEvents.otherHead, { instance: id, head: instance });
        return head;
      }
    }
    const late = listed.find(({ failed, launchToken }) => failed !== undefined && launchToken === known.launchToken);
    if (head === undefined && late?.failed !== undefined) await launch.askElsewhere(late, late.failed, signal);
    else if (head === undefined && seen !== undefined) await requireAlive(provider, folder.name, seen, signal);
    seen = head?.id ?? seen;
    if (clock.now() > until) throw launcherErrors.HeadNotBooted({ name: folder.name, seconds: bootsWithin / 1_000 });
    await clock.sleep(lookEvery, signal);
  }
}

/** Throws where the cloud says that somebody has ended it, such as a `down` on another machine. */
async function requireAlive(provider: HeadCloud, name: string, instance: string, signal: AbortSignal): Promise<void> {
  const last = await provider.lastKnown(instance, signal);
  if (last?.ended === true) throw launcherErrors.HeadEnded({ name, instance, reason: last.reason });
}

/** Addresses are used again: the key of the machine that had it before is not the key of this one. */
function forgetKey(folder: StateFolder, address: string): void {
  rmSync(targetOf({ name: address, address }, reachedFrom(folder)).pin.file, { force: true });
}

/**
 * Whether the cluster has no head. One that was there and is in no list may be missing from a list that lags: it is gone
 * when the cloud says that it has ended, or tells of a time at which it must have been known. So may one that was asked for
 * where the file does not want it any more.
 */
async function isGone(
  provider: HeadCloud,
  request: CloudRequest,
  spec: ClusterSpec,
  signal: AbortSignal,
): Promise<boolean> {
  const { folder, clock, events } = request;
  const known = remembered(request);
  const asked = known.askedAt ?? readCluster(folder)?.createdAt ?? clock.now();
  const until = clock.now() + 2 * listsLag;
  for (let told = false; ; told = true) {
    const listed = await provider.list(signal);
    if (liveHeads(listed, known).length > 0) return false;
    if (known.instance === undefined) {
      if (canAskAgain(known, spec) || clock.now() > asked + listsLag) return true;
    } else {
      const last = await provider.lastKnown(known.instance, signal);
      if (last?.ended === true || (last === undefined && clock.now() > asked + listsLag)) return true;
      // Such as one that somebody has stopped.
      if (clock.now() > until) throw launcherErrors.HeadNotListed({ name: folder.name, instance: known.instance });
      const { instance } = known;
      if (!told) events.emit(launcherEvents.headUnlisted, { instance }, { id: 'head', state: 'running' });
    }
    await clock.sleep(lookEvery, signal);
  }
}

/** The one that is known first, then the others by age. */
function liveHeads(listed: readonly ProviderInstance[], { instance }: Pick<CloudRemote, 'instance'>) {
  const rank = ({ id, launchedAt }: ProviderInstance): number => (id === instance ? 0 : launchedAt);
  return listed.filter(isLiveHead).sort((one, other) => rank(one) - rank(other));
}

const isLiveHead = ({ kind, state, failed }: ProviderInstance): boolean =>
  kind === 'head' && failed === undefined && (state === 'pending' || state === 'running');

/** The head that the cloud shows, up or on its way. */
export async function cloudHead(request: CloudRequest, signal: AbortSignal): Promise<ProviderInstance | undefined> {
  const { remote } = readLaptopRecord(request.folder) ?? {};
  if (remote?.clusterId === undefined) return undefined;
  const provider: Provider = await openCloudOf(request, remote.clusterId);
  return liveHeads(await provider.list(signal), remote)[0];
}

/**
 * Ends instances of the cluster, all or its workers alone, and looks again until the cloud shows none of them: for longer where
 * something was launched that its lists may not show yet. `unseen`: for how long that may be so of the workers. `onNone`: they
 * show none for the first time.
 */
export async function endCloudInstances(
  request: CloudRequest,
  which: 'all' | 'workers',
  { unseen, onNone }: { readonly unseen: Duration; readonly onNone?: () => void },
  signal: AbortSignal,
): Promise<Cleared> {
  const { clock } = request;
  const { clusterId, instance, askedAt = 0 } = remembered(request);
  // A head that was seen is in the lists.
  const head = instance === undefined ? askedAt + listsLag - clock.now() : 0;
  const settles = settlingTime(Math.max(unseen, head));
  const provider = await openCloudOf(request, clusterId);
  const kinds = which === 'all' ? (['worker', 'head'] as const) : (['worker'] as const);
  return await clearInstances(provider, { clock, kinds, settles, ...(onNone && { onNone }) }, signal);
}
