import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check } from '../../../src/api/check.ts';
import { clusterRoutes } from '../../../src/api/cluster.ts';
import { drainReason } from '../../../src/head/api/drain-reason.ts';

test('a node is drained because it is idle, unless a preemption is named', () => {
  for (const body of [{}, { reason: 'idle' }, { reason: 'idle', within: 5 }] as const)
    assert.deepEqual(drainReason(body, 1_000), { kind: 'idle' });
});

test('the deadline of a preemption counts from now by the clock of the head; without one there is none', () => {
  const body = { reason: 'preemption', within: 30_000 } as const;
  assert.deepEqual(drainReason(body, 1_000), { kind: 'preemption', deadline: 31_000 });
  assert.deepEqual(drainReason({ ...body, within: 0 }, 1_000), { kind: 'preemption', deadline: 1_000 });
  assert.deepEqual(drainReason({ reason: 'preemption' }, 1_000), { kind: 'preemption', deadline: 0 });
});

test('what is neither is no body of a drain', () => {
  for (const body of [
    { reason: 'boredom' },
    { reason: 1 },
    { because: 'idle' },
    [],
    null,
    ...[-1, 1e20, '5', null].map((within) => ({ reason: 'preemption', within })),
  ])
    assert.ok('wrong' in check(clusterRoutes.drain.body!, body, 'the body'), JSON.stringify(body));
});
