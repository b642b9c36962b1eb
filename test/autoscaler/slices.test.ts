import assert from 'node:assert/strict';
import { test } from 'node:test';
import { worldOf } from '../simulation/worlds.ts';
import { loopIn, seconds } from './loop-in-world.ts';

test('a slice one host of which is taken back goes as a whole, and its successor comes up at the limit meanwhile', async () => {
  const world = worldOf({ work: [{ tasks: 2, needs: { GPU: 1 }, duration: '5m' }] });
  const { spec } = world.scenario;
  const nodeTypes = spec.nodeTypes.map((type) => (type.name === 'gpu' ? { ...type, hostsPerSlice: 2 } : type));
  const loop = loopIn(world, { spec: () => ({ ...spec, nodeTypes }) });
  loop.start();
  await seconds(world, 60);
  const [host, ...others] = world.workers();
  assert.ok(host !== undefined);
  assert.equal(others.length, 1);
  world.cloud.preempt(host, 120_000);
  await seconds(world, 15);
  assert.equal(loop.happened('LAUNCHING').length, 2, 'while both hosts are still there');
  const drained = loop.journal.facts.flatMap((fact) =>
    fact.kind === 'end' && fact.how === 'drain' ? [fact.because.kind] : [],
  );
  assert.deepEqual(drained, ['preemption', 'preemption']);
  await seconds(world, 600);
  assert.ok(world.workDone);
});
