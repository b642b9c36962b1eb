// needs: botocore, boto3, ray, hosts

/** Ray's own launcher and autoscaler take the fake for AWS. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type LabAws, labAccount, openLabAws } from '../../lab/aws/open.ts';
import { type Lab, labProblem, openLab } from '../../lab/lab.ts';
import { until } from '../contract/waiting.ts';

const small = '--num-cpus=1 --memory=500000000 --object-store-memory=100000000';
const file = `
cluster_name: demo
max_workers: 1
provider: {type: aws, region: us-west-2, availability_zone: "us-west-2a,us-west-2b", cache_stopped_nodes: false}
auth: {ssh_user: ubuntu}
available_node_types:
  head:
    resources: {CPU: 1}
    node_config: {InstanceType: m5.large, BlockDeviceMappings: [{DeviceName: /dev/sda1, Ebs: {VolumeSize: 140}}]}
  worker:
    min_workers: 1
    resources: {CPU: 1}
    node_config: {InstanceType: m5.large, InstanceMarketOptions: {MarketType: spot}}
head_node_type: head
setup_commands: []
head_setup_commands: []
head_start_ray_commands:
  - ray stop
  - ray start --head --port=6379 ${small} --autoscaling-config=~/ray_bootstrap_config.yaml
worker_start_ray_commands:
  - ray stop
  - ray start --address=$RAY_HEAD_IP:6379 ${small}
`;

describe('Ray on the fake of AWS', { skip: labProblem() ?? false }, () => {
  let lab: Lab;
  let aws: LabAws;
  before(async () => {
    lab = await openLab({ hosts: 0, ray: true, boto3: true });
    aws = await openLabAws(lab, { image: { ray: true, boto3: true } });
    await lab.laptop.must(['sh', '-c', 'cat > /root/demo.yaml'], { input: file });
  });
  after(async () => {
    await aws?.close();
    await lab?.close();
  });
  const ray = (...words: string[]) =>
    lab.laptop.exec(['/opt/ray/bin/ray', ...words], { env: aws.environment(), within: 240_000 });

  it('comes up in an empty account, launches a worker with the role of the head, and goes down', async () => {
    const up = await ray('up', '-y', '/root/demo.yaml');
    assert.equal(up.code, 0, up.stderr + up.stdout);
    const workers = () => aws.cloud.existing(labAccount).filter(({ market }) => market === 'spot');
    const isUp = () => workers().some(({ now }) => now.tags['ray-node-status'] === 'up-to-date');
    await until('the head has launched a worker', isUp, { within: 120_000 });
    const calls = await aws.admin.calls();
    const refused = calls
      .filter(({ error }) => error !== undefined)
      .map(({ operation, error }) => `${operation} ${error}`);
    assert.deepEqual(refused, ['GetInstanceProfile NoSuchEntity', 'GetRole NoSuchEntity']);
    const down = await ray('down', '-y', '/root/demo.yaml');
    assert.equal(down.code, 0, down.stderr + down.stdout);
    await until('all have ended', () => aws.cloud.existing(labAccount).length === 0);
    const left = (await aws.admin.belongings()).filter(({ tags }) => tags['ray-cluster-name'] === 'demo');
    assert.deepEqual(
      left.map(({ kind }) => kind),
      ['group'],
      'Ray leaves its group',
    );
  });
});
