import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aws, codesOf, open } from './cluster-text.ts';

const type = (config: string): string =>
  `available_node_types: {a: {resources: {}, node_config: ${config}}}\nhead_node_type: a\n`;
const gcp = (more: string): string =>
  `cluster_name: g\nprovider: {type: gcp, region: us-west1, availability_zone: us-west1-a, project_id: p}\n${more}`;

const cases: readonly [string, string, string[]][] = [
  ['a machine image that changes', aws(type('{InstanceType: m5.large}')), ['OLD_AMI']],
  ['stopped instances by default', 'cluster_name: x\nprovider: {type: aws, region: us-west-2}', ['STOPPED_DISKS']],
  ['a head on the spot market', aws(type('{ImageId: a, InstanceMarketOptions: {MarketType: spot}}')), ['SPOT_HEAD']],
  ['a preemptible head', gcp(type('{machineType: n1, scheduling: [{preemptible: true}]}')), ['SPOT_HEAD']],
  [
    'a wheel for an old Python',
    aws(
      'setup_commands: ["pip install https://s3.amazonaws.com/ray-wheels/latest/ray-3.0.0.dev0-cp37-cp37m-manylinux2014_x86_64.whl"]',
    ),
    ['OLD_WHEEL'],
  ],
  [
    'a nightly wheel of a past version',
    aws(
      'setup_commands: ["pip install https://s3.amazonaws.com/ray-wheels/latest/ray-2.0.0.dev0-cp310-cp310-manylinux2014_x86_64.whl"]',
    ),
    ['OLD_WHEEL'],
  ],
  ['options that are gone', aws('head_start_ray_commands: [ray start --head --redis-port=6379]'), ['REDIS_FLAGS']],
  ['start commands that start nothing', aws('worker_start_ray_commands: [echo hi]'), ['NO_RAY_START']],
  ['a clone that fails the second time', aws('setup_commands: [git clone https://x/y]'), ['NOT_REPEATABLE']],
  [
    'a zone in another region',
    'cluster_name: x\nprovider: {type: aws, region: us-west-2, availability_zone: us-east-1a, cache_stopped_nodes: true}',
    ['ZONE_OUTSIDE_REGION'],
  ],
  [
    'ports open to the world',
    'cluster_name: x\nprovider: {type: aws, region: us-west-2, cache_stopped_nodes: true, security_group: {IpPermissions: [{FromPort: 8265, ToPort: 8265, IpProtocol: TCP, IpRanges: [{CidrIp: 0.0.0.0/0}]}, {FromPort: 22, ToPort: 22, IpProtocol: TCP, IpRanges: [{CidrIp: 0.0.0.0/0}]}]}}',
    ['OPEN_PORT'],
  ],
  [
    'a private key that AWS does not know',
    aws(`auth: {ssh_private_key: ~/k}\n${type('{ImageId: a}')}`),
    ['KEY_NAME_MISSING'],
  ],
  ['no zone', 'cluster_name: x\nprovider: {type: gcp, region: us-west1, project_id: null}', ['PROVIDER_KEY_MISSING']],
  [
    'half of a key pair on Azure',
    'cluster_name: x\nprovider: {type: azure, location: westus2, resource_group: r, cache_stopped_nodes: false}\nauth: {ssh_user: u, ssh_private_key: k}',
    ['HALF_KEY_PAIR'],
  ],
  [
    'a GPU machine that may move',
    gcp(type('{guestAccelerators: [{acceleratorType: t4, acceleratorCount: 1}]}')),
    ['GPU_MAINTENANCE'],
  ],
];

for (const [what, text, expected] of cases) {
  test(`${what} gets a warning, and nothing else does`, () => {
    assert.deepEqual(
      codesOf(text).map((code) => code.split(' ')[1]),
      expected,
    );
  });
}

test('a file without traps gets no warning', () => {
  const text =
    aws(`${type('{ImageId: ami-1, InstanceType: m5.large}')}setup_commands: ["test -e y || git clone https://x/y", "pip install 'ray[default]==2.60.0'"]
head_start_ray_commands: [ray stop, "ulimit -n 65536; ray start --head --port=6379"]
`);
  assert.deepEqual(codesOf(text), []);
});

test('a warning about an image or a key on AWS says what Manta does, beside what Ray does', () => {
  const [image] = open(aws(type('{InstanceType: m5.large}'))).problems;
  assert.match(
    image!.message,
    /has no ImageId: Manta uses the current Deep Learning AMI; Ray uses one with Ubuntu 18\.04/,
  );
  assert.equal(image!.hint, 'set ImageId in node_config to have the same image every time');
  const [key] = open(aws(`auth: {ssh_private_key: ~/k}\n${type('{ImageId: a}')}`)).problems;
  assert.match(key!.message, /has no KeyName: Manta creates a key pair from your key; Ray refuses the file/);
});
