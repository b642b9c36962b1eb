import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clearMachines } from '../../../src/head/turn-off/clear.ts';
import { type Cleared, endInstances } from '../../../src/head/turn-off/workers.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import { VirtualClock, VirtualTime } from '../../../src/simulation/virtual-time.ts';
import { never } from '../../contract/waiting.ts';

/** A cloud that ends nothing until `mended`. */
function stubborn(time: VirtualTime, mended: number) {
  const clock = new VirtualClock(time);
  let there = ['w1', 'w2'].map((id) => ({ id, kind: 'worker', state: 'running' }));
  let calls = 0;
  const provider = {
    list: async () => there,
    terminate: async () => {
      calls++;
      if (time.now < mended) throw new Error('denied by the cloud');
      there = [];
    },
  } as unknown as Provider;
  const told: string[] = [];
  const clear = async (leaves: boolean): Promise<Cleared> => {
    const running = clearMachines(
      {
        turnOff: () => endInstances(provider, { clock }, never),
        ...(leaves && { leave: async () => {} }),
      },
      { clock, events: { emit: (kind, data) => void told.push(`${kind.code} ${kind.text(data)}`) }, since: 0 },
    );
    await time.run(10 * 3_600_000);
    return await running;
  };
  return { clear, told, calls: () => calls };
}

test('a head of a cloud does not go while workers are left, says so once, and goes when they have ended', async () => {
  const time = new VirtualTime(0);
  const { clear, told } = stubborn(time, 1_800_000);
  assert.deepEqual(await clear(true), { ended: ['w1', 'w2'], left: [] });
  assert.deepEqual(told, [
    'MANTA_HEAD_TURN_OFF_STAYS w1, w2 could not be ended: denied by the cloud; the head stays and goes on trying, for an hour at most, and their leases end them beside that',
  ]);
});

test('after an hour it goes, and names what it leaves', async () => {
  const { clear, told, calls } = stubborn(new VirtualTime(0), Number.POSITIVE_INFINITY);
  const { left } = await clear(true);
  assert.deepEqual(
    left.map(({ host }) => host),
    ['w1', 'w2'],
  );
  assert.equal(told.filter((each) => each.startsWith('MANTA_HEAD_TURN_OFF_LEFT')).length, 2);
  assert.ok(calls() < 5_000, `${calls()} calls in an hour`);
});

test('where the head stays anyway, machines that do not answer hold nobody up', async () => {
  const { clear, told } = stubborn(new VirtualTime(0), Number.POSITIVE_INFINITY);
  assert.equal((await clear(false)).left.length, 2);
  assert.ok(told.every((each) => !each.startsWith('MANTA_HEAD_TURN_OFF_STAYS')));
});
