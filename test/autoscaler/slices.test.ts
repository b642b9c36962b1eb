import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { View } from '../../src/core/view.ts';
import type { LaunchRequest } from '../../src/providers/provider.ts';
import { worldOf } from '../simulation/worlds.ts';
import { loopIn, providerOf, seconds } from './loop-in-world.ts';

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

test('a provider with slices is asked for whole ones, names them, and tells what only one host has', async () => {
  const world = worldOf({ work: [{ tasks: 2, needs: { GPU: 1 }, duration: '5m' }] });
  const { spec } = world.scenario;
  const nodeTypes = spec.nodeTypes.map((type) => (type.name === 'gpu' ? { ...type, hostsPerSlice: 2 } : type));
  const asked: LaunchRequest[] = [];
  let seen: View | undefined;
  const loop = loopIn(world, {
    spec: () => ({ ...spec, nodeTypes }),
    onPass: (view) => (seen = view),
    provider: providerOf(world, {
      slices: true,
      launch: (request, signal) => {
        asked.push(request);
        return world.cloud.launch(request, signal);
      },
      list: async (signal) =>
        (await world.cloud.list(signal)).map((each) =>
          each.slice?.index === 0 ? { ...each, slice: { ...each.slice, resources: { 'TPU-head': 1 } } } : each,
        ),
    }),
  });
  loop.start();
  await seconds(world, 10);
  assert.deepEqual(
    asked.map(({ count, slice }) => ({ count, slice })),
    [{ count: 1, slice: { hosts: 2 } }],
  );
  const [machine, other] = world.workers();
  assert.deepEqual(
    seen?.instances.filter(({ kind }) => kind === 'worker').map(({ slice, extra }) => ({ slice, extra })),
    [
      { slice: machine?.slice?.id, extra: { 'TPU-head': 1 } },
      { slice: machine?.slice?.id, extra: undefined },
    ],
  );
  await seconds(world, 60);
  world.cloud.preempt(other!, 0);
  await seconds(world, 120);
  assert.ok(![...world.workers()].some(({ slice }) => slice?.id === machine?.slice?.id), 'none of the slice is left');
  await seconds(world, 600);
  assert.ok(world.workDone);
});
