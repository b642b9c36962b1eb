import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Demand } from '../../src/core/demand.ts';
import type { Plan } from '../../src/core/plan/plan.ts';
import type { View } from '../../src/core/view.ts';
import type { Engine, EngineNode } from '../../src/engines/engine.ts';
import { worldOf } from '../simulation/worlds.ts';
import { loopIn, seconds } from './loop-in-world.ts';

const node = (id: string, change: Partial<EngineNode> = {}): EngineNode => ({
  id,
  head: false,
  state: 'alive',
  total: { CPU: 4, hand: 1 },
  available: { CPU: 4, hand: 1 },
  labels: {},
  idleFor: 600_000,
  ...change,
});

const request = (resources: Record<string, number>) => ({ resources, selectors: [], placement: [] });

/** A loop whose engine has further nodes and demand, as if somebody had run `ray start` elsewhere. */
function loopWith(nodes: readonly EngineNode[], demand: Partial<Demand> = {}) {
  const world = worldOf();
  const passes: { view: View; plan: Plan }[] = [];
  const drained: string[] = [];
  const engine: Engine = {
    async state(signal) {
      const state = await world.engine.state(signal);
      return { ...state, nodes: [...state.nodes, ...nodes], demand: { ...state.demand, ...demand } };
    },
    drain: (id, reason, signal) => (drained.push(id), world.engine.drain(id, reason, signal)),
    reportInfeasible: async () => {},
  };
  const loop = loopIn(world, { engine, onPass: (view, plan) => passes.push({ view, plan }) });
  return { world, loop, passes, drained };
}

test('work behind a busy node that was added by hand waits; it is not told as impossible', async () => {
  const busy = node('a', { available: { CPU: 4, hand: 0 }, idleFor: 0 });
  const { world, loop, passes } = loopWith([busy], { tasks: [{ request: request({ hand: 1 }), count: 1 }] });
  loop.start();
  await seconds(world, 30);
  assert.deepEqual(passes.at(-1)?.plan.infeasible, []);
  assert.equal([...world.workers()].length, 0);
});

test('nothing is launched for what a node that was added by hand holds', async () => {
  const standing = [{ requests: [{ request: request({ CPU: 4 }), count: 1 }] }];
  const gangs = [{ id: 'g', requests: [request({ CPU: 2 }), request({ CPU: 2 })] }];
  const { world, loop } = loopWith([node('a'), node('b', { providerId: 'unknown' })], { standing, gangs });
  loop.start();
  await seconds(world, 30);
  assert.equal([...world.workers()].length, 0);
  loop.stop();
});

test('a node that was added by hand is seen, never ended, and takes no place within the limits', async () => {
  const added = Array.from({ length: 10 }, (_, at) => node(`n${at}`, { total: { hand: 1 }, available: { hand: 1 } }));
  const tasks = [{ request: request({ CPU: 4 }), count: 4 }];
  const { world, loop, passes, drained } = loopWith(added, { tasks });
  loop.start();
  await seconds(world, 300);
  assert.equal([...world.workers()].length, 4, 'as many workers as max_workers of the type allows');
  assert.deepEqual(drained, []);
  const seen = passes.at(-1)?.view.instances.filter(({ byHand }) => byHand) ?? [];
  assert.equal(seen.length, 10);
  assert.deepEqual([seen[0]?.type, seen[0]?.status], ['node_n0', 'running'], 'by the name that Ray gives it');
});

test('nodes that are dead or on their way out are not among those added by hand', async () => {
  const { world, loop, passes } = loopWith([node('a', { state: 'dead' }), node('b', { state: 'draining' })]);
  loop.start();
  await seconds(world, 10);
  assert.deepEqual(
    passes.at(-1)?.view.instances.filter(({ byHand }) => byHand),
    [],
  );
});
