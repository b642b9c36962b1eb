// needs: botocore

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { labAccount } from '../../../lab/aws/open.ts';
import { wallClock } from '../../../src/base/time/wall-clock.ts';
import { rayTags } from '../../../src/core/ray-tags.ts';
import { providerErrors } from '../../../src/providers/errors.ts';
import { never, until } from '../../contract/waiting.ts';
import { ask, clusterText, providerOf, standInAws, zone } from './aws-bed.ts';

test('a list is complete over pages of five, and each instance is in it once', async (t) => {
  const aws = await standInAws(t, { settings: { page_size: 5 } });
  const provider = providerOf(aws);
  await provider.launch(ask('many', { count: 12 }), never);
  assert.equal((await provider.list(never)).length, 12);
  assert.equal((await aws.admin.calls({ call: 'DescribeInstances' })).length, 3);
  aws.cloud.faults.add({ fault: 'duplicate-entry' });
  assert.equal((await provider.list(never)).length, 12);
});

test('a list of which one page is missing is an error and no list', async (t) => {
  const aws = await standInAws(t, { settings: { page_size: 5 } });
  const provider = providerOf(aws);
  await provider.launch(ask('many', { count: 12 }), never);
  for (const [fault, error] of [
    ['server-error', providerErrors.Unreachable],
    ['lost-answer', providerErrors.Unreachable],
    ['half-list', providerErrors.Unreachable],
  ] as const) {
    aws.cloud.faults.add({ fault, call: 'DescribeInstances', skip: 1, times: 1 });
    await assert.rejects(provider.list(never), { code: error.code }, fault);
    aws.cloud.faults.clear();
  }
});

test('a list of which one page is throttled goes on with that page', async (t) => {
  const aws = await standInAws(t, { settings: { page_size: 5 } });
  const provider = providerOf(aws);
  await provider.launch(ask('many', { count: 12 }), never);
  aws.cloud.faults.add({ fault: 'throttle', call: 'DescribeInstances', skip: 1, times: 2 });
  assert.equal((await provider.list(never)).length, 12);
  assert.equal((await aws.admin.calls({ call: 'DescribeInstances' })).length, 3 + 2);
  aws.cloud.faults.add({ fault: 'throttle', call: 'DescribeInstances', times: 1 });
  await assert.rejects(
    provider.list(never),
    { code: providerErrors.Throttled.code },
    'the first page is the list itself',
  );
});

