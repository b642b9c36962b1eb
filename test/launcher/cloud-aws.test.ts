// needs: botocore

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { labAccount } from '../../lab/aws/open.ts';
import type { Clock } from '../../src/base/time/clock.ts';
import { mantaTags } from '../../src/core/ray-tags.ts';
import { downWithoutHead } from '../../src/launcher/down/cloud.ts';
import { type CloudRequest, openCloudOf, specFor } from '../../src/launcher/head/cloud-client.ts';
import { planCloud } from '../../src/launcher/up/cloud-plan.ts';
import { readyCloud } from '../../src/launcher/up/prepare-cloud.ts';
import { readPrepared } from '../../src/providers/aws/prepared.ts';
import { readLaptopRecord } from '../../src/state/cluster-record.ts';
import { readConfig } from '../../src/state/load-spec.ts';
import { stateFolder } from '../../src/state/state-folder.ts';
import { never } from '../contract/waiting.ts';
import { clientsOf } from '../lab/aws-bed.ts';
import { ask, clusterText, region, standInAws } from '../providers/aws/aws-bed.ts';

/** So quick that nobody waits for it, and slow enough that a call on a busy machine is not late. */
const quickClock: Clock = {
  now: () => 1e12 + 20 * performance.now(),
  sleep: (duration, signal) => sleep(duration / 20, undefined, signal && { signal }),
};

/** A laptop with one cluster on AWS, of stand-ins, as far as `up` goes without a host to log in to. */
async function laptop(t: TestContext) {
  const aws = await standInAws(t);
  const home = mkdtempSync(join(tmpdir(), 'manta-aws-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const requestFor = (text: string): CloudRequest => ({
    folder: stateFolder(home, 'bed'),
    file: readConfig({ path: 'bed.yaml', text, env: {} }),
    env: { HOME: home, MANTA_CHECKIP_URL: '', ...aws.environment() },
    clock: quickClock,
    events: { emit: () => {} },
  });
  const plan = (text: string) => planCloud(requestFor(text), never);
  const up = async (text: string) => {
    const planned = await plan(text);
    await readyCloud(requestFor(text), planned, () => assert.fail('no head is replaced'), never);
    const { remote } = readLaptopRecord(requestFor(text).folder)!;
    return {
      head: planned.head,
      clusterId: remote.clusterId ?? assert.fail(),
      prepared: readPrepared(remote.prepared)!,
    };
  };
  /** What the loop would launch for a worker now, and with which hash. */
  const worker = async (text: string, clusterId: string, token: string) => {
    const provider = await openCloudOf(requestFor(text), clusterId);
    const spec = (await provider.learn(never))(specFor(requestFor(text)));
    const { offers, launchHash, resources } = spec.nodeTypes.find(({ name }) => name === 'worker')!;
    const { zone = '', market, pricePerHour } = offers[0]!;
    const tags = { [mantaTags.launchHash]: launchHash };
    const [made] = await provider.launch(ask(token, { zone, market, tags }), never);
    const { id, machine_type: machine } = aws.cloud.truth().find((each) => each.id === made?.id)!;
    return { id, offers, zone: made?.zone, machine, launchHash, pricePerHour, cpus: resources['CPU'] };
  };
  const clients = clientsOf(aws.localEndpoint, aws.credentials);
  t.after(() => clients.destroy());
  const down = (text: string) => downWithoutHead(requestFor(text), { unseen: 0, forget: false }, never);
  return { aws, ec2: clients.ec2, plan, up, worker, down };
}

const opened = (port: number): readonly string[] => [
  'security_group:',
  '  IpPermissions:',
  `    - {FromPort: ${port}, ToPort: ${port}, IpProtocol: tcp, IpRanges: [{CidrIp: 0.0.0.0/0}]}`,
];

