import assert from 'node:assert/strict';
import { test } from 'node:test';
import { providerErrors } from '../../src/providers/errors.ts';
import type { LaunchRequest } from '../../src/providers/provider.ts';
import { inTime, smallCluster, worldOf } from './worlds.ts';

const signal = new AbortController().signal;
const ask = (more: Partial<LaunchRequest> = {}): LaunchRequest => ({
  token: 't1',
  type: 'cpu',
  count: 2,
  zone: 'a',
  market: 'on-demand',
  tags: {},
  ...more,
});

test('the same token again gives the same machines and makes no more', async () => {
  const world = worldOf();
  const first = await inTime(world, world.cloud.launch(ask(), signal));
  const again = await inTime(world, world.cloud.launch(ask(), signal));
  assert.deepEqual(
    again.map((machine) => machine.id),
    first.map((machine) => machine.id),
  );
  assert.equal([...world.workers()].length, 2);
});

test('a launch whose answer is lost has taken effect', async () => {
  const world = worldOf({}, { lostAnswer: 1 });
  await assert.rejects(inTime(world, world.cloud.launch(ask(), signal)), (error: unknown) =>
    providerErrors.Unreachable.is(error),
  );
  assert.equal([...world.workers()].length, 2);
});

test('a launch that is lost on its way has made nothing', async () => {
  const world = worldOf({}, { lostRequest: 1 });
  await assert.rejects(inTime(world, world.cloud.launch(ask(), signal)), (error: unknown) =>
    providerErrors.Unreachable.is(error),
  );
  assert.equal([...world.workers()].length, 0);
});

test('a call that is delivered twice makes one set', async () => {
  const world = worldOf({}, { duplicateCall: 1 });
  await inTime(world, world.cloud.launch(ask(), signal));
  assert.equal([...world.workers()].length, 2);
});

test('what is sold out is refused, and what is nearly sold out is filled in part', async () => {
  const capacity = [
    { type: 'cpu', zone: 'a', limit: 1 },
    { type: 'gpu', limit: 0, until: '10m' },
  ];
  const world = worldOf({ cloud: { ...smallCluster.cloud, capacity } });
  assert.equal((await inTime(world, world.cloud.launch(ask(), signal))).length, 1);
  assert.equal((await inTime(world, world.cloud.launch(ask({ token: 't2', zone: 'b' }), signal))).length, 2);
  const gpu = ask({ token: 't3', type: 'gpu' });
  await assert.rejects(inTime(world, world.cloud.launch(gpu, signal)), (error: unknown) =>
    providerErrors.NoCapacity.is(error),
  );
  await world.time.run(world.time.now + 600_000);
  assert.equal((await inTime(world, world.cloud.launch(gpu, signal))).length, 2);
});

test('an old list does not know the newest machine yet', async () => {
  const world = worldOf({}, { staleList: 1 });
  await inTime(world, world.cloud.launch(ask(), signal));
  const listed = await inTime(world, world.cloud.list(signal));
  assert.equal(listed.filter((machine) => machine.kind === 'worker').length, 0);
});

test('a machine that is ended is stopping first and gone some seconds later', async () => {
  const world = worldOf();
  const [machine] = await inTime(world, world.cloud.launch(ask({ count: 1 }), signal));
  await inTime(world, world.cloud.terminate([machine?.id ?? ''], signal));
  const states = async (): Promise<string[]> =>
    (await inTime(world, world.cloud.list(signal))).filter(({ kind }) => kind === 'worker').map(({ state }) => state);
  assert.deepEqual(await states(), ['stopping']);
  await world.time.run(world.time.now + 30_000);
  assert.deepEqual(await states(), []);
  await inTime(world, world.cloud.terminate([machine?.id ?? ''], signal));
});

test('a machine that is taken back is announced in the list when there is a warning', async () => {
  const world = worldOf();
  await inTime(world, world.cloud.launch(ask({ count: 1 }), signal));
  const [machine] = world.workers();
  assert.ok(machine);
  world.cloud.preempt(machine, 120_000);
  const listed = await inTime(world, world.cloud.list(signal));
  assert.equal(listed.find(({ id }) => id === machine.id)?.preemptionAt, machine.preemptionAt);
  await world.time.run(world.time.now + 120_000);
  assert.equal([...world.workers()].length, 0);
});

test('the n-th machine boots as fast whatever was asked for before it', async () => {
  const bootOf = async (calls: number): Promise<number> => {
    const world = worldOf({ cloud: { boot: { min: '10s', max: '90s' }, latency: '1s' } });
    for (let call = 0; call < calls; call++) await inTime(world, world.cloud.list(signal));
    await inTime(world, world.cloud.launch(ask({ count: 1 }), signal));
    const [machine] = world.workers();
    return Math.round((machine?.bootedAt ?? 0) - (machine?.createdAt ?? 0));
  };
  assert.equal(await bootOf(0), await bootOf(5));
});