/** A server that answers every request with this. */
async function answering(t: TestContext, status: number, text: string): Promise<string> {
  const server = createServer((_, response) => void response.writeHead(status).end(text));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('an answer that cannot be read never passes for an empty list', async (t) => {
  const aws = await standInAws(t);
  const instance = '<item><instancesSet><item><imageId>ami-1</imageId></item></instancesSet></item>';
  for (const [status, text] of [
    [200, ''],
    [200, '<html>'],
    [200, '<DescribeInstancesResponse/>'],
    [200, '<DescribeInstancesResponse><reservationSet>'],
    [200, `<DescribeInstancesResponse><reservationSet>${instance}</reservationSet></DescribeInstancesResponse>`],
    // The same page again, for ever.
    [200, '<DescribeInstancesResponse><reservationSet/><nextToken>again</nextToken></DescribeInstancesResponse>'],
    [502, '<html>bad gateway</html>'],
    [503, ''],
  ] as const) {
    const env = { ...aws.environment(), AWS_ENDPOINT_URL: await answering(t, status, text) };
    const provider = providerOf(aws, { client: { identity: () => ({ kind: 'user', env }) } });
    await assert.rejects(provider.list(never), { code: providerErrors.Unreachable.code }, `${status} ${text}`);
  }
});

test('tags that lag behind do not make a launch unknown', async (t) => {
  const aws = await standInAws(t, { settings: { tag_lag_s: 0.4 } });
  const provider = providerOf(aws);
  const [made] = await provider.launch(ask('lagging'), never);
  assert.equal(made?.launchToken, 'lagging');
  assert.equal((await provider.launch(ask('lagging'), never))[0]?.id, made?.id);
  await provider.tag(made.id, { step: 'one' }, never);
  await until('the list shows it', async () => (await provider.list(never))[0]?.tags['step'] === 'one');
});

test('machines reach an instance by its private address, and others by its public one', async (t) => {
  const aws = await standInAws(t);
  const provider = providerOf(aws);
  await provider.launch(ask('public'), never);
  const address = await until('it has both', async () => {
    const found = (await provider.list(never))[0]?.address;
    return found?.inside !== undefined && found.outside !== undefined && found;
  });
  assert.notEqual(address.inside, address.outside);
  const vpc = aws.world.vpcs.of(labAccount, 'us-west-2')[0]!;
  const hidden = aws.world.addSubnet(vpc, { zone, mapsPublic: false, routed: false });
  const text = clusterText({ worker: [`SubnetId: ${hidden.id}`] });
  const [inner] = await providerOf(aws, { text }).launch(ask('private'), never);
  await until('it runs', async () => {
    const found = (await provider.list(never)).find(({ id }) => id === inner?.id);
    return found?.state === 'running' && found.address?.inside !== undefined && found.address.outside === undefined;
  });
});

test('clusters of one name and of one account do not see one another', async (t) => {
  const aws = await standInAws(t);
  const [mine] = await providerOf(aws).launch(ask('same'), never);
  const others = providerOf(aws, { clusterId: 'c-2' });
  const [theirs] = await others.launch(ask('same'), never);
  assert.notEqual(mine?.id, theirs?.id);
  assert.deepEqual(
    (await others.list(never)).map(({ id }) => id),
    [theirs?.id],
  );
});

test('an instance that is marked as unmanaged is not in the list', async (t) => {
  const provider = providerOf(await standInAws(t));
  const [one, other] = await provider.launch(ask('two', { count: 2 }), never);
  await provider.tag(one!.id, { [rayTags.kind]: 'unmanaged' }, never);
  assert.deepEqual(
    (await provider.list(never)).map(({ id }) => id),
    [other?.id],
  );
});

for (const [code, kind, closes] of [
  ['no-capacity', 'no-capacity', undefined],
  ['quota', 'quota', 'region'],
  ['key', 'denied', undefined],
] as const)
  test(`an instance that was accepted and never ran stays listed with its reason: ${kind}`, async (t) => {
    const aws = await standInAws(t);
    const provider = providerOf(aws);
    aws.cloud.faults.add({ fault: 'late-refusal', code, message: 'in the words of AWS', times: 1 });
    await provider.launch(ask('late', { count: 2 }), never);
    const failed = await until('one has failed', async () =>
      (await provider.list(never)).find((each) => each.failed !== undefined),
    );
    assert.equal(failed.state, 'stopping');
    assert.equal(failed.launchToken, 'late');
    assert.equal(failed.failed?.kind, kind);
    assert.equal(failed.failed?.closes, closes);
    assert.match(failed.failed?.detail ?? '', /in the words of AWS/);
    await provider.terminate([failed.id], never);
    assert.equal((await provider.list(never)).length, 2);
  });

test('the notice to a spot instance is in the list, with the time of its end', async (t) => {
  const aws = await standInAws(t);
  const provider = providerOf(aws);
  const [one, other] = await provider.launch(ask('spot', { market: 'spot', count: 2 }), never);
  assert.ok((await provider.list(never)).every(({ preemptionAt }) => preemptionAt === undefined));
  await aws.admin.preempt(one!.id, 120);
  const listed = await provider.list(never);
  const truth = aws.cloud.instance(one!.id)!.now.preemptionAt!;
  // EC2 tells times in whole seconds.
  assert.ok(Math.abs(listed.find(({ id }) => id === one!.id)!.preemptionAt! - truth) <= 1_000);
  assert.equal(listed.find(({ id }) => id === other!.id)!.preemptionAt, undefined);
});

test('spot requests are asked for only where spot instances run', async (t) => {
  const aws = await standInAws(t);
  const provider = providerOf(aws);
  await provider.launch(ask('on demand'), never);
  await provider.list(never);
  assert.deepEqual(await aws.admin.calls({ call: 'DescribeSpotInstanceRequests' }), []);
});

test('a role that may not look at spot requests still lists, and ends, its spot instances', async (t) => {
  const aws = await standInAws(t);
  const credentials = aws.addUser('as Ray documents it', {
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Action: ['ec2:RunInstances', 'ec2:DescribeInstances', 'ec2:CreateTags', 'ec2:TerminateInstances'],
        Resource: '*',
      },
    ],
  });
  // The account has used spot before.
  const [first] = await providerOf(aws, { clusterId: 'c-2' }).launch(ask('first', { market: 'spot' }), never);
  const provider = providerOf(aws, { credentials });
  const [made] = await provider.launch(ask('spot', { market: 'spot' }), never);
  assert.deepEqual(
    (await provider.list(never)).map(({ id }) => id),
    [made!.id],
  );
  await provider.terminate([made!.id], never);
  assert.deepEqual(
    aws.cloud.truth().flatMap(({ id, exists }) => (exists ? [id] : [])),
    [first!.id],
  );
  const lasting = clusterText({
    worker: ['InstanceMarketOptions: {MarketType: spot, SpotOptions: {SpotInstanceType: persistent}}'],
  });
  const persistent = providerOf(aws, { text: lasting, credentials });
  const [again] = await persistent.launch(ask('persistent', { market: 'spot' }), never);
  await assert.rejects(persistent.terminate([again!.id], never), {
    code: providerErrors.Denied.code,
    message: /DescribeSpotInstanceRequests/,
  });
});

test('the end of a capacity block is announced ten minutes before its instances end', async (t) => {
  const aws = await standInAws(t);
  const until = Date.now() + 3_600_000;
  const block = aws.world.addReservation({ account: labAccount, type: 'm5.large', zone, total: 2, block: true, until });
  const text = clusterText({
    worker: [
      'InstanceMarketOptions: {MarketType: capacity-block}',
      `CapacityReservationSpecification: {CapacityReservationTarget: {CapacityReservationId: ${block.id}}}`,
    ],
  });
  await providerOf(aws, { text }).launch(ask('block', { market: 'reserved' }), never);
  const listedIn = async (minutes: number) => {
    const clock = { ...wallClock, now: () => Date.now() + 60_000 * minutes };
    return (await providerOf(aws, { text, clock }).list(never))[0];
  };
  assert.equal((await listedIn(10))?.preemptionAt, undefined);
  const end = (await listedIn(21))?.preemptionAt;
  assert.ok(Math.abs(end! - (until - 30 * 60_000)) <= 1_000);
});

test('what an instance was, and why it ended, is known for a while', async (t) => {
  const aws = await standInAws(t);
  const provider = providerOf(aws);
  const [made] = await provider.launch(ask('known'), never);
  assert.equal((await provider.lastKnown(made!.id, never))?.ended, false);
  await provider.terminate([made!.id], never);
  const last = await provider.lastKnown(made!.id, never);
  assert.equal(last?.ended, true);
  assert.match(last?.reason ?? '', /User initiated shutdown/);
  assert.equal(last?.tags[rayTags.launchRequest], 'known');
  assert.equal(await provider.lastKnown('i-00000000000000000', never), undefined);
  assert.equal(await provider.lastKnown('nonsense', never), undefined);
});
