import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Host } from '../base/host.ts';
import { makeFolder } from '../base/json-file.ts';
import { sshHost } from '../base/ssh/host.ts';
import { thisHost } from '../base/this-host.ts';
import { targetOf } from '../bringup/reach.ts';
import { openCloud, usualUser } from '../providers/clouds.ts';
import type { Provider, ProviderInstance } from '../providers/provider.ts';
import type { GroundEdges } from './ground.ts';
import type { Machines } from './machines.ts';
import type { RayHead } from './state-folder.ts';

/** Instances of a cloud. They let in the cluster's own key, which the head alone has. */
export async function cloudMachines({ folder, clock, spec }: GroundEdges, head: RayHead): Promise<Machines> {
  const publicKey = readFileSync(`${folder.files.key}.pub`, 'utf8').trim();
  const user = (): string => spec().auth.user ?? usualUser;
  const cloud = await openCloud({
    cluster: folder.name,
    clusterId: head.id,
    spec,
    login: () => ({ user: user(), publicKey }),
    credential: () => readFileSync(join(folder.path, 'credential'), 'utf8').trim(),
  });
  const addresses = new Map<string, string>();
  const provider: Provider = {
    async list(signal) {
      const instances = await cloud.list(signal);
      for (const { id, address } of instances) if (address !== undefined) addresses.set(id, address);
      return instances;
    },
    launch: (request, signal) => cloud.launch(request, signal),
    terminate: (ids, signal) => cloud.terminate(ids, signal),
    tag: (id, tags, signal) => cloud.tag(id, tags, signal),
  };
  const open = new Map<string, Host>();
  const hostOf = ({ id, address = '' }: ProviderInstance): Host => {
    if (id === head.instance) return thisHost();
    const known = open.get(id);
    if (known !== undefined) return known;
    const from = {
      cluster: folder.name,
      pins: makeFolder(folder.files.hosts),
      control: folder.path,
      key: folder.files.key,
    };
    // Addresses are used again by others: an instance is known, and its key pinned, by its id.
    const host = sshHost(targetOf({ name: id, address, user: user() }, from), { clock });
    open.set(id, host);
    return host;
  };
  return {
    provider,
    hostOf,
    addressOf: (machine) => addresses.get(machine),
    complete: (each) => each,
    keep: async () => {},
    powersOff: true,
    endHead: (signal) => cloud.terminate([head.instance], signal),
    close: async () => {
      await Promise.all([...open.values()].map((host) => host.close()));
    },
  };
}