test('a file that is edited between two ups counts as it is now, in everything that was prepared for it', async (t) => {
  const { aws, plan, up, worker } = await laptop(t);
  const before = clusterText({ provider: ['availability_zone: us-west-2a', ...opened(8080)] });
  const first = await up(before);
  const one = await worker(before, first.clusterId, 'one');
  assert.deepEqual([first.head.action, one.machine, one.zone, one.cpus], ['launch', 'm5.large', 'us-west-2a', 2]);

  const after = clusterText({ provider: ['availability_zone: us-west-2b', ...opened(9090)] }).replace(
    /(worker:\s+node_config:\s+InstanceType: )m5.large/,
    '$1c5.xlarge',
  );
  const second = await up(after);
  assert.equal(second.clusterId, first.clusterId, 'it is the same cluster');
  assert.equal(second.prepared.types['worker']?.instanceType, 'c5.xlarge');
  const two = await worker(after, second.clusterId, 'two');
  assert.deepEqual([two.machine, two.zone, two.cpus], ['c5.xlarge', 'us-west-2b', 4]);
  assert.notEqual(two.launchHash, one.launchHash, 'what was launched before is outdated');
  assert.ok(two.pricePerHour !== undefined && two.pricePerHour !== one.pricePerHour);
  const ports = aws.cloud.has.groups
    .of(labAccount, region)
    .filter(({ name }) => name.startsWith('ray-autoscaler-'))
    .flatMap(({ rules }) => rules.map(({ from }) => from));
  assert.ok(ports.includes(9090), `the group opens ${ports.join()}`);

  const back = await worker(before, (await up(before)).clusterId, 'three');
  assert.deepEqual([back.machine, back.zone, back.launchHash], ['m5.large', 'us-west-2a', one.launchHash]);
  const larger = before.replace(/(head:\s+node_config:\s+InstanceType: )m5.large/, '$1m5.xlarge');
  const { head } = await plan(larger);
  assert.deepEqual([head.action, head.machine], ['replace', 'm5.xlarge']);
});

test('a launch template that says spot makes spot offers, and its request carries the tags of the cluster', async (t) => {
  const { aws, ec2, plan, up, worker, down } = await laptop(t);
  const market = (price: string) => ({ MarketType: 'spot' as const, SpotOptions: { MaxPrice: price } });
  await ec2.createLaunchTemplate({
    LaunchTemplateName: 'cheap',
    LaunchTemplateData: { InstanceMarketOptions: market('0.09') },
  });
  const text = clusterText({ worker: ['LaunchTemplate: {LaunchTemplateName: cheap}'] });
  const { offer } = (await plan(text)).workers[0]!;
  assert.equal(offer.market, 'spot');
  assert.ok(offer.pricePerHour !== undefined && offer.pricePerHour < 0.09);
  const { clusterId } = await up(text);
  const { offers } = await worker(text, clusterId, 'one');
  assert.deepEqual(new Set(offers.map((each) => each.market)), new Set(['spot']));
  const [request] = aws.world.spotRequests.of(labAccount);
  assert.equal(request?.tags['manta-cluster-id'], clusterId);
  assert.equal(Number(request?.maxPrice), 0.09, 'what the template says of spot is kept');
  const gone = await down(text);
  assert.deepEqual([gone.left, gone.remains?.filter(({ keeps }) => keeps === undefined) ?? []], [[], []]);
  const head = clusterText({ head: ['LaunchTemplate: {LaunchTemplateName: cheap}'] });
  assert.match((await plan(head)).warnings.join(), /the head \(head\) is a spot instance/);
});

test('an instance with termination protection is named by down, and goes with the next one', async (t) => {
  const { aws, ec2, up, worker, down } = await laptop(t);
  const text = clusterText();
  const { clusterId } = await up(text);
  const { id } = await worker(text, clusterId, 'kept');
  const protect = (Value: boolean) => ec2.modifyInstanceAttribute({ InstanceId: id, DisableApiTermination: { Value } });
  await protect(true);
  const { left } = await down(text);
  assert.equal(left.length, 1);
  assert.match(left[0]!.why, new RegExp(`cannot terminate ${id}: .*disableApiTermination`));
  assert.deepEqual(
    aws.cloud.existing().map((each) => each.id),
    [id],
  );
  await protect(false);
  assert.deepEqual((await down(text)).left, []);
  assert.deepEqual(aws.cloud.existing(), []);
});
