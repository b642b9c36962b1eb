import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { loopSettings } from '../../autoscaler/settings.ts';
import type { Host } from '../../base/host.ts';
import { namesIn } from '../../base/json-file.ts';
import { sshHost } from '../../base/ssh/host.ts';
import type { SshTarget } from '../../base/ssh/target.ts';
import { thisHost } from '../../base/this-host.ts';
import { bootWatchdog } from '../../bringup/lease.ts';
import { targetOf } from '../../bringup/reach.ts';
import type { ClusterSpec } from '../../core/spec/cluster.ts';
import { openCloud, usualUser } from '../../providers/clouds.ts';
import type { Provider, ProviderInstance } from '../../providers/provider.ts';
import type { GroundEdges } from '../ground.ts';
import { type RayHead, reachedFrom, readCluster } from '../state-folder.ts';
import { endedTags } from './ended-tags.ts';
import { GoneMachines } from './gone-machines.ts';
import type { Machines } from './machines.ts';
import { UnseenLaunches } from './unseen-launches.ts';

const learnWithin = 10_000;
/** A machine without a lease does not end itself before mantad would give it up, however short leases are. */
const noLeaseFor = loopSettings.timeouts.allocated;

/** Instances of a cloud. They let in the cluster's own key, which the head alone has. */
export async function cloudMachines({ folder, clock, spec }: GroundEdges, head: RayHead): Promise<Machines> {
  const publicKey = readFileSync(`${folder.files.key}.pub`, 'utf8').trim();
  const user = (): string => spec().auth.user ?? usualUser;
  const cloud = await openCloud({
    cluster: folder.name,
    clusterId: head.id,
    spec,
    login: () => ({ user: user(), publicKey }),
    bootProgram: () => bootWatchdog(folder.name, user(), Math.max(spec().provider.manta.lease, noLeaseFor)),
    credential: () => readFileSync(join(folder.path, 'credential'), 'utf8').trim(),
  });
  let learned: ((spec: ClusterSpec) => ClusterSpec) | undefined;
  /** Whether the cloud answered. Until then the file alone counts; that the cloud is silent, the loop tells. */
  const learn = async (signal: AbortSignal): Promise<boolean> => {
    const within = AbortSignal.any([signal, AbortSignal.timeout(learnWithin)]);
    learned = await cloud.learn(within).catch(() => undefined);
    return learned !== undefined;
  };
  await learn(AbortSignal.timeout(learnWithin));
  const unseen = new UnseenLaunches(folder.files.unseen, clock);
  const addresses = new Map<string, string>();
  const provider: Provider = {
    async list(signal) {
      const instances = await cloud.list(signal);
      unseen.listed(instances);
      for (const { id, address } of instances) if (address !== undefined) addresses.set(id, address);
      forgetGone(instances);
      return instances;
    },
    launch: (request, signal) => unseen.launch(() => cloud.launch(request, signal)),
    terminate: (ids, signal) => cloud.terminate(ids, signal),
    tag: (id, tags, signal) => cloud.tag(id, tags, signal),
  };
  const open = new Map<string, { readonly host: Host; readonly address: string }>();
  const hostOf = ({ id, ...given }: ProviderInstance): Host => {
    if (id === head.instance) return thisHost();
    const known = open.get(id);
    // What the cloud lists counts more than what Ray calls it, which may be all that is known for a while.
    const address = addresses.get(id) ?? given.address ?? known?.address ?? '';
    if (known?.address === address) return known.host;
    void known?.host.close();
    const host = sshHost(target(id, address), { clock });
    open.set(id, { host, address });
    return host;
  };
  // Addresses are used again by others: an instance is known, and its key pinned, by its id.
  const target = (id: string, address: string): SshTarget =>
    targetOf({ name: id, address, user: user() }, { ...reachedFrom(folder), key: folder.files.key });
  const gone = new GoneMachines(clock);
  /** By their pins: those of machines that an earlier mantad knew are there too. */
  const forgetGone = (instances: readonly ProviderInstance[]): void => {
    if (!gone.due) return;
    const pinOf = (id: string): string => target(id, '').pin.file;
    const pins = pinsIn(folder.files.hosts);
    const known = new Set([...[...open.keys(), ...addresses.keys()].map(pinOf), ...pins]);
    const listed = new Set([head.instance, ...instances.map(({ id }) => id)].map(pinOf));
    const over = new Set(gone.after(listed, known));
    if (over.size === 0) return;
    for (const [id, { host }] of open)
      if (over.has(pinOf(id))) {
        void host.close();
        open.delete(id);
      }
    for (const id of addresses.keys()) if (over.has(pinOf(id))) addresses.delete(id);
    for (const pin of pins) if (over.has(pin)) removePin(pin);
  };
  return {
    provider,
    hostOf,
    addressOf: (machine) => addresses.get(machine),
    complete: (each) => withoutHead(each, learned?.(each) ?? each),
    keep: async (signal) => {
      for (let pause = 1_000; !signal.aborted; pause = Math.min(pause * 2, 60_000)) {
        if (learned !== undefined || (await learn(signal))) return;
        await clock.sleep(pause, signal).catch(() => {});
      }
    },
    powersOff: true,
    settles: () => unseen.settles(),
    endHead: async (left, signal) => {
      const { since = clock.now(), why = 'it was told to' } = readCluster(folder)?.turningOff ?? {};
      // Whoever asks later finds it there; the end does not depend on it.
      await cloud.tag(head.instance, endedTags.of({ at: since, why, left }), signal).catch(() => {});
      await cloud.terminate([head.instance], signal);
    },
    close: async () => {
      await Promise.all([...open.values()].map(({ host }) => host.close()));
    },
  };
}

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
