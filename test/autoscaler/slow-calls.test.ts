import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { World } from '../../src/simulation/world.ts';
import { worldOf } from '../simulation/worlds.ts';
import { loopIn, providerOf, seconds } from './loop-in-world.ts';

const submit = (world: World): void =>
  world.engine.submit({ kind: 'task', at: world.time.now, resources: { CPU: 4 }, selectors: [], duration: 60_000 });

/** A loop that has begun, and whose provider has begun to take forty seconds for each list. */
async function loopWithHangingList() {
  const world = worldOf();
  const list = { hangs: false };
  const launchedAt: number[] = [];
  const loop = loopIn(world, {
    provider: providerOf(world, {
      list: async (signal) => {
        if (list.hangs) await world.clock.sleep(40_000, signal);
        return await world.cloud.list(signal);
      },
      launch: (request, signal) => {
        launchedAt.push(world.time.now);
        return world.cloud.launch(request, signal);
      },
    }),
  });
  loop.start();
  await seconds(world, 20);
  list.hangs = true;
  await seconds(world, 8);
  return { world, loop, launchedAt, list };
}

test('demand that comes while a list hangs is launched for at once, each time', async () => {
  const { world, launchedAt, list } = await loopWithHangingList();
  const submitted: number[] = [];
  for (let round = 0; round < 3; round++) {
    submitted.push(world.time.now);
    submit(world);
    await seconds(world, 5);
  }
  assert.deepEqual(
    submitted.map((at, index) => (launchedAt[index] ?? Number.POSITIVE_INFINITY) - at <= 1_500),
    [true, true, true],
  );
  list.hangs = false;
  await seconds(world, 400);
  assert.equal([...world.workers()].length, 0);
});

test('a loop that was told to stop launches nothing more while a list hangs', async () => {
  const { world, loop, launchedAt } = await loopWithHangingList();
  loop.stop();
  submit(world);
  await seconds(world, 120);
  assert.deepEqual(launchedAt, []);
});

test('a machine that takes its time to stop its set-up holds nothing else up', async () => {
  const world = worldOf({ work: [{ tasks: 1, needs: { GPU: 1 }, duration: '20s' }] });
  const halted: string[] = [];
  let passes = 0;
  const loop = loopIn(world, {
    onPass: () => passes++,
    starter: {
      bringUp: (machine, signal) =>
        machine.type === 'gpu' ? Promise.reject(new Error('no driver')) : world.starter.bringUp(machine, signal),
      halt: (id, signal) => {
        halted.push(id);
        return world.clock.sleep(50_000, signal);
      },
    },
  });
  loop.start();
  await seconds(world, 20);
  assert.equal(halted.length, 1);
  const before = passes;
  submit(world);
  await seconds(world, 20);
  assert.ok(passes - before >= 3);
  assert.equal(loop.happened('RUNNING').length, 2, 'the head and the node that was asked for meanwhile');
  assert.equal(new Set(halted).size, halted.length, 'no machine is told twice');
  await seconds(world, 60);
  assert.ok(loop.journal.facts.some((fact) => fact.kind === 'end' && fact.record.type === 'gpu'));
  loop.stop();
  await seconds(world, 60);
});

test('nothing counts on a machine that is being ended while its set-up is stopped', async () => {
  const world = worldOf({ work: [{ tasks: 1, needs: { CPU: 4 }, duration: '20s' }] });
  let maxWorkers = 6;
  let first = true;
  const loop = loopIn(world, {
    spec: () => ({ ...world.scenario.spec, maxWorkers }),
    starter: {
      bringUp: async (machine, signal) => {
        if (!first) return await world.starter.bringUp(machine, signal);
        first = false;
        // Deaf to its signal.
        await world.clock.sleep(120_000);
      },
      halt: (id, signal) => world.starter.halt(id, signal),
    },
  });
  loop.start();
  await seconds(world, 20);
  assert.equal(loop.happened('SETTING_UP').length, 1);
  maxWorkers = 0;
  await seconds(world, 10);
  assert.equal(loop.happened('LAUNCHING').length, 1);
  maxWorkers = 6;
  await seconds(world, 10);
  assert.equal(loop.happened('LAUNCHING').length, 2);
  await seconds(world, 40);
  assert.ok(world.workDone);
  await seconds(world, 300);
  assert.equal([...world.workers()].length, 0);
});

test('machines whose set-ups failed together are ended together', async () => {
  const world = worldOf({ work: [{ tasks: 4, needs: { CPU: 4 }, duration: '20s' }] });
  const ended: (readonly string[])[] = [];
  const loop = loopIn(world, {
    provider: providerOf(world, {
      terminate: (ids, signal) => {
        ended.push(ids);
        return world.cloud.terminate(ids, signal);
      },
    }),
    starter: {
      bringUp: () => Promise.reject(new Error('no driver')),
      halt: (_, signal) => world.clock.sleep(200, signal),
    },
  });
  loop.start();
  await seconds(world, 25);
  assert.equal(ended[0]?.length, 4);
});

test('a machine with a node that came up after all is drained, and told to stop its set-up only once', async () => {
  const world = worldOf({ work: [{ tasks: 1, needs: { CPU: 4 }, duration: '20s' }] });
  const halted: string[] = [];
  let passes = 0;
  const loop = loopIn(world, {
    onPass: () => passes++,
    starter: {
      bringUp: async (machine, signal) => {
        await world.starter.bringUp(machine, signal);
        throw new Error('a step after its start failed');
      },
      halt: async (id) => void halted.push(id),
    },
  });
  loop.start();
  await seconds(world, 60);
  assert.equal(new Set(halted).size, halted.length);
  assert.ok(passes < 100, `${passes} passes`);
  loop.stop();
  await seconds(world, 60);
});
