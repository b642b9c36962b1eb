// needs: botocore

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Aws } from '../../../lab/aws/open.ts';
import type { PreparedAws } from '../../../src/providers/aws/prepared.ts';
import { never } from '../../contract/waiting.ts';
import { clusterText, preparedOf, providerOf, specOf, standInAws } from './aws-bed.ts';

const day = 24 * 3600_000;
const aged =
  (age: number, list: PreparedAws['prices']['list'] = []) =>
  (aws: Aws): PreparedAws =>
    preparedOf(aws, { prices: { at: Date.now() - age, list } });

const spot = clusterText({
  provider: ['availability_zone: us-west-2b,us-west-2a'],
  manta: ['node_types:', '  worker: {market: [spot, on-demand]}'],
});

async function workerOf(aws: Aws, text: string, prepared: (aws: Aws) => PreparedAws) {
  const complete = await providerOf(aws, { text, prepared }).learn(never);
  return complete(specOf(text)).nodeTypes.find(({ name }) => name === 'worker')!;
}

test('resources and prices that the file leaves out come from what was prepared', async (t) => {
  const aws = await standInAws(t);
  const list = [
    { instanceType: 'm5.large', market: 'on-demand' as const, price: 0.096 },
    { instanceType: 'm5.large', market: 'spot' as const, zone: 'us-west-2a', price: 0.03 },
    { instanceType: 'm5.large', market: 'spot' as const, zone: 'us-west-2b', price: 0.04 },
  ];
  const worker = await workerOf(aws, spot, aged(0, list));
  assert.deepEqual(worker.resources, { CPU: 2, memory: 6_012_954_214 });
  assert.equal(worker.resourcesKnown, true);
  assert.deepEqual(worker.offers, [
    { zone: 'us-west-2b', market: 'spot', pricePerHour: 0.04 },
    { zone: 'us-west-2a', market: 'spot', pricePerHour: 0.03 },
    { zone: 'us-west-2b', market: 'on-demand', pricePerHour: 0.096 },
    { zone: 'us-west-2a', market: 'on-demand', pricePerHour: 0.096 },
  ]);
  assert.deepEqual(await aws.admin.calls(), [], 'AWS is not asked for what is known');
});

test('prices that are a day old are asked for again, and a price of the file wins', async (t) => {
  const aws = await standInAws(t);
  await aws.admin.set({
    prices: [
      { type: 'm5.large', market: 'on-demand', price: 0.2 },
      { type: 'm5.large', market: 'spot', zone: 'us-west-2a', price: 0.07 },
    ],
  });
  const worker = await workerOf(aws, spot, aged(day + 1));
  const prices = new Map(worker.offers.map(({ zone, market, pricePerHour }) => [`${market} ${zone}`, pricePerHour]));
  assert.equal(prices.get('on-demand us-west-2a'), 0.2);
  assert.equal(prices.get('spot us-west-2a'), 0.07);
  const own = clusterText({ manta: ['node_types:', '  worker: {price: 0.01}'] });
  assert.ok((await workerOf(aws, own, aged(day + 1))).offers.every(({ pricePerHour }) => pricePerHour === 0.01));
});

test('a price that AWS does not tell is not known, and old ones are better than none', async (t) => {
  const aws = await standInAws(t);
  const odd = (given: Aws): PreparedAws => ({
    ...aged(day + 1)(given),
    types: { worker: { ...preparedOf(given).types['worker']!, instanceType: 'x9.huge' } },
  });
  for (const { pricePerHour } of (await workerOf(aws, clusterText(), odd)).offers)
    assert.equal(pricePerHour, undefined);
  const list = [{ instanceType: 'm5.large', market: 'on-demand' as const, price: 0.1 }];
  aws.cloud.faults.add({ fault: 'refuse', call: 'GetProducts', code: 'AccessDeniedException', message: 'no' });
  const old = await workerOf(aws, clusterText(), aged(2 * day, list));
  assert.ok(old.offers.every(({ pricePerHour }) => pricePerHour === 0.1));
});

test('an offer in any zone becomes one in each that has a subnet', async (t) => {
  const aws = await standInAws(t);
  const { offers } = await workerOf(aws, clusterText(), aged(0));
  assert.deepEqual(
    offers.map(({ zone }) => zone),
    preparedOf(aws).types['worker']!.subnets!.map(({ zone }) => zone),
  );
});

test('what AWS says of a machine counts more than its name, and less than the file', async (t) => {
  const aws = await standInAws(t);
  const text = clusterText().replace('  worker:\n', '  worker:\n    resources: {GPU: 3, special: 1}\n');
  const prepared = (given: Aws) => preparedOf(given, {}, { resources: { CPU: 48, GPU: 8, memory: 100 } });
  const worker = await workerOf(aws, text, prepared);
  assert.deepEqual(worker.resources, { CPU: 48, GPU: 3, memory: 100, special: 1 });
});
