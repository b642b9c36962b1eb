import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clearInstances } from '../../../src/autoscaler/teardown.ts';
import type { Cleared } from '../../../src/core/cleared.ts';
import { clearMachines, leaveMachine } from '../../../src/head/turn-off/clear.ts';
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
        turnOff: () => clearInstances(provider, { clock }, never),
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
    'MANTA_HEAD_TURN_OFF_STAYS could not terminate w1, w2: denied by the cloud; the head stays up and retries for up to an hour, and they stop when their leases expire',
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

test('a cloud that lists nothing for an hour keeps the head no longer either', async () => {
  const time = new VirtualTime(0);
  const clock = new VirtualClock(time);
  const provider = {
    list: async () => {
      throw new Error('the cloud is out');
    },
  } as unknown as Provider;
  const told: string[] = [];
  const clearing = { clock, events: { emit: ({ code }: { code: string }) => void told.push(code) }, since: 0 };
  const turnOff = () => clearInstances(provider, { clock }, never);
  const left = [{ host: 'workers', why: 'the cloud is out' }];
  const leaving = clearMachines({ turnOff, leave: async () => {} }, clearing);
  const staying = assert.rejects(clearMachines({ turnOff }, clearing), /the cloud is out/);
  await time.run(10 * 3_600_000);
  assert.deepEqual(await leaving, { ended: [], left });
  await staying;
  assert.deepEqual(told, ['MANTA_HEAD_TURN_OFF_STAYS', 'MANTA_HEAD_TURN_OFF_LEFT']);
});

test('a list that was empty and then fails until the end proves nothing', async () => {
  const time = new VirtualTime(0);
  const clock = new VirtualClock(time);
  const provider = {
    list: async () => {
      if (time.now > 10_000) throw new Error('the cloud is out');
      return [];
    },
  } as unknown as Provider;
  const ending = assert.rejects(clearInstances(provider, { clock, settles: 60_000 }, never), /the cloud is out/);
  await time.run(3_600_000);
  await ending;
});

test('a head whose machine the cloud does not end asks again, ever more seldom, and says so once', async () => {
  const time = new VirtualTime(0);
  const clock = new VirtualClock(time);
  const told: string[] = [];
  let calls = 0;
  const leave = async (): Promise<void> => {
    calls++;
    if (time.now < 10 * 3_600_000) throw new Error('denied by the cloud');
  };
  const events = {
    emit: (kind: { text(data: never): string }, data: unknown) => void told.push(kind.text(data as never)),
  };
  const leaving = leaveMachine({ leave }, [], { clock, events });
  await time.run(20 * 3_600_000);
  await leaving;
  assert.deepEqual(told, [
    "could not terminate the head's machine: denied by the cloud; retrying until it is gone, or until 'manta down'",
  ]);
  assert.ok(calls < 100, `${calls} calls in ten hours`);
});
