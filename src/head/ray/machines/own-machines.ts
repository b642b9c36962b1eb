import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import type { Host } from '../../../base/host.ts';
import { sshHost } from '../../../base/ssh/host.ts';
import { thisHost } from '../../../base/this-host.ts';
import { byConnection, clearHosts } from '../../../bringup/node/clear-hosts.ts';
import { containersOf, endNode } from '../../../bringup/node/end-node.ts';
import { targetOf } from '../../../bringup/node/reach.ts';
import type { ClusterSpec } from '../../../core/spec/cluster.ts';
import { type OwnHost, ownHosts } from '../../../core/spec/local.ts';
import type { LocalProvider } from '../../../providers/local/provider.ts';
import { LocalRecords } from '../../../providers/local/record.ts';
import type { ProviderInstance } from '../../../providers/provider.ts';
import { descriptorFor } from '../../../providers/table.ts';
import type { RayHead } from '../../../state/cluster-record.ts';
import { awaitsKey } from '../../../state/hosts-without-key.ts';
import { reachedFrom, type StateFolder } from '../../../state/state-folder.ts';
import type { BackendContext } from '../../backend/backend.ts';
import { headErrors } from '../../errors.ts';
import type { Machines } from './machines.ts';

/** The user's own hosts. */
export async function ownMachines(edges: BackendContext, head: RayHead): Promise<Machines> {
  const { folder, clock, events, spec } = edges;
  const { LocalProvider } = await descriptorFor(spec(), 'own-hosts').load();
  const hosts = new OwnHostsByName(edges);
  const provider = new LocalProvider({
    folder: folder.files.instances,
    claimant: {
      clusterId: head.id,
      cluster: folder.name,
      owner: `${userInfo().username}@${head.address}`,
      headAddress: head.address,
    },
    pools: () => ownHosts(spec()).pools,
    connect: (host) => hosts.of(host),
    end: async (host, instance, signal) => {
      const what = { cluster: folder.name, instance, containers: containersOf(spec()), remove: false };
      const left = await endNode(host, what, signal);
      if (left.length > 0) throw headErrors.NotEnded({ host: host.name, left });
    },
    awaitsKey: ({ name }) => awaitsKey(folder, name, clock.now()),
    clock,
    events,
  });
  const records = new LocalRecords(folder.files.instances);
  writeHeadRecord(records, spec(), head, clock.now());
  return {
    provider,
    hostOf: (instance) => hosts.of(hosts.named(instance)),
    addressOf: (machine) => records.claim(machine)?.host.name,
    complete: (each) => withLearned(each, provider),
    rest: (machine) => provider.rest(machine),
    wasSetUp: (machine, failure) => provider.wasSetUp(machine, failure),
    reloaded: () => provider.retryNow(),
    keep: (signal) => provider.keepClaims(signal),
    endWorkers: async (signal) => {
      await provider.close();
      const claims = records.claims().filter(({ kind }) => kind === 'worker');
      const { head: own, pools } = ownHosts(spec());
      const all = [...pools.flatMap((pool) => pool.hosts), ...claims.map(({ host }) => host)];
      const others = new Map(all.filter(({ name }) => name !== own?.name).map((host) => [host.name, hosts.of(host)]));
      const publicKey = publicKeyOf(folder);
      const what = { cluster: folder.name, containers: containersOf(spec()), clusterId: head.id };
      const cleared = await clearHosts(
        [...others].map(([name, host]) =>
          byConnection(host, signal, () => {
            for (const claim of claims) if (claim.host.name === name) records.remove(claim.id);
          }),
        ),
        { ...what, ...(publicKey !== undefined && { publicKey }) },
        signal,
      );
      // What did not answer is ended by its lease, or by the next mantad.
      for (const { id } of claims) {
        const left = records.claim(id);
        if (left !== undefined) records.write({ ...left, state: 'unverified' });
      }
      return cleared;
    },
    close: async () => {
      await provider.close();
      await hosts.close();
    },
  };
}

/** One connection a host, kept for as long as mantad lives. */
class OwnHostsByName {
  readonly #edges: BackendContext;
  readonly #open = new Map<string, Host>();

  constructor(edges: BackendContext) {
    this.#edges = edges;
  }

  of(host: OwnHost): Host {
    const { folder, clock, spec } = this.#edges;
    if (host.name === ownHosts(spec()).head?.name) return thisHost();
    const id = JSON.stringify(host);
    const known = this.#open.get(id);
    if (known !== undefined) return known;
    const from = { ...reachedFrom(folder), key: folder.files.key };
    const opened = sshHost(targetOf(host, from), { clock });
    this.#open.set(id, opened);
    return opened;
  }

  /** The host of an instance, by what the file says of it now. */
  named({ address: { inside: address = '' } = {} }: ProviderInstance): OwnHost {
    const { head, pools } = ownHosts(this.#edges.spec());
    const all = [...(head ? [head] : []), ...pools.flatMap((pool) => pool.hosts)];
    const found = all.find((host) => host.address === address);
    return found ?? { ...(head as OwnHost), name: address, address };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((host) => host.close()));
  }
}

/** The head is an instance too; its launcher claimed it. */
function writeHeadRecord(records: LocalRecords, spec: ClusterSpec, head: RayHead, now: number): void {
  const host = ownHosts(spec).head;
  if (host === undefined || records.claim(head.instance) !== undefined) return;
  records.write({
    format: 1,
    id: head.instance,
    launchToken: head.instance,
    type: spec.headType,
    kind: 'head',
    state: 'held',
    host,
    launchedAt: now,
    tags: {},
  });
}

/** Own machines say nothing of what they have in the file: what was found on them counts. */
function withLearned(spec: ClusterSpec, provider: LocalProvider): ClusterSpec {
  const learned = provider.learned();
  return {
    ...spec,
    nodeTypes: spec.nodeTypes.map((type) => {
      const found = learned.get(type.name);
      return found === undefined ? type : { ...type, resources: { ...found, ...type.resources } };
    }),
  };
}

/** The public half of the cluster's key, as it stands on the workers. */
function publicKeyOf({ files }: StateFolder): string | undefined {
  try {
    return readFileSync(`${files.key}.pub`, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
