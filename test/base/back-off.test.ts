import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BackOff } from '../../src/base/time/back-off.ts';
import { VirtualClock, VirtualTime } from '../../src/simulation/virtual-time.ts';

test('the pause doubles with each try, for each thing by itself, and a long quiet begins it anew', async () => {
  const time = new VirtualTime(0);
  const backOff = new BackOff(new VirtualClock(time), 1_000, 5_000);
  const tries: number[] = [];
  for (let count = 0; count < 5; count++) {
    tries.push(backOff.tried('a'));
    assert.ok(backOff.rests('a'));
    await time.run(time.now + (tries.at(-1) as number));
    assert.ok(!backOff.rests('a'));
  }
  assert.deepEqual(tries, [1_000, 2_000, 4_000, 5_000, 5_000]);
  assert.equal(backOff.tried('b'), 1_000);
  backOff.forget('a');
  assert.equal(backOff.tried('a'), 1_000);
  await time.run(time.now + 3_001);
  assert.equal(backOff.tried('a'), 1_000);
  backOff.forgetAll();
  assert.ok(!backOff.rests('a'));
});
