// needs: ray, hosts

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type LabCloud, openLabCloud } from '../../lab/cloud/open.ts';
import { ClusterBed, clusterProblem, eventually, leftOn, smallRay } from './cluster-bed.ts';

const file = 'cloud.yaml';

const clusterFile = (endpoint: string): string => `
cluster_name: sky
max_workers: 2
provider:
  type: lab_cloud
  endpoint: ${endpoint}
  token_env: LAB_CLOUD_TOKEN
auth: {ssh_user: ubuntu}
head_node_type: head
available_node_types:
  head:
    node_config: {machine_type: medium}
    resources: {CPU: 0}
  worker:
    node_config: {machine_type: small, market: spot}
    resources: {CPU: 1}
    min_workers: 0
    max_workers: 2
    idle_timeout_s: 2
head_start_ray_commands:
  - ray stop
  - ray start --head --port=6379 ${smallRay.replace(/--num-cpus=\d+ /, '')}
worker_start_ray_commands:
  - ray stop
  - ray start --address=$RAY_HEAD_IP:6379 ${smallRay.replace(/--num-cpus=\d+ /, '')}
`;

const needsWorker = `
import ray, socket
ray.init(address="auto", logging_level="error")
@ray.remote(num_cpus=1)
def where():
    return socket.gethostname()
print("RAN ON", ray.get(where.remote()))
`;

describe('a cluster on the machines of a cloud', { skip: clusterProblem() ?? false }, () => {
  let bed: ClusterBed;
  let cloud: LabCloud;
  before(async () => {
    bed = await ClusterBed.open({ hosts: 0, ray: true });
    cloud = await openLabCloud(bed.lab, { image: { ray: true, cron: true } });
    bed.write(file, clusterFile(cloud.endpoint));
    bed.write('jobs/where.py', needsWorker);
  });
  after(async () => {
    await cloud?.close();
    await bed?.close();
  });

  const manta = (...words: readonly string[]): Promise<string> =>
    bed.manta(words, { env: { LAB_CLOUD_TOKEN: cloud.token } });
  const existing = async () => (await cloud.admin.instances()).filter(({ exists }) => exists);

  it('is one machine after up: its head, with the token of the cloud for nobody but its user', async () => {
    const said = await manta('up', '-y', file);
    assert.doesNotMatch(said, new RegExp(cloud.token));
    const [head, ...others] = await existing();
    assert.deepEqual(others, []);
    assert.equal(head?.tags['ray-node-type'], 'head');
    assert.equal(await manta('get-head-ip', file), `${head?.address}\n`);
    const { root } = cloud.host(head.id)!;
    const credential = join(root, 'home/ubuntu/.manta/head/clusters/sky/credential');
    assert.equal(readFileSync(credential, 'utf8').trim(), cloud.token);
    assert.equal((await cloud.host(head.id)!.must(`stat -c %a ${credential.slice(root.length)}`)).trim(), '600');
    const { status } = JSON.parse(await manta('--json', 'status', file)) as {
      status: { active: { type: string }[]; idle: { type: string }[] };
    };
    assert.deepEqual(
      [...status.active, ...status.idle].map(({ type }) => type),
      ['head'],
    );
    assert.match(await manta('up', '-y', file), /\bsky\b/, 'up again');
    assert.equal((await existing()).length, 1, 'up again makes nothing');
  });

  it('gets a machine for work that needs one, asked for once, and gives it back', async () => {
    const said = await manta('job', 'submit', '-n', 'sky', '--working-dir', 'jobs', '--', 'python', 'where.py');
    const launched = (await cloud.admin.calls({ call: 'launch' })).filter(({ asked }) => asked?.market === 'spot');
    assert.deepEqual(
      launched.map(({ asked, status }) => [asked?.type, asked?.count, status]),
      [['small', 1, 200]],
    );
    const [worker] = launched[0]!.instances!;
    const { address } = (await cloud.admin.instances()).find(({ id }) => id === worker)!;
    assert.match(said, /^RAN ON h\d+$/m);
    assert.notEqual(address, undefined);
    await eventually('the worker is given back', async () => (await existing()).length === 1);
    const told = await manta('events', file, '--lines', '1000');
    assert.match(told, /draining \S+ \(worker\): idle for \d+ s/);
  });

  it('is planned with another head where the file wants one, which comes only after a yes', async () => {
    const [old] = await existing();
    bed.write(file, clusterFile(cloud.endpoint).replace('machine_type: medium', 'machine_type: large'));
    assert.match(await manta('up', '--plan', file), new RegExp(`the head is replaced \\(${old?.id} is terminated`));
    assert.deepEqual(
      (await existing()).map(({ id }) => id),
      [old?.id],
    );
    await manta('up', '-y', file);
    const [head, ...others] = await existing();
    assert.deepEqual(others, []);
    assert.equal(head?.machine_type, 'large');
    assert.equal(head?.tags['manta-cluster-id'], old?.tags['manta-cluster-id']);
    assert.equal(await manta('get-head-ip', file), `${head?.address}\n`);
    const said = await manta('job', 'submit', '-n', 'sky', '--working-dir', 'jobs', '--', 'python', 'where.py');
    assert.match(said, /^RAN ON h\d+$/m);
    await eventually('the worker is given back', async () => (await existing()).length === 1);
  });

  it('takes all its machines along when it goes down, and every file of its own on the laptop', async () => {
    const job = ['job', 'submit', '-n', 'sky', '--no-wait', '--working-dir', 'jobs', '--', 'python', 'where.py'];
    await manta(...job);
    await eventually('a worker is asked for', async () => (await existing()).length === 2);
    const said = await manta('down', '-y', file);
    assert.match(said, /nothing is left/);
    assert.deepEqual(await existing(), []);
    assert.deepEqual(await leftOn(bed, bed.laptop, 'sky'), []);
    const keys = await bed.laptop.must('grep -rls "PRIVATE KEY" ~/.manta || true');
    assert.equal(keys, '', 'no key of it is left');
    assert.match(await manta('down', '-y', file), /No cluster 'sky' is known/);
  });
});
