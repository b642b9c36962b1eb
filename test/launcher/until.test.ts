import assert from 'node:assert/strict';
import { test } from 'node:test';
import { untilOf } from '../../src/launcher/up/this-machine.ts';

test('the end that was said of a cluster holds until it has come, and longer for one that was extended', () => {
  const now = 1_000;
  const dead = { now, lives: false };
  assert.deepEqual(untilOf(undefined, { until: 2_000 }, dead), { until: 2_000 });
  assert.deepEqual(untilOf(undefined, { until: 500 }, dead), {});
  assert.deepEqual(untilOf(undefined, { until: 500 }, { now, lives: true }), { until: 500 });
  assert.deepEqual(untilOf(3_000, { until: 2_000 }, dead), { until: 3_000 });
  assert.deepEqual(untilOf(null, { until: 2_000 }, { now, lives: true }), {});
});
