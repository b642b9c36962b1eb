// needs: botocore

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyInstance } from '../../../src/head/report/why.ts';
import { clusterText } from './aws-bed.ts';
import { virtualBed } from './virtual-bed.ts';

const minute = 60_000;
const work = [{ tasks: 1, needs: { CPU: 2 }, duration: '20s' }];

const text = (own: string): string =>
  clusterText({
    provider: ['availability_zone: us-west-2a,us-west-2b'],
    manta: [`node_types: {worker: {${own}}}`],
  })
    .replace('  head:\n', '  head:\n    resources: {CPU: 0}\n')
    .replace('  worker:\n', '  worker:\n    max_workers: 5\n    resources: {CPU: 2}\n');

test('a type that takes 40 minutes is waited for where the file says so, and asked for once', async (t) => {
  const { aws, world, loop } = await virtualBed(t, {
    text: text('allocation_timeout: 45m'),
    settings: { boot_s: [40 * 60, 40 * 60] },
    work,
  });
  loop.start();
  await world.time.run(world.time.now + 44 * minute, () => world.workDone);
  assert.ok(world.workDone);
  assert.deepEqual([loop.happened('LAUNCHING').length, aws.cloud.truth().length], [1, 1]);
});

test('one that is sold out is not waited for: zone by zone, then another market, each within two seconds', async (t) => {
  const { aws, world, loop, existing } = await virtualBed(t, {
    text: text('allocation_timeout: 45m, market: [spot, on-demand]'),
    settings: {
      capacity: [
        { market: 'spot', limit: 0 },
        { market: 'on-demand', zone: 'us-west-2a', limit: 0 },
      ],
    },
    work,
  });
  loop.start();
  await world.time.run(world.time.now + minute, () => loop.happened('RUNNING').length > 0);
  const asked = await aws.admin.calls({ call: 'RunInstances' });
  assert.deepEqual(
    asked.map((call) => `${call.asked?.market} ${call.asked?.zone} ${call.error ?? 'given'}`),
    [
      'spot us-west-2a InsufficientInstanceCapacity',
      'spot us-west-2b InsufficientInstanceCapacity',
      'on-demand us-west-2a InsufficientInstanceCapacity',
      'on-demand us-west-2b given',
    ],
  );
  for (const [index, { at }] of asked.entries())
    if (index > 0) assert.ok(at - asked[index - 1]!.at <= 2_000, `offer ${index} came after ${at - asked[0]!.at} ms`);
  assert.equal(existing().length, 1);
  const launches = loop.journal.facts.filter((fact) => fact.kind === 'launch');
  const last = launches.at(-1)!.records[0]!.id;
  const why = whyInstance(last, [launches.at(-1)!], world.clock.now())!.chain.map((step) => step.text);
  assert.match(why.join('\n'), /worker \(us-west-2a, spot\): the provider has no capacity/);
});
