// needs: ray, hosts

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type LabCloud, openLabCloud } from '../../lab/cloud/open.ts';
import type { ClusterAnswer } from '../../src/api/types.ts';
import { inSoak } from '../soak.ts';
import { ClusterBed, clusterProblem, eventually, leftOn, smallRay } from './cluster-bed.ts';

const file = 'cloud.yaml';
const small = smallRay.replace(/--num-cpus=\d+ /, '');

/** Nothing is said of what the machines of the workers have, and what they cost. */
const clusterFile = (endpoint: string, manta: string): string => `
cluster_name: brief
max_workers: 1
provider:
  type: lab_cloud
  endpoint: ${endpoint}
  token_env: LAB_CLOUD_TOKEN
  manta: ${manta}
auth: {ssh_user: ubuntu}
head_node_type: head
available_node_types:
  head:
    node_config: {machine_type: medium}
    resources: {CPU: 0}
  worker:
    node_config: {machine_type: small}
    min_workers: 1
    max_workers: 1
head_start_ray_commands:
  - ray stop
  - ray start --head --port=6379 ${small}
worker_start_ray_commands:
  - ray stop
  - ray start --address=$RAY_HEAD_IP:6379 ${small}
`;

describe('a cluster of a cloud that nobody ends', { skip: clusterProblem() ?? false }, () => {
  let bed: ClusterBed;
  let cloud: LabCloud;
  before(async () => {
    bed = await ClusterBed.open({ hosts: 0, ray: true });
    cloud = await openLabCloud(bed.lab, { image: { ray: true, cron: true } });
  });
  after(async () => {
    await cloud?.close();
    await bed?.close();
  });

  const status = async (): Promise<{ code: number | null; shown: string }> => {
    const { code, stdout, stderr } = await bed.run(['status', file], { env: { LAB_CLOUD_TOKEN: cloud.token } });
    return { code, shown: stdout + stderr };
  };
  const manta = (...words: readonly string[]): Promise<string> =>
    bed.manta(words, { env: { LAB_CLOUD_TOKEN: cloud.token } });
  const existing = async () => (await cloud.admin.instances()).filter(({ exists }) => exists);
  const ofKind = async (type: string) => (await existing()).find(({ tags }) => tags['ray-node-type'] === type);

  it('knows from the cloud what its machines have and cost', async () => {
    bed.write(file, clusterFile(cloud.endpoint, '{lease: 20s}'));
    await manta('up', '-y', file);
    const head = cloud.host((await ofKind('head'))!.id)!;
    const { stdout } = await head.exec(
      'T=$(cat ~/.manta/head/clusters/brief/tokens/owner); curl -sS -H "Authorization: Bearer $T" http://127.0.0.1:8265/api/manta/v1/cluster',
      { user: 'ubuntu' },
    );
    const { nodeTypes, cost } = JSON.parse(stdout) as ClusterAnswer;
    const worker = nodeTypes.find(({ name }) => name === 'worker');
    assert.deepEqual(worker?.resources, { CPU: 2, memory: Math.floor(0.7 * 4 * 2 ** 30) });
    assert.equal(worker?.pricePerHour, 0.1);
    assert.equal(cost?.perHour, 0.1 + nodeTypes.find(({ name }) => name === 'head')!.pricePerHour!);
    const status = await manta('status', file);
    assert.match(status, /2(\.0)? CPU/, 'and Ray was told the same');
  });

  it('a worker whose head is gone for longer than its lease switches itself off', async () => {
    const [head, worker] = [(await ofKind('head'))!, (await ofKind('worker'))!];
    await cloud.host(head.id)!.kill();
    await eventually('the worker is gone', async () => (await ofKind('worker')) === undefined);
    const ended = (await cloud.admin.instances()).find(({ id }) => id === worker.id);
    assert.equal(ended?.reason, 'it switched itself off');
    await cloud.admin.preempt(head.id, 0);
    const { code, shown } = await status();
    assert.equal(code, 4, shown);
    assert.match(
      shown,
      /lost its head and its queue at .* is gone \(it was preempted\); workers still listed at that time: 0/,
    );
    await manta('down', '-y', file);
    assert.deepEqual(await existing(), []);
    assert.deepEqual(await leftOn(bed, bed.laptop, 'brief'), []);
  });

  it('is gone with its head when nothing has run for long enough, and is told of from then on', async () => {
    bed.write(file, clusterFile(cloud.endpoint, '{idle_shutdown: 10s}'));
    await manta('up', '-y', file);
    await eventually('no machine is left', async () => (await existing()).length === 0);
    assert.match(await manta('up', '--plan', file), /'brief' on lab_cloud: an instance of head/);
    const asked = await bed.run(['up', file], { env: { LAB_CLOUD_TOKEN: cloud.token } });
    assert.match(asked.stderr, /MANTA_LAUNCHER_NOT_AGREED/);
    const wrong = await bed.run(['up', '-y', file, '--for', '8'], { env: { LAB_CLOUD_TOKEN: cloud.token } });
    assert.match(wrong.stderr, /--for/);
    assert.deepEqual(await existing(), [], 'nobody agreed to a machine');
    const { code, shown } = await status();
    assert.equal(code, 4, shown);
    assert.match(shown, /shut itself down at \d{4}-\S+Z: nothing ran or waited for 10s \(idle_shutdown\)/);
    assert.match(shown, /'manta up' creates a new one/);
    await cloud.admin.set({ show_terminated_s: 0 });
    assert.match((await status()).shown, /nothing ran or waited for 10s/, 'also when the cloud has forgotten it');
  });

  // On own hosts and embedded it is proven by every test run.
  if (inSoak('cloud-turn-off'))
    it('is made again when that is asked for, and a new one has its place', async () => {
      bed.write(file, clusterFile(cloud.endpoint, '{idle_shutdown: 1h}'));
      await manta('up', '-y', file);
      assert.match((await status()).shown, /Node status/);
      await manta('down', '-y', file);
      assert.deepEqual(await existing(), []);
    });
});
