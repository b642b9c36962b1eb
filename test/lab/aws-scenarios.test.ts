// needs: botocore, ray, hosts

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { labAccount } from '../../lab/aws/open.ts';
import { AwsClusterBed } from './aws-cluster-bed.ts';
import { needs, startRay } from './cloud-cluster-bed.ts';
import { clusterProblem, eventually, leftOn } from './cluster-bed.ts';

/** Whoever pulls from the registry needs a login, which is no good any more when somebody has written so. */
const login = '.registry-login';

const delta = (minSpot: number): string => `
cluster_name: delta
max_workers: 3
provider:
  type: aws
  region: us-west-2
  availability_zone: us-west-2a,us-west-2b
  cache_stopped_nodes: true
  manta:
    node_types:
      worker: {market: [spot, on-demand]}
auth: {ssh_user: ubuntu}
head_node_type: head
available_node_types:
  head:
    node_config: {InstanceType: m5.large}
    resources: {CPU: 0}
  worker:
    node_config: {InstanceType: m5.large}
    resources: {CPU: 1}
    max_workers: 1
    idle_timeout_s: 2
  cheap:
    node_config: {InstanceType: c5.large, InstanceMarketOptions: {MarketType: spot}}
    resources: {CPU: 0, cheap: 1}
    min_workers: ${minSpot}
    max_workers: 1
initialization_commands:
  - echo valid > ~/${login}; echo login >> ~/logins
setup_commands:
  - grep -q valid ~/${login} || { echo "no basic auth credentials"; exit 1; }
${startRay.replaceAll('ray stop', `grep -q valid ~/${login} && ray stop`)}`;

/** A head that takes its time to boot, and then is never heard of. */
const creek = `
cluster_name: creek
provider: {type: aws, region: us-west-2, availability_zone: us-west-2b}
auth: {ssh_user: ubuntu}
head_node_type: head
available_node_types:
  head: {node_config: {InstanceType: m5.xlarge}, resources: {CPU: 0}}
`;

/** Machines that have no public address, in an account without a default network. */
const bay = (bastion: string): string => `
cluster_name: bay
max_workers: 1
provider:
  type: aws
  region: us-east-1
  use_internal_ips: true
  manta: {lease: 10s}
auth:
  ssh_user: ubuntu
  ssh_proxy_command: ssh -o StrictHostKeyChecking=accept-new -W %h:%p root@${bastion}
head_node_type: head
available_node_types:
  head: {node_config: {InstanceType: m5.large}, resources: {CPU: 0}}
  worker: {node_config: {InstanceType: m5.large}, resources: {CPU: 1}, min_workers: 1, max_workers: 1}
${startRay}`;

/** Tells of the logins on the machine that it runs on. The last one is no good afterwards. */
const expires = `
import os, ray
ray.init(address="auto", logging_level="error")
@ray.remote(num_cpus=1)
def logins():
    with open(os.path.expanduser("~/${login}"), "w") as login:
        login.write("expired")
    with open(os.path.expanduser("~/logins")) as logins:
        return logins.read().split()
print("LOGINS", len(ray.get(logins.remote())))
`;

