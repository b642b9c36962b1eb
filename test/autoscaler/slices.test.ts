import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeStarter } from '../../src/autoscaler/starter.ts';
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

/** A world whose GPU machines come as slices, so many of them at most. */
function slicesOf(work: Parameters<typeof worldOf>[0], hosts: number, most: number) {
  const world = worldOf(work);
  const { spec } = world.scenario;
  const nodeTypes = spec.nodeTypes.map((type) =>
    type.name === 'gpu' ? { ...type, hostsPerSlice: hosts, maxWorkers: hosts * most } : type,
  );
  return { world, spec: () => ({ ...spec, maxWorkers: hosts * most, nodeTypes }) };
}

test('a slice that has more hosts than its type promises is used whole, and no other is asked for', async () => {
  const { world, spec } = slicesOf({ work: [{ tasks: 3, needs: { GPU: 1 }, duration: '5m' }] }, 2, 1);
  const provider = providerOf(world, {
    slices: true,
    launch: (request, signal) => world.cloud.launch({ ...request, slice: { hosts: 3 } }, signal),
  });
  const loop = loopIn(world, { spec, provider });
  loop.start();
  await seconds(world, 120);
  assert.equal(loop.happened('LAUNCHING').length, 1);
  assert.equal([...world.workers()].length, 3);
  await seconds(world, 400);
  assert.ok(world.workDone, 'the third host worked too, beyond the limit in hosts');
});

test('a slice with fewer hosts than its type promises is neither refused nor broken', async () => {
  const { world, spec } = slicesOf({ work: [{ tasks: 1, needs: { GPU: 1 }, duration: '5m' }] }, 2, 1);
  const provider = providerOf(world, {
    slices: true,
    launch: (request, signal) => world.cloud.launch({ ...request, slice: { hosts: 1 } }, signal),
  });
  const loop = loopIn(world, { spec, provider });
  loop.start();
  await seconds(world, 200);
  assert.equal(loop.happened('LAUNCHING').length, 1);
  assert.equal(loop.happened('REFUSED').length, 0);
  assert.equal([...world.workers()].length, 1);
});

test('a slice one host of which never joins is deleted whole and replaced', async () => {
  const { world, spec } = slicesOf({ work: [{ tasks: 2, needs: { GPU: 1 }, duration: '1m' }] }, 2, 2);
  let silent: string | undefined;
  const starter: NodeStarter = {
    bringUp: async (instance, signal) => {
      if (instance.slice?.index === 1) silent ??= instance.id;
      if (instance.id === silent) throw new Error('no node of it joined');
      await world.starter.bringUp(instance, signal);
    },
    halt: (id, signal) => world.starter.halt(id, signal),
  };
  const loop = loopIn(world, { spec, starter, provider: providerOf(world, { slices: true }) });
  loop.start();
  await seconds(world, 900);
  assert.ok(silent !== undefined);
  assert.equal(loop.happened('LAUNCHING').length, 2);
  assert.ok(world.workDone);
});

test('a storm over three slices ends with all of their work done on three others', async () => {
  const { world, spec } = slicesOf({ work: [{ tasks: 6, needs: { GPU: 1 }, duration: '5m' }] }, 2, 3);
  const loop = loopIn(world, { spec, provider: providerOf(world, { slices: true }) });
  loop.start();
  await seconds(world, 90);
  const before = [...world.workers()];
  assert.equal(before.length, 6);
  for (const host of before.filter(({ slice }) => slice?.index === 1)) world.cloud.preempt(host, 0);
  await seconds(world, 120);
  const lost = new Set(before.map(({ slice }) => slice?.id));
  assert.ok(
    [...world.workers()].every(({ slice }) => !lost.has(slice?.id)),
    'nothing is left of slices that lost a host',
  );
  await seconds(world, 900);
  assert.equal(loop.happened('LAUNCHING').length, 6);
  assert.ok(world.workDone);
});
