import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SimulatedMachine } from '../../src/simulation/machine.ts';
import type { World } from '../../src/simulation/world.ts';
import { inTime, worldOf } from './worlds.ts';

const signal = new AbortController().signal;

function addNode(world: World, type = 'cpu'): SimulatedMachine {
  const machine = world.cloud.place({ type, kind: 'worker', token: `by-hand-${type}` });
  world.engine.join(machine);
  return machine;
}

const task = (cpus: number, duration: number) =>
  ({ kind: 'task', at: 0, resources: { CPU: cpus }, selectors: [], duration }) as const;

test('work waits as demand until a node has room, and the node is idle afterwards', async () => {
  const world = worldOf();
  world.engine.submit(task(2, 10_000));
  world.engine.submit(task(2, 10_000));
  world.engine.submit(task(2, 10_000));
  assert.deepEqual(
    world.engine.demand().tasks.map(({ count }) => count),
    [3],
  );
  addNode(world);
  assert.deepEqual(
    world.engine.demand().tasks.map(({ count }) => count),
    [1],
  );
  await world.time.run(world.time.now + 25_000);
  assert.equal(world.engine.unfinished, 0);
  const state = await inTime(world, world.engine.state(signal));
  const node = state.nodes.find((each) => !each.head);
  assert.ok(node !== undefined && node.idleFor >= 5_000 && node.idleFor < 6_000);
});

test('a gang is placed whole or not at all', () => {
  const world = worldOf();
  const bundles = [{ CPU: 3 }, { CPU: 3 }];
  world.engine.submit({ kind: 'gang', at: 0, bundles, strategy: 'PACK', duration: 10_000 });
  addNode(world);
  assert.equal(world.engine.demand().gangs.length, 1);
  addNode(world);
  assert.equal(world.engine.demand().gangs.length, 0);
});

test('a strict spread takes as many nodes as it has bundles', () => {
  const world = worldOf();
  const bundles = [{ CPU: 1 }, { CPU: 1 }];
  world.engine.submit({ kind: 'gang', at: 0, bundles, strategy: 'STRICT_SPREAD', duration: 10_000 });
  addNode(world);
  assert.equal(world.engine.demand().gangs.length, 1);
  assert.equal(world.engine.demand().gangs[0]?.requests[0]?.placement[0]?.kind, 'apart');
  addNode(world);
  assert.equal(world.engine.demand().gangs.length, 0);
});

test('work on a node that dies starts again, and a gang as a whole', async () => {
  let killed = 0;
  const world = worldOf({}, {}, [{ killed: () => killed++ }]);
  const first = addNode(world);
  addNode(world);
  world.engine.submit({ kind: 'gang', at: 0, bundles: [{ CPU: 3 }, { CPU: 3 }], strategy: 'SPREAD', duration: 60_000 });
  world.engine.submit(task(1, 60_000));
  await world.time.run(world.time.now + 30_000);
  world.engine.lose(first.id);
  assert.equal(killed, 2);
  assert.equal(world.engine.demand().gangs.length, 1);
  assert.equal(world.engine.unfinished, 2);
});

test('a busy node refuses to be drained for idleness, and obeys a preemption without losing its work', async () => {
  const world = worldOf();
  const machine = addNode(world);
  world.engine.submit(task(1, 20_000));
  const node = `node-${machine.id}`;
  const refused = await inTime(world, world.engine.drain(node, { kind: 'idle' }, signal));
  assert.equal(refused.accepted, false);
  const deadline = world.time.now + 120_000;
  const taken = await inTime(world, world.engine.drain(node, { kind: 'preemption', deadline }, signal));
  assert.equal(taken.accepted, true);
  world.engine.submit(task(1, 1_000));
  await world.time.run(world.time.now + 30_000);
  assert.equal(world.engine.nodeOn(machine.id), undefined);
  assert.equal(world.engine.waiting, 1);
  assert.equal(world.engine.unfinished, 1);
});

test('work without GPUs keeps off GPU nodes while there is room elsewhere', () => {
  const world = worldOf();
  const gpu = addNode(world, 'gpu');
  const cpu = addNode(world);
  world.engine.submit(task(2, 1_000));
  assert.equal(world.engine.nodeOn(cpu.id)?.running.size, 1);
  assert.equal(world.engine.nodeOn(gpu.id)?.running.size, 0);
});
