// needs: botocore

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labAccount } from '../../../lab/aws/open.ts';
import { awsErrors } from '../../../src/providers/aws/errors.ts';
import { providerErrors } from '../../../src/providers/errors.ts';
import { never, until } from '../../contract/waiting.ts';
import { ask, clusterText, providerOf, standInAws } from './aws-bed.ts';

const persistent = clusterText({
  worker: ['InstanceMarketOptions: {MarketType: spot, SpotOptions: {SpotInstanceType: persistent}}'],
});

test('one bad id does not hold up the end of the others', async (t) => {
  const aws = await standInAws(t);
  const provider = providerOf(aws);
  const made = await provider.launch(ask('many', { count: 20 }), never);
  await provider.list(never);
  const ids = made.map(({ id }) => id);
  await provider.terminate([...ids.slice(0, 7), 'i-0000000000000dead', 'nonsense', ...ids.slice(7)], never);
  await until('none is left', async () => (await provider.list(never)).length === 0);
});

test('500 instances are ended in one call', async (t) => {
  const aws = await standInAws(t);
  const provider = providerOf(aws);
  const made = await provider.launch(ask('many', { count: 500 }), never);
  await provider.list(never);
  await provider.terminate(
    made.map(({ id }) => id),
    never,
  );
  assert.equal((await aws.admin.calls({ call: 'TerminateInstances' })).length, 1);
  await until('none is left', async () => (await provider.list(never)).length === 0);
});

test('an instance with termination protection is named, and the others end', async (t) => {
  const aws = await standInAws(t);
  const [held] = await providerOf(aws, { text: clusterText({ worker: ['DisableApiTermination: true'] }) }).launch(
    ask('held'),
    never,
  );
  const provider = providerOf(aws);
  const made = await provider.launch(ask('free', { count: 3 }), never);
  await assert.rejects(provider.terminate([held!.id, ...made.map(({ id }) => id)], never), {
    code: awsErrors.Protected.code,
    exit: 1,
    message: new RegExp(`${held!.id}.*disableApiTermination`),
  });
  assert.deepEqual(
    (await provider.list(never)).map(({ id }) => id),
    [held!.id],
  );
});

test('an instance that EC2 does not know yet is ended once it does', async (t) => {
  const aws = await standInAws(t);
  const provider = providerOf(aws);
  const [made] = await provider.launch(ask('young'), never);
  const notYet = { fault: 'refuse', code: 'InvalidInstanceID.NotFound', message: 'not yet', times: 2 } as const;
  aws.cloud.faults.add({ ...notYet, call: 'CreateTags' });
  await provider.tag(made!.id, { step: 'one' }, never);
  aws.cloud.faults.add({ ...notYet, call: 'TerminateInstances' });
  await provider.terminate([made!.id], never);
  await until('none is left', async () => (await provider.list(never)).length === 0);
});

test('a persistent spot request is cancelled before its instance ends, so that no other comes', async (t) => {
  const aws = await standInAws(t);
  const provider = providerOf(aws, { text: persistent });
  const [one, other] = await provider.launch(ask('persistent', { market: 'spot', count: 2 }), never);
  await provider.terminate([one!.id], never);
  assert.deepEqual(
    (await provider.list(never)).map(({ id }) => id),
    [other!.id],
  );
  assert.deepEqual(
    aws.world.spotRequests
      .of(labAccount)
      .map(({ state }) => state)
      .sort(),
    ['active', 'cancelled'],
  );
  const steps = (await aws.admin.calls()).map(({ operation }) => operation);
  assert.ok(steps.indexOf('CancelSpotInstanceRequests') < steps.indexOf('TerminateInstances'));
});

test('a persistent request that waits for capacity is cancelled by a release', async (t) => {
  const aws = await standInAws(t);
  const provider = providerOf(aws, { text: persistent });
  const [made] = await provider.launch(ask('waits', { market: 'spot' }), never);
  await aws.admin.set({ capacity: [{ limit: 0 }] });
  await aws.admin.preempt(made!.id);
  await until('the request waits', () => aws.world.spotRequests.of(labAccount)[0]?.state === 'open');
  assert.deepEqual(
    (await provider.remains(never)).map(({ kind }) => kind).filter((kind) => kind === 'spot request'),
    ['spot request'],
  );
  await provider.release(never);
  assert.equal(aws.world.spotRequests.of(labAccount)[0]?.state, 'cancelled');
  assert.deepEqual(await provider.remains(never), []);
});

test('the same tags for many instances are one call, and one that is gone is told to its caller alone', async (t) => {
  const aws = await standInAws(t);
  const provider = providerOf(aws);
  const made = await provider.launch(ask('many', { count: 30 }), never);
  await provider.list(never);
  await Promise.all(made.map(({ id }) => provider.tag(id, { 'ray-node-status': 'up-to-date' }, never)));
  assert.equal((await aws.admin.calls({ call: 'CreateTags' })).length, 1);
  await provider.terminate([made[0]!.id], never);
  const answers = await Promise.allSettled(made.map(({ id }) => provider.tag(id, { step: 'two' }, never)));
  const [first, ...others] = answers;
  assert.ok(first?.status === 'rejected' && providerErrors.NotFound.is(first.reason));
  assert.ok(others.every(({ status }) => status === 'fulfilled'));
  assert.ok((await provider.list(never)).every(({ tags }) => tags['step'] === 'two'));
});

test('a value that is too long for a tag is cut', async (t) => {
  const provider = providerOf(await standInAws(t));
  const [made] = await provider.launch(ask('long'), never);
  await provider.tag(made!.id, { why: 'x'.repeat(300) }, never);
  assert.equal((await provider.list(never))[0]?.tags['why'], 'x'.repeat(256));
});
