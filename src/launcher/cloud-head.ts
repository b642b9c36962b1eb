import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { promisify } from 'node:util';
import { clearInstances } from '../autoscaler/teardown.ts';
import type { Clock, Duration } from '../base/clock.ts';
import type { EventSink } from '../base/events.ts';
import { makeFolder } from '../base/json-file.ts';
import type { Cleared } from '../core/cleared.ts';
import { rayTags } from '../core/ray-tags.ts';
import type { ClusterSpec } from '../core/spec/cluster.ts';
import { type GivenFile, specOf } from '../head/load-spec.ts';
import { type ClusterFile, changeCluster, createCluster, readCluster, type StateFolder } from '../head/state-folder.ts';
import {
  type CloudProvider,
  credentialsOf,
  listsLag,
  openCloud,
  settlingTime,
  usualUser,
} from '../providers/clouds.ts';
import type { Provider, ProviderInstance } from '../providers/provider.ts';
import { launcherErrors } from './errors.ts';
import { launcherEvents } from './events.ts';

const run = promisify(execFile);

export interface CloudHeadRequest {
  readonly folder: StateFolder;
  readonly file: GivenFile;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly events: EventSink;
}

const bootsWithin = 900_000;
const lookEvery = 500;

/**
 * Finds the head's instance, or asks for one, and waits until it has an address. What was asked for is written down
 * before the call: cut short, the next `up` finds it and never makes a second one.
 */
export async function ensureCloudHead(request: CloudHeadRequest, signal: AbortSignal): Promise<ProviderInstance> {
  const { folder, file, clock, events } = request;
  const spec = specOf(file);
  let known = remembered(request);
  const provider = await cloudOf(request, spec, known.clusterId);
  const ask = async (): Promise<readonly ProviderInstance[]> => {
    known = { ...known, askedAt: clock.now() };
    remember(folder, { ...known, instance: undefined, address: undefined });
    events.emit(launcherEvents.asking, { type: spec.headType }, { id: 'head', state: 'running' });
    const tags = { [rayTags.kind]: 'head' };
    const asked = { token: known.launchToken, type: spec.headType, count: 1, market: 'on-demand', tags } as const;
    return await provider.launch(asked, signal);
  };
  if (await isGone(provider, known, request, signal)) {
    // A token that once made a head which is gone makes no second one.
    if (known.instance !== undefined) known = { ...known, launchToken: newToken() };
    if ((await ask()).length === 0) {
      known = { ...known, launchToken: newToken() };
      await ask();
    }
  }
  for (const until = clock.now() + bootsWithin; ; ) {
    const [head, ...others] = await liveHeads(provider, known, signal);
    if (head?.state === 'running' && head.address !== undefined) {
      remember(folder, { ...known, instance: head.id, address: head.address });
      events.emit(launcherEvents.gotHead, { instance: head.id, address: head.address }, { id: 'head', state: 'done' });
      for (const { id } of others) events.emit(launcherEvents.otherHead, { instance: id, head: head.id });
      return head;
    }
    if (clock.now() > until) throw launcherErrors.HeadNotBooted({ name: folder.name, seconds: bootsWithin / 1_000 });
    await clock.sleep(lookEvery, signal);
  }
}

/**
 * Whether the cluster has no head. One that was there and is in no list may be missing from a list that lags: it is gone
 * when the cloud says that it has ended, or tells of a time at which it must have been known.
 */
async function isGone(
  provider: CloudProvider,
  known: CloudRemote,
  { folder, clock, events }: CloudHeadRequest,
  signal: AbortSignal,
): Promise<boolean> {
  const asked = known.askedAt ?? readCluster(folder)?.createdAt ?? clock.now();
  const until = clock.now() + 2 * listsLag;
  for (let told = false; ; told = true) {
    if ((await liveHeads(provider, known, signal)).length > 0) return false;
    if (known.instance === undefined) return true;
    const last = await provider.lastKnown(known.instance, signal);
    if (last?.ended === true || (last === undefined && clock.now() > asked + listsLag)) return true;
    // Such as one that somebody has stopped.
    if (clock.now() > until) throw launcherErrors.HeadNotListed({ name: folder.name, instance: known.instance });
    if (!told) events.emit(launcherEvents.headUnlisted, { instance: known.instance }, { id: 'head', state: 'running' });
    await clock.sleep(lookEvery, signal);
  }
}

