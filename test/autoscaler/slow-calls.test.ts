import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { World } from '../../src/simulation/world.ts';
import { worldOf } from '../simulation/worlds.ts';
import { loopIn, providerOf, seconds } from './loop-in-world.ts';

const submit = (world: World): void =>
  world.engine.submit({ kind: 'task', at: world.time.now, resources: { CPU: 4 }, selectors: [], duration: 60_000 });

test('demand that comes while a list hangs is launched for at once, each time', async () => {
  const world = worldOf();
  let hangs = false;
  const launchedAt: number[] = [];
  const loop = loopIn(world, {
    provider: providerOf(world, {
      list: async (signal) => {
        if (hangs) await world.clock.sleep(40_000, signal);
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
  hangs = true;
  await seconds(world, 8);
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
  hangs = false;
  await seconds(world, 400);
  assert.equal([...world.workers()].length, 0);
});

test('a loop that was told to stop launches nothing more while a list hangs', async () => {
  const world = worldOf();
  let hangs = false;
  const launchedAt: number[] = [];
  const loop = loopIn(world, {
    provider: providerOf(world, {
      list: async (signal) => {
        if (hangs) await world.clock.sleep(40_000, signal);
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
  hangs = true;
  await seconds(world, 8);
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
