import type { NodeTypeName } from '../instance.ts';
import type { ClusterSpec, Plain, PlainMap } from './cluster.ts';
import type { MantaHost, MantaSpec } from './manta.ts';
import { isText, mapOf } from './plain.ts';
import { isMap } from './source.ts';

/** The node type of the head and of `worker_ips`, as Ray names it. */
export const localTypeName = 'local.cluster.node';

/** One machine of the user's, and how SSH reaches it. */
export interface OwnHost {
  /** As the file has it. Ray takes it for the id of the node. */
  readonly name: string;
  /** What SSH connects to: an address without brackets, or a name of `~/.ssh/config`. */
  readonly address: string;
  readonly user?: string;
  readonly port?: number;
  /** Path of the private key, as the file has it. */
  readonly key?: string;
  /**
   * Ways in from the machine that launches. The head stands among its workers and goes without them, as in Ray.
   * At most one of the two.
   */
  readonly jump?: string;
  readonly proxyCommand?: string;
  /** Sessions from the machine that launches can use the agent of its user there. */
  readonly forwardAgent?: boolean;
}

/** Hosts of one node type. */
export interface HostPool {
  readonly type: NodeTypeName;
  readonly hosts: readonly OwnHost[];
}

export interface OwnHosts {
  /** Absent only in a file that names a coordinator in place of its hosts. */
  readonly head?: OwnHost & {
    /** The head as seen from outside (`external_head_ip`). */
    readonly outside?: string;
  };
  /** `worker_ips` first, then the pools in the order of the file. */
  readonly pools: readonly HostPool[];
}

/** The hosts of a local cluster with everything that is known of the way to them. */
export function ownHosts(spec: ClusterSpec): OwnHosts {
  const { config, manta } = spec.provider;
  // Of two spellings of one host the first counts.
  const settings = new Map([...manta.hosts].reverse().map(([name, host]) => [canonicalHost(name), host]));
  const hostOf = (name: string): OwnHost => {
    const own = settings.get(canonicalHost(name)) ?? {};
    return { name, address: bareAddress(name), ...loginOf(own, spec) };
  };
  const { head_ip: head, external_head_ip: outside } = config;
  const workers = workerHosts(config).filter(isText);
  return {
    ...(isText(head) && { head: { ...hostOf(head), ...(isText(outside) && { outside: bareAddress(outside) }) } }),
    pools: [
      { type: localTypeName, hosts: workers.map(hostOf) },
      ...[...manta.pools].map(([type, pool]) => ({ type, hosts: pool.hosts.map(hostOf) })),
    ],
  };
}

function loginOf(own: MantaHost, { auth }: ClusterSpec): Omit<OwnHost, 'name' | 'address'> {
  const user = own.user ?? auth.user;
  const key = own.key ?? auth.privateKey;
  const proxyCommand = own.proxyCommand ?? (own.jump === undefined ? auth.proxyCommand : undefined);
  return {
    ...(isText(user) && { user }),
    ...(own.port !== undefined && { port: own.port }),
    ...(isText(key) && { key }),
    ...(isText(own.jump) && { jump: own.jump }),
    ...(isText(proxyCommand) && { proxyCommand }),
    ...(own.forwardAgent && { forwardAgent: true }),
  };
}

/** IPv6 literals may stand in brackets, as they do in URLs; SSH wants them without. */
const bareAddress = (name: string): string => /^\[(.*)\]$/.exec(name.trim())?.[1] ?? name.trim();

/** Equal for two spellings of one address. */
export function canonicalHost(name: string): string {
  const address = bareAddress(name).toLowerCase();
  const halves = address.split('::').map((half) => (half === '' ? [] : half.split(':')));
  const [left = [], right = []] = halves;
  const isAddress =
    address.includes(':') && halves.length <= 2 && [...left, ...right].every((each) => /^[\da-f]{1,4}$/.test(each));
  if (!isAddress) return address;
  const missing = halves.length === 2 ? Math.max(0, 8 - left.length - right.length) : 0;
  return [...left, ...Array<string>(missing).fill('0'), ...right]
    .map((each) => Number.parseInt(each, 16).toString(16))
    .join(':');
}

export interface LocalWorkers {
  readonly min: number;
  readonly max: number;
  /** Most workers of the whole cluster, those of pools with them. */
  readonly maxWorkers: number;
}

/** Workers of a local cluster: every host of `worker_ips`, unless the file sets a lower number; a coordinator hands out up to `max_workers`. */
export function localWorkers(file: PlainMap, pools: MantaSpec['pools']): LocalWorkers {
  const provider = mapOf(file.provider);
  const max = typeof file.max_workers === 'number' ? file.max_workers : undefined;
  const min = typeof file.min_workers === 'number' ? file.min_workers : undefined;
  const pooled = Object.values(poolTypes(pools)).reduce((sum: number, pool) => sum + pool.max_workers, 0);
  if ('coordinator_address' in provider && !('head_ip' in provider))
    return { min: min ?? 0, max: max ?? 0, maxWorkers: (max ?? 0) + pooled };
  const hosts = workerHosts(provider).length;
  const maxWorkers = Math.min(max ?? hosts + pooled, hosts + pooled);
  const most = Math.min(maxWorkers, hosts);
  return { min: Math.min(min ?? hosts, most), max: most, maxWorkers };
}

/** `worker_ips` without the head, which is a node of the cluster already. */
export function workerHosts({ head_ip: head, worker_ips: workers }: PlainMap): readonly Plain[] {
  const isHead = (host: Plain): boolean => isText(head) && isText(host) && canonicalHost(host) === canonicalHost(head);
  return Array.isArray(workers) ? (workers as readonly Plain[]).filter((host) => !isHead(host)) : [];
}

/** The node types of a local cluster: that of `worker_ips`, and one for each pool. */
export const localTypes = (workers: LocalWorkers, pools: MantaSpec['pools']): PlainMap => ({
  [localTypeName]: { node_config: {}, resources: {}, min_workers: workers.min, max_workers: workers.max },
  ...poolTypes(pools),
});

/** A pool is a node type whose machines are given: all of them are its workers, unless it says less. */
function poolTypes(pools: MantaSpec['pools']): Readonly<Record<string, PlainMap & { readonly max_workers: number }>> {
  return Object.fromEntries(
    [...pools].map(([name, { hosts, type }]) => {
      const count = hosts.length;
      const most = Math.min(numberOr(type.max_workers, count), count);
      return [
        name,
        {
          resources: {},
          ...type,
          node_config: {},
          min_workers: Math.min(numberOr(type.min_workers, most), most),
          max_workers: most,
        },
      ];
    }),
  );
}

/** A file that `ray up` has already worked out for the head: it holds the type, and is taken as it is. */
export const isPrepared = (file: PlainMap): boolean =>
  isMap(file.available_node_types) && localTypeName in file.available_node_types;

const numberOr = (value: Plain | undefined, other: number): number => (typeof value === 'number' ? value : other);
