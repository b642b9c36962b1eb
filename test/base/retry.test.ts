import assert from 'node:assert/strict';
import { test } from 'node:test';
import { doubling, retry } from '../../src/base/time/retry.ts';
import { VirtualClock, VirtualTime } from '../../src/simulation/virtual-time.ts';

const failing = (times: number, at: number[], time: VirtualTime) => async (tries: number) => {
  at.push(time.now);
  if (tries <= times) throw new Error(`try ${tries}`);
  return tries;
};

test('what fails is tried again, after pauses that double up to the longest', async () => {
  const time = new VirtualTime(0);
  const at: number[] = [];
  const done = retry(failing(5, at, time), { clock: new VirtualClock(time), pause: doubling(100, 500) });
  await time.run(60_000);
  assert.equal(await done, 6);
  assert.deepEqual(at, [0, 100, 300, 700, 1_200, 1_700]);
});

test('the error is thrown that nobody wants to try again', async () => {
  const time = new VirtualTime(0);
  const at: number[] = [];
  const again = (error: unknown, tries: number): boolean => error instanceof Error && tries < 3;
  const done = retry(failing(9, at, time), { clock: new VirtualClock(time), pause: () => 0, again });
  await assert.rejects(done, /^Error: try 3$/);
  assert.equal(at.length, 3);
});

test('an abort ends it at once, in the middle of a pause too, with its reason', async () => {
  const time = new VirtualTime(0);
  const ending = new AbortController();
  const at: number[] = [];
  const options = { clock: new VirtualClock(time), signal: ending.signal, pause: doubling(1_000) };
  const done = assert.rejects(retry(failing(9, at, time), options), /^Error: enough$/);
  time.at(1_500, () => ending.abort(new Error('enough')));
  await time.run(60_000);
  await done;
  assert.deepEqual(at, [0, 1_000]);
  await assert.rejects(
    retry(async () => assert.fail('begun'), options),
    /^Error: enough$/,
  );
});
