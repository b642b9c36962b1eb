import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VirtualClock, VirtualTime } from '../../src/simulation/virtual-time.ts';

test('events run in the order of their time, and of their making when that is equal', async () => {
  const time = new VirtualTime(0);
  const seen: string[] = [];
  time.at(20, () => seen.push('b'));
  time.at(10, () => seen.push('a'));
  time.at(20, () => seen.push('c'));
  time.at(5, () => seen.push('cancelled')).cancel();
  await time.run(100);
  assert.deepEqual(seen, ['a', 'b', 'c']);
  assert.equal(time.now, 100);
});

test('code that sleeps goes on before the next event', async () => {
  const time = new VirtualTime(0);
  const seen: string[] = [];
  const worker = async (name: string): Promise<void> => {
    for (let round = 0; round < 3; round++) {
      await time.sleep(10);
      await Promise.resolve();
      seen.push(`${name}${time.now}`);
    }
  };
  void worker('x');
  void worker('y');
  time.at(15, () => seen.push('event'));
  await time.run(100);
  assert.deepEqual(seen, ['x10', 'y10', 'event', 'x20', 'y20', 'x30', 'y30']);
});

test('an aborted sleep ends at once with the reason', async () => {
  const time = new VirtualTime(0);
  const controller = new AbortController();
  const reason = new Error('enough');
  let caught: unknown;
  void time.sleep(1_000, controller.signal).catch((error: unknown) => (caught = error));
  time.at(10, () => controller.abort(reason));
  await time.run(20);
  assert.equal(caught, reason);
});

test('time stands still while something outside of it is waited for', async () => {
  const time = new VirtualTime(0);
  let heldAt = -1;
  void (async () => {
    await time.sleep(10);
    await time.hold(new Promise((resolve) => setTimeout(resolve, 5)));
    heldAt = time.now;
  })();
  time.at(11, () => {});
  await time.run(50);
  assert.equal(heldAt, 10);
});

test('a clock that is set wrong still sleeps for as long as it should', async () => {
  const time = new VirtualTime(1_000);
  const clock = new VirtualClock(time);
  clock.offset = 500;
  let woke = 0;
  void clock.sleep(100).then(() => (woke = time.now));
  await time.run(2_000);
  assert.equal(woke, 1_100);
  assert.equal(clock.now() - time.now, 500);
});