describe('clusters on AWS when things go wrong', { skip: clusterProblem() ?? false }, () => {
  let all: AwsClusterBed;
  /** Under way: they look for a minute whether anything comes late. */
  let downs: readonly Promise<string>[] = [];
  before(async () => {
    all = await AwsClusterBed.open({ hosts: 1 });
    all.bed.write('delta.yaml', delta(0));
    all.bed.write('creek.yaml', creek);
    all.bed.write('bay.yaml', bay(all.bed.head.address));
    const { world } = all.aws;
    world.removeNetwork(labAccount, 'us-east-1');
    const vpc = world.addVpc(labAccount, 'us-east-1');
    world.addSubnet(vpc, { zone: 'us-east-1b', mapsPublic: false, routed: false });
  });
  after(() => all?.close());

  it('a head whose first zone has no capacity is launched in the next one', async () => {
    await all.aws.admin.set({ capacity: [{ zone: 'us-west-2a', limit: 0 }] });
    await all.manta('up', '-y', 'delta.yaml');
    assert.deepEqual(await all.launches(), [
      'm5.large on-demand us-west-2a InsufficientInstanceCapacity',
      'm5.large on-demand us-west-2b given',
    ]);
  });

  it('a worker goes from zone to zone and then from spot to on-demand, and why tells', async () => {
    const nowhere = { zone: 'us-west-2a', limit: 0 };
    await all.aws.admin.set({ capacity: [nowhere, { market: 'spot', limit: 0 }] });
    const since = await all.lastCall();
    assert.match(await all.job('delta', expires), /^LOGINS 1$/m);
    assert.deepEqual(await all.launches(since), [
      'm5.large spot us-west-2a InsufficientInstanceCapacity',
      'm5.large spot us-west-2b InsufficientInstanceCapacity',
      'm5.large on-demand us-west-2a InsufficientInstanceCapacity',
      'm5.large on-demand us-west-2b given',
    ]);
    const [worker] = all.ofKind('delta', 'worker');
    const why = await all.manta('why', worker!.id, '-n', 'delta');
    for (const offer of ['us-west-2a, spot', 'us-west-2b, spot', 'us-west-2a'])
      assert.ok(why.includes(`worker (${offer}): the provider has no capacity`), why);
    await all.aws.admin.calm();
  });

  it('a worker that was stopped while it was idle logs in again when it is started again', async () => {
    const [worker] = all.ofKind('delta', 'worker');
    await eventually('the idle worker is stopped', () => worker!.now.state === 'stopped');
    assert.match(await all.manta('status', 'delta.yaml'), /1 stopped machine of worker/);
    const since = await all.lastCall();
    assert.match(await all.job('delta', expires), /^LOGINS 2$/m);
    assert.deepEqual(await all.launches(since), [], 'no other machine was asked for');
    await eventually('it is stopped again', () => worker!.now.state === 'stopped');
  });

  it('down from another laptop ends what an up is making, with answers that get lost on the way', async () => {
    const { admin } = all.aws;
    await admin.fault(
      { fault: 'hang-boot', type: 'm5.xlarge' },
      { fault: 'slow-boot', type: 'c5.large', skip: 1, seconds: 300 },
    );
    all.bed.write('delta.yaml', delta(1));
    const ups = [all.start('up', '-y', 'delta.yaml'), all.start('up', '-y', 'creek.yaml')];
    const spots = () => all.existing('delta').filter(({ market }) => market === 'spot');
    const spot = await eventually('a spot worker runs', () => spots().find(({ now }) => now.state === 'running'));
    await admin.preempt(spot.id, 120);
    await eventually('another one is to take its place', () => spots().length > 1);
    await eventually('the other head is asked for', () => all.existing('creek').length > 0);
    assert.equal(all.existing('delta').filter(({ now }) => now.state === 'stopped').length, 1);
    await admin.fault(
      { fault: 'lost-answer', call: 'TerminateInstances', times: 2 },
      { fault: 'lost-request', call: 'TerminateInstances', times: 1 },
      { fault: 'lost-answer', call: 'DescribeInstances', times: 2 },
      { fault: 'lost-answer', call: 'DeleteSecurityGroup', times: 1 },
      { fault: 'server-error', call: 'DeleteKeyPair', times: 1, after: true },
    );
    downs = ['delta', 'creek'].map((name) => all.elsewhere('down', '-y', `${name}.yaml`));
    await eventually(
      'the heads are gone',
      () => all.ofKind('delta', 'head').length + all.ofKind('creek', 'head').length === 0,
    );
    const [edited, first] = await Promise.all(ups.map(({ ended }) => ended));
    assert.equal(edited?.code, 4, edited?.stderr);
    assert.match(edited.stderr, /MANTA_HEAD_LOST/);
    assert.equal(first?.code, 4, first?.stderr);
    assert.match(first.stderr, /MANTA_LAUNCHER_HEAD_ENDED/);
  });

  it('a cluster without public addresses comes up through a bastion', async () => {
    await all.manta('up', '-y', 'bay.yaml');
    assert.deepEqual(
      all.existing('bay').map(({ now }) => now.outside),
      [undefined, undefined],
    );
    assert.match(await all.manta('exec', 'bay.yaml', 'hostname'), /^h\d+$/m);
    assert.match(await all.job('bay', needs('{"num_cpus": 1}')), /^RAN ON h\d+$/m);
  });

  it('a head whose machine is lost is told of and made again, and its workers end by their lease', async () => {
    const [[head], [worker]] = [all.ofKind('bay', 'head'), all.ofKind('bay', 'worker')];
    await all.aws.admin.preempt(head!.id);
    const { code, stdout, stderr } = await all.run('status', 'bay.yaml');
    assert.equal(code, 4, stdout + stderr);
    assert.match(stdout + stderr, new RegExp(`lost its head and its queue at .* ${head!.id}, is gone`));
    await eventually('its worker is gone', () => !worker!.exists);
    assert.equal(worker!.now.cause, 'itself');
    await all.manta('up', '-y', 'bay.yaml');
    assert.notEqual(all.ofKind('bay', 'head')[0]?.id, head!.id);
    assert.match(await all.job('bay', needs('{"num_cpus": 1}')), /^RAN ON h\d+$/m);
    assert.match(await all.manta('down', '-y', 'bay.yaml'), /nothing is left/);
    await all.assertNothingLeft('bay');
    assert.deepEqual(
      (await leftOn(all.bed, all.bed.laptop, 'bay')).filter((line) => line.includes('bay')),
      [],
    );
  });

  it('nothing remains of what was shut down from another laptop', async () => {
    for (const said of await Promise.all(downs)) assert.match(said, /nothing is left/);
    await all.assertNothingLeft('delta');
    await all.assertNothingLeft('creek');
  });
});
