import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { Lease } from '../../../src/engines/embedded/agent/lease.ts';

/** Timers and the forward-only clock move together, the wall clock on its own. */
function world(t: TestContext): { now: () => number; pass: (time: number) => void; freeze: (time: number) => void } {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  return {
    now: () => now,
    pass: (time) => {
      for (let step = 0; step < time; step += 100) {
        now += 100;
        t.mock.timers.tick(100);
      }
    },
    freeze: (time) => {
      now += time;
    },
  };
}

test('a lease lapses when nobody renews it, and not before', (t) => {
  const { now, pass } = world(t);
  let lapsed = 0;
  const lease = new Lease(10_000, () => lapsed++, now);
  pass(9_000);
  lease.renew();
  pass(9_900);
  assert.equal(lapsed, 0);
  pass(300);
  assert.equal(lapsed, 1);
});

test('a wall clock that jumps changes nothing', (t) => {
  const { now, pass } = world(t);
  const wall = t.mock.method(Date, 'now');
  let lapsed = 0;
  const lease = new Lease(10_000, () => lapsed++, now);
  for (const jump of [3_600_000, -3_600_000]) {
    wall.mock.mockImplementation(() => 1_800_000_000_000 + jump);
    pass(5_000);
    lease.renew();
  }
  assert.equal(lapsed, 0);
});

test('a process that stood still itself waits for the head once more', (t) => {
  const { now, pass, freeze } = world(t);
  let lapsed = 0;
  const lease = new Lease(60_000, () => lapsed++, now);
  freeze(3_600_000);
  pass(61_000);
  assert.equal(lapsed, 0);
  pass(20_000);
  assert.equal(lapsed, 1);
  const renewed = new Lease(60_000, () => lapsed++, now);
  freeze(3_600_000);
  pass(61_000);
  assert.equal(lapsed, 1);
  renewed.renew();
  pass(59_000);
  assert.equal(lapsed, 1);
  lease.end();
});
