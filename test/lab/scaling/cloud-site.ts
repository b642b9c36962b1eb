import type { FaultRule } from '../../../lab/cloud/faults.ts';
import { type LabCloud, openLabCloud } from '../../../lab/cloud/open.ts';
import type { LabHost } from '../../../lab/lab.ts';
import { ClusterBed, eventually, rayletOf } from '../cluster-bed.ts';
import { type Limits, RayBed, type Site } from './ray-bed.ts';
import { commands, idleTimeout } from './ray-commands.ts';
import type { Fault } from './scenario.ts';

const rules: Readonly<Partial<Record<Fault, FaultRule>>> = {
  'lost answer': { fault: 'lost-answer', call: 'launch', times: 1 },
  'late answer': { fault: 'late-answer', call: 'launch', times: 1, seconds: 5 },
  'duplicate call': { fault: 'duplicate-call', call: 'launch', times: 1 },
  'server error': { fault: 'server-error', call: 'launch', after: true, times: 1 },
  'partial fill': { fault: 'partial-fill', times: 1 },
  'stale lists': { fault: 'stale-list', seconds: 4 },
  'doubled entries': { fault: 'duplicate-entry' },
  throttled: { fault: 'throttle', call: 'launch', times: 2 },
  quota: { fault: 'quota', type: 'medium' },
  'no capacity in a zone': { fault: 'no-capacity', zone: 'lab-1a' },
  'no capacity on a market': { fault: 'no-capacity', market: 'spot' },
  'no capacity of a type': { fault: 'no-capacity', type: 'medium' },
  'no capacity once': { fault: 'no-capacity', times: 1 },
  'slow boot': { fault: 'slow-boot', seconds: 8 },
  'never boots': { fault: 'hang-boot', times: 1 },
  'boots dead': { fault: 'dead-boot', times: 1 },
};

/** Seconds. */
const notice = 20;
const account = 'lab';

/** Machines of a lab cloud, with a node type for each way in which a launch can be sent elsewhere. */
function cloudSite(cloud: LabCloud, hosts: () => readonly LabHost[]): Site {
  const existing = async () => (await cloud.admin.instances()).filter(({ exists }) => exists);
  const instanceOf = async ({ address }: LabHost): Promise<string> => {
    const found = (await existing()).find((instance) => instance.address === address);
    if (found === undefined) throw new Error(`no instance is at ${address}`);
    return found.id;
  };
  return {
    cluster: 'clouds',
    user: 'ubuntu',
    env: { LAB_CLOUD_TOKEN: cloud.token },
    clusterFile: ({ minWorkers, maxWorkers }: Limits, turnstile) => ({
      cluster_name: 'clouds',
      max_workers: maxWorkers,
      provider: {
        type: 'lab_cloud',
        endpoint: cloud.endpoint,
        token_env: 'LAB_CLOUD_TOKEN',
        manta: {
          node_types: {
            zoned: { zones: ['lab-1a', 'lab-1b'] },
            filled: { zones: ['lab-1a', 'lab-1b'] },
            market: { market: ['spot', 'on-demand'] },
          },
        },
      },
      auth: { ssh_user: 'ubuntu' },
      head_node_type: 'head',
      available_node_types: {
        head: { node_config: { machine_type: 'medium' }, resources: { CPU: 0 } },
        plain: { ...type('small', { CPU: 2 }), min_workers: minWorkers },
        gold: { ...type('small', { CPU: 0, shine: 1 }), labels: { tier: 'gold' } },
        dull: { ...type('small', { CPU: 0, shine: 1 }), labels: { tier: 'dull' } },
        rig: type('small', { CPU: 0, rig: 2 }),
        zoned: type('small', { CPU: 0, zoned: 1 }),
        filled: type('small', { CPU: 0, filled: 1 }),
        market: type('small', { CPU: 0, market: 1 }),
        cheap: type('medium', { CPU: 0, pair: 1 }),
        dear: type('large', { CPU: 0, pair: 1 }),
        metered: type('medium', { CPU: 0, metered: 1 }),
        spare: type('large', { CPU: 0, metered: 1 }),
      },
      ...commands(turnstile),
    }),
    head: async () => cloud.host((await existing())[0]!.id)!,
    host: (name) => hosts().find((host) => host.name === name),
    cause: async (fault, bed) => {
      const rule = rules[fault];
      if (rule !== undefined) await cloud.admin.fault(rule);
      if (fault === 'limit lowered') bed.turnstile.hold();
      if (fault === 'set-up fails') bed.turnstile.refuse('setup', 2);
      if (fault === 'never registers') bed.turnstile.refuse('start', 1);
      if (fault === 'stray instance') await makeStray(cloud, bed);
    },
    strike: async (fault, host) => {
      const id = await instanceOf(host);
      if (fault === 'machine vanished') await cloud.admin.vanish(id);
      else if (fault === 'preempted with notice') await cloud.admin.preempt(id, notice);
      else if (fault === 'preempted') await cloud.admin.preempt(id, 0);
      else if (fault === 'power cut') await host.kill();
      else await killRaylet(host);
    },
    calm: async () => await cloud.admin.calm(),
    mark: async () => (await cloud.admin.calls()).at(-1)?.number ?? 0,
    problems: async (since) => {
      const launches = await cloud.admin.calls({ since, call: 'launch' });
      const asked = new Map(launches.map(({ asked: order }) => [order?.token, order?.count ?? 0]));
      const made = Map.groupBy(await cloud.admin.instances(), ({ client_token }) => client_token);
      const tooMany = [...asked].filter(([token, count]) => (made.get(token)?.length ?? 0) > count);
      const left = (await existing()).slice(1);
      return [
        ...tooMany.map(([token, count]) => `${made.get(token)?.length} instances for ${count} under ${token}`),
        ...left.map(({ id, state }) => `${id} is still ${state}`),
      ];
    },
  };
}

