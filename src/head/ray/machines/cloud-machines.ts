import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { loopSettings } from '../../../autoscaler/settings.ts';
import { namesIn } from '../../../base/files/json-file.ts';
import type { Host } from '../../../base/host.ts';
import { sshHost } from '../../../base/ssh/host.ts';
import type { SshTarget } from '../../../base/ssh/target.ts';
import { thisHost } from '../../../base/this-host.ts';
import type { Duration } from '../../../base/time/clock.ts';
import { doubling, retry } from '../../../base/time/retry.ts';
import { bootWatchdog } from '../../../bringup/lease/lease.ts';
import { targetOf } from '../../../bringup/node/reach.ts';
import type { Cleared } from '../../../core/cleared.ts';
import { mantaTags, type RayStatus, rayTags } from '../../../core/ray-tags.ts';
import type { ClusterSpec } from '../../../core/spec/cluster.ts';
import { type CloudProvider, type HeadIdentity, openCloud, usualUser } from '../../../providers/clouds.ts';
import type { LaunchRequest, Provider, ProviderInstance } from '../../../providers/provider.ts';
import { type RayHead, readCluster } from '../../../state/cluster-record.ts';
import { endedTags } from '../../../state/ended-tags.ts';
import { reachedFrom, type StateFolder } from '../../../state/state-folder.ts';
import type { BackendContext } from '../../backend/backend.ts';
import { GoneMachines } from './gone-machines.ts';
import type { Machines } from './machines.ts';
import { UnseenLaunches } from './unseen-launches.ts';

const learnWithin = 10_000;
/** A machine without a lease does not end itself before mantad would give it up, however short leases are. */
const noLeaseFor = loopSettings.timeouts.allocated;

/** Instances of a cloud. They accept the cluster's own key, which the head alone has. */
export async function cloudMachines(context: BackendContext, head: RayHead): Promise<Machines> {
  const { folder, spec } = context;
  const publicKey = readFileSync(`${folder.files.key}.pub`, 'utf8').trim();
  // A later `up` may hand over other data, and another credential.
  const now = (): RayHead => {
    const record = readCluster(folder);
    return record?.role === 'head' ? record.ray : head;
  };
  const user = (): string => now().prepared?.loginUser ?? spec().auth.user ?? usualUser;
  const cloud: CloudProvider = await openCloud({
    cluster: folder.name,
    clusterId: head.id,
    spec,
    login: () => ({ user: user(), publicKey }),
    bootProgram: () =>
      bootWatchdog(folder.name, user(), Math.max(spec().provider.manta.lease, noLeaseFor), cloud.endProgram),
    identity: () => identityOf(now(), folder),
    prepared: () => now().prepared,
  });
  const machines = new CloudMachines(context, head, cloud, user);
  await machines.learn(AbortSignal.timeout(learnWithin));
  return machines;
}

class CloudMachines implements Machines {
  readonly powersOff = true;
  readonly endProgram: string | undefined;
  readonly provider: Provider;
  readonly #context: BackendContext;
  readonly #head: RayHead;
  readonly #cloud: CloudProvider;
  readonly #user: () => string;
  readonly #unseen: UnseenLaunches;
  readonly #gone: GoneMachines;
  readonly #addresses = new Map<string, string>();
  readonly #open = new Map<string, { readonly host: Host; readonly address: string }>();
  #learned: ((spec: ClusterSpec) => ClusterSpec) | undefined;

