// needs: botocore

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Aws } from '../../../lab/aws/open.ts';
import { whyInstance } from '../../../src/head/report/why.ts';
import type { PreparedAws } from '../../../src/providers/aws/prepared.ts';
import { clusterText, preparedOf } from './aws-bed.ts';
import { virtualBed } from './virtual-bed.ts';

/** Two types that do the same work; the first of the file wins where nothing else decides. */
const text = clusterText({ provider: ['availability_zone: us-west-2a'] })
  .replace('  head:\n', '  head:\n    resources: {CPU: 0}\n')
  .replace('  worker:\n', '  worker:\n    max_workers: 5\n    resources: {CPU: 2}\n')
  .concat('  other:\n    max_workers: 5\n    resources: {CPU: 2}\n    node_config: {InstanceType: c5.large}\n');

const both = (aws: Aws): PreparedAws => {
  const { types, ...rest } = preparedOf(aws);
  const other = { ...types['worker']!, instanceType: 'c5.large' };
  // Their age makes the provider ask for them.
  return { ...rest, types: { ...types, other }, prices: { at: 0, list: [] } };
};

/** The types of the machines that one task brings, and why the last of them is there. */
async function launchedAt(t: TestContext, m5: number, c5: number, file = text) {
  const prices = [
    { type: 'm5.large', market: 'on-demand', price: m5 },
    { type: 'c5.large', market: 'on-demand', price: c5 },
  ] as const;
  const work = [{ tasks: 1, needs: { CPU: 2 }, duration: '1m' }];
  const { aws, world, loop, existing } = await virtualBed(t, {
    text: file,
    settings: { prices },
    prepared: both,
    work,
  });
  loop.start();
  await world.time.run(world.time.now + 30_000, () => loop.happened('RUNNING').length > 0);
  assert.ok((await aws.admin.calls({ call: 'GetProducts' })).length > 0, 'prices are asked for');
  const facts = loop.journal.facts.filter((fact) => fact.kind === 'launch');
  const id = facts[0]!.records[0]!.id;
  const why = whyInstance(id, facts, world.clock.now())!.chain.map((step) => step.text);
  return { machines: existing().map(({ machine_type }) => machine_type), why: why.join('\n') };
}

test('of two types that fit, the one that AWS sells for less is launched, and why says what the other costs', async (t) => {
  const second = await launchedAt(t, 0.3, 0.1);
  assert.deepEqual(second.machines, ['c5.large']);
  assert.match(second.why, /not chosen: .*worker: it costs 0\.3, and the chosen one costs 0\.1/);
});

test('with prices the other way round the other type is launched', async (t) => {
  const first = await launchedAt(t, 0.1, 0.3);
  assert.deepEqual(first.machines, ['m5.large']);
  assert.match(first.why, /not chosen: .*other: it costs 0\.3, and the chosen one costs 0\.1/);
});

test('a price in the file decides against what AWS says', async (t) => {
  const own = text.replace('auth:', '  manta: {node_types: {worker: {price: 0.05}}}\nauth:');
  const { machines, why } = await launchedAt(t, 0.3, 0.1, own);
  assert.deepEqual(machines, ['m5.large']);
  assert.match(why, /other: it costs 0\.1, and the chosen one costs 0\.05/);
});
