// needs: botocore

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endInstances } from '../../../src/autoscaler/teardown.ts';
import { rayTags } from '../../../src/core/ray-tags.ts';
import { never } from '../../contract/waiting.ts';
import { ask, clusterText } from './aws-bed.ts';
import { virtualBed } from './virtual-bed.ts';

const count = 1_000;
const minute = 60_000;
const text = clusterText({ provider: ['availability_zone: us-west-2a'] })
  .replace('max_workers: 200', `max_workers: ${count}\nidle_timeout_minutes: 1\nupscaling_speed: ${count}`)
  .replace('  head:\n', '  head:\n    resources: {CPU: 0}\n')
  .replace('  worker:\n', `  worker:\n    resources: {CPU: 2}\n    max_workers: ${count}\n`);

/** Of an account that is hardly let through, and whose lists are far behind. */
const settings = {
  rate_limit: { per_s: 2, burst: 2 },
  list_lag_s: 20,
  boot_s: [20, 40],
  terminate_s: [5, 30],
} as const;

test('throttled to two calls a second, with lists 20 s behind, the loop launches a thousand once, tags and ends them', async (t) => {
  const work = [{ standing: [{ needs: { CPU: 2 }, count }], until: '2m' }];
  const { aws, world, loop, existing } = await virtualBed(t, { text, settings, work });
  const { time, engine } = world;
  const workers = (): number => [...engine.nodes].filter(({ head, state }) => !head && state === 'alive').length;
  const tagged = (): number => existing().filter(({ tags }) => tags[rayTags.status] === 'up-to-date').length;
  loop.start();
  await time.run(time.now + 2 * minute, () => workers() === count && tagged() === count);
  assert.deepEqual([workers(), tagged(), existing().length], [count, count, count]);

  await time.run(time.now + 10 * minute, () => aws.cloud.existing().length === 0);
  assert.equal(existing().length, 0, 'all have ended once nothing needs them');
  // Lists go on to show them for a while: nothing is launched or ended for that.
  await time.run(time.now + minute);
  loop.stop();
  assert.equal(aws.cloud.truth().length, count, 'no machine was made twice');
  assert.deepEqual(
    loop.happened('LAUNCHED').map(({ data }) => (data as { asked: number; given: number }).given),
    [count],
    'one launch, of all of them',
  );

  const calls = await aws.admin.calls();
  const answered = (operation: string): number =>
    calls.filter((call) => call.operation === operation && call.status === 200).length;
  assert.ok(calls.some(({ error }) => error === 'RequestLimitExceeded'));
  assert.equal(answered('RunInstances'), count / 100);
  assert.ok(answered('CreateTags') <= 20, `tags went in ${answered('CreateTags')} calls`);
  assert.ok(answered('TerminateInstances') <= 10, `the end took ${answered('TerminateInstances')} calls`);
});

test('throttled in the same way, the end of a cluster finds a thousand and ends them', async (t) => {
  const { aws, world, provider, existing, within } = await virtualBed(t, { text, settings });
  const made = await within(provider.launch(ask('t', { count }), never));
  assert.equal(made.length, count);
  const order = { clock: world.clock, settles: minute, within: 10 * minute };
  const { ended, left } = await within(endInstances(provider, order, never));
  assert.deepEqual([ended.length, left, existing().length], [count, [], 0]);
  assert.equal(aws.cloud.truth().length, count);
});