  constructor(context: BackendContext, head: RayHead, cloud: CloudProvider, user: () => string) {
    const unseen = new UnseenLaunches(context.folder.files.unseen, context.clock);
    this.#context = context;
    this.#head = head;
    this.#cloud = cloud;
    this.#user = user;
    this.endProgram = cloud.endProgram;
    this.#unseen = unseen;
    this.#gone = new GoneMachines(context.clock);
    this.provider = {
      list: (signal) => this.#list(signal),
      launch: (request, signal) => unseen.launch(() => cloud.launch(this.#withHash(request), signal)),
      terminate: (ids, signal) => cloud.terminate(ids, signal),
      tag: (id, tags, signal) => cloud.tag(id, tags, signal),
      ...(cloud.notices && { notices: cloud.notices }),
      ...(cloud.slices && { slices: true }),
      ...(cloud.stop && { stop: (ids, signal) => cloud.stop?.(ids, signal) ?? Promise.resolve() }),
    };
  }

  /** A tag that cannot be written keeps nobody from work. */
  async noteStatus(machine: string, status: RayStatus, signal: AbortSignal): Promise<void> {
    await this.#cloud.tag(machine, { [rayTags.status]: status }, signal).catch(() => {});
  }

  /** Whether the cloud answered. Until then the file alone counts; that the cloud is silent, the loop tells. */
  async learn(signal: AbortSignal): Promise<boolean> {
    const within = AbortSignal.any([signal, AbortSignal.timeout(learnWithin)]);
    const learned = await this.#cloud.learn(within).catch(() => undefined);
    this.#learned = learned ?? this.#learned;
    return learned !== undefined;
  }

  /** What was prepared for the cluster may be other data now. */
  reloaded(): void {
    void this.learn(AbortSignal.timeout(learnWithin)).then(() => this.#context.wake());
  }

  hostOf({ id, ...given }: ProviderInstance): Host {
    if (id === this.#head.instance) return thisHost();
    const known = this.#open.get(id);
    // What the cloud lists counts more than what Ray calls it, which may be all that is known for a while.
    const address = this.#addresses.get(id) ?? given.address?.inside ?? known?.address ?? '';
    if (known?.address === address) return known.host;
    void known?.host.close();
    const host = sshHost(this.#target(id, address), { clock: this.#context.clock });
    this.#open.set(id, { host, address });
    return host;
  }

  addressOf(machine: string): string | undefined {
    return this.#addresses.get(machine);
  }

  complete(spec: ClusterSpec): ClusterSpec {
    return withoutHead(spec, this.#learned?.(spec) ?? spec);
  }

  async keep(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    await retry(
      async () => {
        if (this.#learned === undefined && !(await this.learn(signal))) throw new Error('the cloud did not answer');
      },
      { clock, signal, pause: doubling(1_000, 60_000) },
    ).catch(() => {});
  }

  settles(): Duration {
    return this.#unseen.settles();
  }

  async endHead(left: Cleared['left'], signal: AbortSignal): Promise<void> {
    const { folder, clock } = this.#context;
    const { instance } = this.#head;
    const { since = clock.now(), why = 'requested' } = readCluster(folder)?.turningOff ?? {};
    // Anyone who asks later finds it there; the end does not depend on it.
    await this.#cloud.tag(instance, endedTags.of({ at: since, why, left }), signal).catch(() => {});
    await this.#cloud.terminate([instance], signal);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ host }) => host.close()));
  }

  async #list(signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    const instances = await this.#cloud.list(signal);
    this.#unseen.listed(instances);
    for (const { id, address } of instances) if (address?.inside !== undefined) this.#addresses.set(id, address.inside);
    this.#forgetGone(instances);
    return instances;
  }

  /** A stopped instance is started only for what it was made for. */
  #withHash(request: LaunchRequest): LaunchRequest {
    const { launchHash = '' } = this.#context.spec().nodeTypes.find(({ name }) => name === request.type) ?? {};
    return launchHash === '' ? request : { ...request, tags: { [mantaTags.launchHash]: launchHash, ...request.tags } };
  }

  /** Addresses are used again by others: an instance is known, and its key pinned, by its id. */
  #target(id: string, address: string): SshTarget {
    const { folder } = this.#context;
    return targetOf({ name: id, address, user: this.#user() }, { ...reachedFrom(folder), key: folder.files.key });
  }

  /** By their pins: those of machines that an earlier mantad knew are there too. */
  #forgetGone(instances: readonly ProviderInstance[]): void {
    if (!this.#gone.due) return;
    const pinOf = (id: string): string => this.#target(id, '').pin.file;
    const pins = pinsIn(this.#context.folder.files.hosts);
    const known = new Set([...[...this.#open.keys(), ...this.#addresses.keys()].map(pinOf), ...pins]);
    const listed = new Set([this.#head.instance, ...instances.map(({ id }) => id)].map(pinOf));
    const over = new Set(this.#gone.after(listed, known));
    if (over.size === 0) return;
    for (const [id, { host }] of this.#open)
      if (over.has(pinOf(id))) {
        void host.close();
        this.#open.delete(id);
      }
    for (const id of this.#addresses.keys()) if (over.has(pinOf(id))) this.#addresses.delete(id);
    for (const pin of pins) if (over.has(pin)) removePin(pin);
  }
}

/** As what mantad asks: by the machine's own role, or by what `up` has put into its folder. */
const identityOf = ({ identity }: RayHead, { files }: StateFolder): HeadIdentity =>
  identity === 'machine' ? { kind: 'machine' } : { kind: 'file', text: readFileSync(files.credential, 'utf8').trim() };

/** Ray on the head was started before the cloud was asked, and looked for itself. */
const withoutHead = (before: ClusterSpec, after: ClusterSpec): ClusterSpec => ({
  ...after,
  nodeTypes: after.nodeTypes.map((type, at) =>
    type.name === before.headType ? { ...type, resourcesKnown: before.nodeTypes[at]?.resourcesKnown === true } : type,
  ),
});

function pinsIn(folder: string): readonly string[] {
  try {
    return namesIn(folder).flatMap((name) => (name.endsWith('.pin') ? [join(folder, name)] : []));
  } catch {
    return [];
  }
}

function removePin(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // It is in nobody's way: ids do not come again.
  }
}