const type = (machine: string, resources: Readonly<Record<string, number>>): object => ({
  node_config: { machine_type: machine },
  resources,
  idle_timeout_s: idleTimeout,
});

/** Ray on the host is as dead as it can be, and nobody has said so. */
export async function killRaylet(host: LabHost): Promise<void> {
  await host.must(`kill -9 ${rayletOf(host)}`, { user: 'root' });
}

/** An instance with the cluster's tags that no launch made, taken in by the cluster. */
async function makeStray(cloud: LabCloud, bed: RayBed): Promise<void> {
  const head = (await cloud.admin.instances()).find(({ exists }) => exists)!;
  const key = await bed.head.must('cat /home/ubuntu/.manta/head/clusters/clouds/key.pub');
  const tags = {
    ...head.tags,
    'ray-node-type': 'worker',
    'ray-user-node-type': 'plain',
    'ray-launch-request': 'stray',
  };
  const after = await bed.lastEvent();
  await cloud.admin.stray(account, {
    machine_type: 'small',
    tags,
    login: { user: 'ubuntu', public_key: key.trim() },
  });
  await eventually('it is taken in', async () =>
    (await bed.events(after)).some(({ code }) => code === 'MANTA_AUTOSCALER_ADOPTED'),
  );
}

/** A cluster of real Ray on a cloud of its own. */
export async function openCloudBed(): Promise<{ bed: RayBed; cloud: LabCloud; close(): Promise<void> }> {
  const user = await ClusterBed.open({ hosts: 0, ray: true });
  let cloud: LabCloud | undefined;
  let bed: RayBed | undefined;
  const close = async (): Promise<void> => {
    bed?.close();
    await cloud?.close();
    await user.close();
  };
  try {
    cloud = await openLabCloud(user.lab, { image: { ray: true, cron: true } });
    const site = cloudSite(cloud, () => user.lab.hosts);
    bed = await RayBed.open(user, site);
    return { bed, cloud, close };
  } catch (error) {
    await close();
    throw error;
  }
}
