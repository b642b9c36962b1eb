import type { Duration } from '../../base/time/clock.ts';
import { durationOf, lengthOf } from '../duration.ts';
import type { Market } from '../instance.ts';
import type { Plain, PlainMap } from './cluster.ts';
import { mantaKeys } from './keys/manta.ts';
import { mapOf, numberOf, textsOf } from './plain.ts';

/** What stands under `provider.manta`, with its defaults. `keys/manta.ts` declares and explains the keys. */
export interface MantaSpec {
  readonly allowNoAuth: boolean;
  readonly idle: 'timeout' | 'economic';
  /** Absent: never. */
  readonly idleShutdown?: Duration;
  /** Absent: unlimited. */
  readonly maxLifetime?: Duration;
  readonly lease: Duration;
  /** Absent: as long as is usual where the nodes are. */
  readonly setupTimeout?: Duration;
  readonly engine: 'embedded' | 'ray';
  /** ARNs of policies that the role of the head gets beside what mantad needs. */
  readonly headPolicies: readonly string[];
  /** Rules that only the provider of this machine reads. */
  readonly faults: readonly Plain[];
  readonly nodeTypes: ReadonlyMap<string, MantaNodeType>;
  /** In the order of the file, by the name of the node type. */
  readonly pools: ReadonlyMap<string, MantaPool>;
  readonly hosts: ReadonlyMap<string, MantaHost>;
}

/** What Manta is told of a node type beyond what Ray asks. */
export interface MantaNodeType {
  /** Per hour. */
  readonly price?: number;
  readonly spotPrice?: number;
  /** In order, each once. Empty: what the launch configuration says. */
  readonly markets: readonly Market[];
  /** Empty: those of the provider. */
  readonly zones: readonly string[];
  readonly hostsPerSlice?: number;
  /** Absent: as long as is usual where the nodes are. */
  readonly allocationTimeout?: Duration;
  readonly initialWorkers: number;
  /** TPU slices are asked for by queued resources, which wait for room. */
  readonly queued?: true;
}

/** A node type whose machines are given. */
export interface MantaPool {
  readonly hosts: readonly string[];
  /** The other keys, which are those of a node type. */
  readonly type: PlainMap;
}

/** How one host is reached, where that differs from `auth`. An empty text takes back what `auth` says. */
export interface MantaHost {
  readonly user?: string;
  readonly port?: number;
  readonly key?: string;
  readonly jump?: string;
  readonly proxyCommand?: string;
  readonly forwardAgent?: true;
}

const shortestLease = 10_000;

/** The value of `provider.manta` in a file that passed the checks. */
export function mantaSpec(value: Plain | undefined): MantaSpec {
  const manta = mapOf(value);
  const idleShutdown = lengthOf(manta.idle_shutdown);
  const maxLifetime = lengthOf(manta.max_lifetime);
  const setupTimeout = lengthOf(manta.setup_timeout);
  return {
    allowNoAuth: manta.allow_no_auth === true,
    idle: manta.idle === 'economic' ? 'economic' : 'timeout',
    ...(idleShutdown !== undefined && { idleShutdown }),
    ...(maxLifetime !== undefined && { maxLifetime }),
    lease: Math.max(shortestLease, lengthOf(manta.lease) ?? durationOf(defaultOf('lease'))!),
    ...(setupTimeout !== undefined && { setupTimeout }),
    engine: manta.engine === 'ray' ? 'ray' : 'embedded',
    headPolicies: textsOf(manta.head_policies),
    faults: Array.isArray(manta.faults) ? (manta.faults as readonly Plain[]) : [],
    nodeTypes: entriesOf(manta.node_types, nodeTypeOf),
    pools: entriesOf(manta.pools, ({ hosts, ...type }) => ({ hosts: textsOf(hosts), type })),
    hosts: entriesOf(manta.hosts, hostOf),
  };
}

/** As the table of keys has it. */
const defaultOf = (name: string): string =>
  mantaKeys.find(({ path }) => path === `provider.manta.${name}`)?.default ?? '';

/** A type that is told nothing of. */
export const plainNodeType: MantaNodeType = { markets: [], zones: [], initialWorkers: 0 };

function nodeTypeOf(own: PlainMap): MantaNodeType {
  const markets = [own.market ?? []].flat().filter(isMarket);
  const allocationTimeout = lengthOf(own.allocation_timeout);
  const hostsPerSlice = numberOf(own.hosts_per_slice);
  return {
    ...(typeof own.price === 'number' && { price: own.price }),
    ...(typeof own.spot_price === 'number' && { spotPrice: own.spot_price }),
    markets: [...new Set(markets)],
    zones: Array.isArray(own.zones) ? (own.zones as readonly string[]) : [],
    ...(hostsPerSlice !== undefined && { hostsPerSlice }),
    ...(allocationTimeout !== undefined && { allocationTimeout }),
    ...(own.queued === true && { queued: true as const }),
    initialWorkers: numberOf(own.initial_workers) ?? 0,
  };
}

const isMarket = (value: Plain): value is Market => value === 'spot' || value === 'on-demand' || value === 'reserved';

const hostOf = ({
  user,
  port,
  key,
  jump,
  proxy_command: proxyCommand,
  forward_agent: forwardAgent,
}: PlainMap): MantaHost => ({
  ...(forwardAgent === true && { forwardAgent }),
  ...(typeof user === 'string' && { user }),
  ...(typeof port === 'number' && { port }),
  ...(typeof key === 'string' && { key }),
  ...(typeof jump === 'string' && { jump }),
  ...(typeof proxyCommand === 'string' && { proxyCommand }),
});

const entriesOf = <Value>(named: Plain | undefined, read: (entry: PlainMap) => Value): ReadonlyMap<string, Value> =>
  new Map(Object.entries(mapOf(named)).map(([name, entry]) => [name, read(mapOf(entry))]));
