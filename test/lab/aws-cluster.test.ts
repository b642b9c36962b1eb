// needs: botocore, ray, hosts

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type LabAws, labAccount, openLabAws } from '../../lab/aws/open.ts';
import { ClusterBed, clusterProblem, eventually, leftOn, smallRay } from './cluster-bed.ts';

const file = 'aws.yaml';
const ray = smallRay.replace(/--num-cpus=\d+ /, '');

const clusterFile = `
cluster_name: river
max_workers: 2
provider:
  type: aws
  region: us-west-2
  availability_zone: us-west-2a,us-west-2b
auth: {ssh_user: ubuntu}
head_node_type: head
available_node_types:
  head:
    node_config:
      InstanceType: m5.large
      BlockDeviceMappings: [{DeviceName: /dev/sda1, Ebs: {VolumeSize: 140, VolumeType: gp3}}]
    resources: {CPU: 0}
  worker:
    node_config:
      InstanceType: m5.large
      InstanceMarketOptions: {MarketType: spot}
    resources: {CPU: 1}
    min_workers: 0
    max_workers: 2
    idle_timeout_s: 2
setup_commands: []
head_setup_commands: []
head_start_ray_commands:
  - ray stop
  - ray start --head --port=6379 ${ray}
worker_start_ray_commands:
  - ray stop
  - ray start --address=$RAY_HEAD_IP:6379 ${ray}
`;

const needsWorker = `
import ray, socket
ray.init(address="auto", logging_level="error")
@ray.remote(num_cpus=1)
def where():
    return socket.gethostname()
print("RAN ON", ray.get(where.remote()))
`;

/** Calls that change something; all others only look. */
const changes = /^(Run|Create|Delete|Terminate|Stop|Start|Import|Authorize|Revoke|Put|Attach|Add|Modify|Cancel|Tag)/;

describe('a cluster on AWS', { skip: clusterProblem() ?? false }, () => {
  let bed: ClusterBed;
  let aws: LabAws;
  before(async () => {
    bed = await ClusterBed.open({ hosts: 0, ray: true });
    aws = await openLabAws(bed.lab, { image: { ray: true, cron: true } });
    bed.write(file, clusterFile);
    bed.write('jobs/where.py', needsWorker);
  });
  after(async () => {
    await aws?.close();
    await bed?.close();
  });

  const manta = (...words: readonly string[]): Promise<string> => bed.manta(words, { env: aws.environment() });
  const existing = () => aws.cloud.existing(labAccount);
  const belongings = async () =>
    (await aws.admin.belongings()).filter(({ tags }) => tags['ray-cluster-name'] === 'river');

  it('shows its plan without one call that changes anything', async () => {
    const plan = await manta('up', '--plan', file);
    assert.match(plan, /m5\.large/);
    assert.match(plan, /security group/);
    const made = (await aws.admin.calls()).filter(({ operation }) => changes.test(operation ?? ''));
    assert.deepEqual(
      made.map(({ operation }) => operation),
      [],
    );
  });

  it('is one machine after up, whose head needs no credentials but its own role', async () => {
    await manta('up', '-y', file);
    const [head, ...others] = existing();
    assert.deepEqual(others, []);
    assert.equal(head?.now.tags['ray-node-type'], 'head');
    const copied = await aws
      .host(head.id)!
      .must(`grep -rls ${aws.credentials.secretAccessKey} /home/ubuntu /root /etc || true`);
    assert.equal(copied, '', 'no secret of the laptop is on the head');
    await manta('up', '-y', file);
    assert.equal(existing().length, 1, 'up again makes nothing');
  });

  it('gets a spot machine for work that needs one, asked for once, and gives it back', async () => {
    const said = await manta('job', 'submit', '-n', 'river', '--working-dir', 'jobs', '--', 'python', 'where.py');
    assert.match(said, /^RAN ON h\d+$/m);
    const launched = (await aws.admin.calls()).filter(({ operation }) => operation === 'RunInstances');
    assert.equal(launched.length, 2, 'one call for the head, one for the worker');
    await eventually('the worker is given back', () => existing().length === 1);
  });

  it('takes everything along when it goes down', async () => {
    await manta('job', 'submit', '-n', 'river', '--no-wait', '--working-dir', 'jobs', '--', 'python', 'where.py');
    await eventually('a worker is asked for', () => existing().length === 2);
    const said = await manta('down', '-y', file);
    assert.match(said, /nothing is left/);
    assert.deepEqual(existing(), []);
    assert.deepEqual(await belongings(), []);
    assert.deepEqual(await leftOn(bed, bed.laptop, 'river'), []);
  });
});
