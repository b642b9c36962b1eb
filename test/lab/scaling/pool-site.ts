import type { LabHost } from '../../../lab/lab.ts';
import { tokenFile } from '../../../src/bringup/node/shell-text.ts';
import { eventually, rayletOf, smallRay } from '../cluster-bed.ts';
import { killRaylet } from './cloud-site.ts';
import type { Limits, RayBed, Site } from './ray-bed.ts';
import { commands, idleTimeout } from './ray-commands.ts';

/** Hosts of each type of the pool, after the head; the last one is nobody's. */
const shares = { plain: 3, gold: 1, dull: 1, rig: 1 };
export const poolHosts = 2 + Object.values(shares).reduce((sum, share) => sum + share);

/** Own hosts behind the provider `local`. */
export function poolSite(hosts: readonly LabHost[]): Site {
  const [head, ...rest] = hosts as [LabHost, ...LabHost[]];
  const extra = rest.at(-1)!;
  const addresses = rest.map(({ address }) => address);
  const pool = (share: keyof typeof shares, resources: Readonly<Record<string, number>>): object => {
    const names = Object.keys(shares) as (keyof typeof shares)[];
    const from = names.slice(0, names.indexOf(share)).reduce((sum, name) => sum + shares[name], 0);
    return {
      hosts: addresses.slice(from, from + shares[share]),
      resources,
      idle_timeout_s: idleTimeout,
      min_workers: 0,
    };
  };
  return {
    cluster: 'pool',
    user: 'root',
    env: {},
    clusterFile: ({ minWorkers, maxWorkers }: Limits, turnstile) => ({
      cluster_name: 'pool',
      max_workers: maxWorkers,
      provider: {
        type: 'local',
        head_ip: head.address,
        worker_ips: [],
        manta: {
          pools: {
            plain: { ...pool('plain', { CPU: 2 }), min_workers: minWorkers },
            gold: { ...pool('gold', { CPU: 0, shine: 1 }), labels: { tier: 'gold' } },
            dull: { ...pool('dull', { CPU: 0, shine: 1 }), labels: { tier: 'dull' } },
            rig: pool('rig', { CPU: 0, rig: 2 }),
          },
        },
      },
      auth: { ssh_user: 'root' },
      ...commands(turnstile),
    }),
    head: async () => head,
    host: (name) => hosts.find((host) => host.name === name),
    cause: async (fault, bed) => {
      if (fault === 'limit lowered') bed.turnstile.hold();
      if (fault === 'never registers') bed.turnstile.refuse('start', 1);
      if (fault === 'node added by hand') await addByHand(extra, bed);
    },
    strike: async (fault, host) => {
      if (fault === 'power cut') await host.kill();
      else await killRaylet(host);
    },
    calm: async () => {
      for (const host of hosts) if (!host.up) await host.boot();
      if (rayletOf(extra) === undefined) return;
      await extra.must(['bash', '-lc', 'ray stop --force'], { user: 'root' });
      await eventually('Ray is gone from it', () => rayletOf(extra) === undefined);
    },
    mark: async () => 0,
    problems: async () =>
      rest.filter((host) => host !== extra && rayletOf(host) !== undefined).map(({ name }) => `Ray runs on ${name}`),
  };
}

/** Somebody types `ray start` on a host that Manta knows nothing of. */
async function addByHand(host: LabHost, { head, site }: RayBed): Promise<void> {
  const token = (await head.must(`cat ~/${tokenFile(site.cluster)}`)).trim();
  const start = `ray start --address=${head.address}:6379 ${smallRay} --num-cpus=0 --resources='{"hand": 1}'`;
  await host.must(['bash', '-lc', start.replace('--num-cpus=1 ', '')], {
    user: 'root',
    env: { RAY_AUTH_MODE: 'token', RAY_AUTH_TOKEN: token },
  });
}