/** The one that is known first, then the others by age. */
async function liveHeads(provider: Provider, { instance }: CloudRemote, signal: AbortSignal) {
  const rank = ({ id, launchedAt }: ProviderInstance): number => (id === instance ? 0 : launchedAt);
  return (await provider.list(signal)).filter(isLiveHead).sort((one, other) => rank(one) - rank(other));
}

/** Whether the cloud shows a head of the cluster, up or on its way. */
export async function hasCloudHead(request: CloudHeadRequest, signal: AbortSignal): Promise<boolean> {
  const { folder, file } = request;
  const { clusterId } = readCluster(folder)?.remote ?? {};
  if (clusterId === undefined) return false;
  const provider = await cloudOf(request, specOf(file), clusterId);
  return (await provider.list(signal)).some(isLiveHead);
}

/**
 * Ends instances of the cluster, all or its workers alone, and looks again until the cloud shows none of them: for longer where
 * something was launched that its lists may not show yet. `unseen`: for how long that may be so of the workers.
 */
export async function endCloudInstances(
  request: CloudHeadRequest,
  which: 'all' | 'workers',
  unseen: Duration,
  signal: AbortSignal,
): Promise<Cleared> {
  const { clock, file } = request;
  const { clusterId, instance, askedAt = 0 } = remembered(request);
  // A head that was seen is in the lists.
  const head = instance === undefined ? askedAt + listsLag - clock.now() : 0;
  const settles = settlingTime(Math.max(unseen, head));
  const provider = await cloudOf(request, specOf(file), clusterId);
  const kinds = which === 'all' ? (['worker', 'head'] as const) : (['worker'] as const);
  return await clearInstances(provider, { clock, kinds, settles }, signal);
}

const isLiveHead = ({ kind, state }: ProviderInstance): boolean =>
  kind === 'head' && (state === 'pending' || state === 'running');

async function cloudOf(
  { folder, env }: CloudHeadRequest,
  spec: ClusterSpec,
  clusterId: string,
): Promise<CloudProvider> {
  const credential = await credentialsOf(spec, env);
  const publicKey = await ownPublicKey(folder, spec);
  return await openCloud({
    cluster: folder.name,
    clusterId,
    spec: () => spec,
    login: () => ({ user: spec.auth.user ?? usualUser, publicKey }),
    credential: () => credential,
  });
}

/** The public half of the key that this machine logs in to the head with; made where the file names none. */
async function ownPublicKey(folder: StateFolder, { auth }: ClusterSpec): Promise<string> {
  const key = loginKey(folder, auth.privateKey);
  const given = (auth.publicKey ?? `${key}.pub`).replace(/^~(?=\/)/, homedir());
  if (existsSync(given)) return readFileSync(given, 'utf8').trim();
  if (!existsSync(key)) {
    makeFolder(folder.path);
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', `manta ${folder.name}`, '-f', key]);
  }
  return (await run('ssh-keygen', ['-y', '-f', key])).stdout.trim();
}

/** Path of the private key for the head. */
const loginKey = (folder: StateFolder, given: string | undefined): string =>
  given === undefined ? folder.files.key : given.replace(/^~(?=\/)/, homedir());

type Remote = NonNullable<ClusterFile['remote']>;
interface CloudRemote extends Remote {
  readonly clusterId: string;
  readonly launchToken: string;
}

const newToken = (): string => `head-${randomBytes(6).toString('hex')}`;

/** What is known of the cluster's head; written down first where nothing is. */
function remembered({ folder, file, clock }: CloudHeadRequest): CloudRemote {
  const { remote } = readCluster(folder) ?? {};
  if (remote?.clusterId !== undefined && remote.launchToken !== undefined) return remote as CloudRemote;
  const made = { clusterId: randomBytes(8).toString('hex'), launchToken: newToken() };
  if (readCluster(folder) === undefined)
    createCluster(folder, { createdAt: clock.now(), engine: 'ray', config: file.config, remote: made });
  else remember(folder, made);
  return made;
}

function remember(folder: StateFolder, remote: { readonly [Key in keyof Remote]: Remote[Key] | undefined }): void {
  changeCluster(folder, ({ ended: _, ...record }) => ({
    ...record,
    remote: JSON.parse(JSON.stringify(remote)) as Remote,
  }));
}
