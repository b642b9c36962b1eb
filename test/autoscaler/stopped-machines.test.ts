import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AutoscalerOptions } from '../../src/autoscaler/loop.ts';
import { clearInstances } from '../../src/autoscaler/teardown.ts';
import type { ScalingSpec } from '../../src/core/scaling.ts';
import type { View } from '../../src/core/view.ts';
import { providerErrors } from '../../src/providers/errors.ts';
import type { World } from '../../src/simulation/world.ts';
import { inTime, smallCluster, worldOf } from '../simulation/worlds.ts';
import { loopIn, providerOf, seconds } from './loop-in-world.ts';

/** Work at once, and again after ten minutes: the worker is idle for long in between. */
const twice = {
  work: [{ tasks: 4, needs: { CPU: 1 }, duration: '20s', repeat: { every: '10m', times: 2 } }],
};

function stopping(world: World, change: Partial<AutoscalerOptions> = {}, more: Partial<ScalingSpec> = {}) {
  const spec = { ...world.scenario.spec, stopsIdle: true, ...more };
  return loopIn(world, { spec: () => spec, ...change });
}

const states = async (world: World): Promise<string[]> =>
  (await inTime(world, world.cloud.list(new AbortController().signal)))
    .filter(({ kind }) => kind === 'worker')
    .map(({ id, state }) => `${id} ${state}`);
const ends = (loop: ReturnType<typeof loopIn>): string[] =>
  loop.journal.facts.flatMap((fact) => (fact.kind === 'end' ? fact.how : []));
const made = (world: World): number => [...world.cloud.machines].filter(({ kind }) => kind === 'worker').length;

test('an idle worker is stopped, is no node meanwhile, and is started by the next launch', async () => {
  const world = worldOf(twice);
  let seen: View | undefined;
  const loop = stopping(world, { onPass: (view) => (seen = view) });
  loop.start();
  await seconds(world, 300);
  assert.deepEqual(ends(loop), ['drain', 'stop']);
  assert.deepEqual(await states(world), ['i-00002 stopped']);
  assert.deepEqual(
    seen?.instances.filter(({ kind }) => kind === 'worker').map(({ status, node }) => [status, node]),
    [['machine-stopped', undefined]],
  );
  await seconds(world, 350);
  assert.ok(world.workDone);
  assert.equal(made(world), 1);
  assert.deepEqual(await states(world), ['i-00002 running']);
  await seconds(world, 200);
  assert.deepEqual(ends(loop), ['drain', 'stop', 'drain', 'stop']);
  assert.deepEqual(loop.happened('ADOPTED'), []);
});

test('a started worker whose launch was never answered is found by its new token', async () => {
  const world = worldOf(twice);
  let launches = 0;
  const loop = stopping(world, {
    settings: { launchTries: 1 },
    provider: providerOf(world, {
      stop: (ids, signal) => world.cloud.stop(ids, signal),
      launch: async (request, signal) => {
        const given = await world.cloud.launch(request, signal);
        if (++launches === 2) throw providerErrors.Unreachable({ call: 'launch' });
        return given;
      },
    }),
  });
  loop.start();
  await seconds(world, 800);
  assert.ok(world.workDone);
  assert.deepEqual([made(world), launches], [1, 2]);
});

test('a loop that starts again, with or without its journal, keeps and starts what is stopped', async () => {
  for (const keeps of [true, false]) {
    const world = worldOf(twice);
    const before = stopping(world);
    before.start();
    await seconds(world, 300);
    before.stop();
    await seconds(world, 5);
    let ids = 0;
    const after = stopping(world, {
      newId: () => `later-${++ids}`,
      ...(keeps && { journal: before.journal }),
    });
    after.start();
    await seconds(world, 500);
    assert.ok(world.workDone);
    assert.equal(made(world), 1);
    after.stop();
  }
});

test('a spot worker, and one whose provider cannot stop it or does not let it, is terminated', async () => {
  const cluster = smallCluster.cluster!;
  const { types } = cluster;
  const spot = { ...cluster, types: { ...types, cpu: { ...types['cpu']!, market: 'spot' as const } } };
  const onSpot = worldOf({ ...twice, cluster: spot });
  const unable = worldOf(twice);
  const denied = worldOf(twice);
  for (const [world, loop] of [
    [onSpot, stopping(onSpot)],
    [unable, stopping(unable, { provider: providerOf(unable, {}) })],
    [
      denied,
      stopping(denied, {
        provider: providerOf(denied, { stop: () => Promise.reject(providerErrors.Denied({ call: 'stop' })) }),
      }),
    ],
  ] as const) {
    loop.start();
    await seconds(world, 300);
    assert.equal(ends(loop).at(-1), 'terminate');
    assert.deepEqual(await states(world), []);
  }
});

test('an order to stop that is lost is given again', async () => {
  const world = worldOf(twice);
  let orders = 0;
  const loop = stopping(world, {
    provider: providerOf(world, {
      stop: async (ids, signal) => {
        if (++orders === 1) throw providerErrors.Unreachable({ call: 'stop' });
        await world.cloud.stop(ids, signal);
      },
    }),
  });
  loop.start();
  await seconds(world, 300);
  assert.equal(orders, 2);
  assert.deepEqual(await states(world), ['i-00002 stopped']);
});

for (const [what, more] of [
  ['the file no longer keeps stopped machines', () => ({ stopsIdle: false })],
  [
    'their launch configuration is outdated',
    ({ nodeTypes }: ScalingSpec) => ({ nodeTypes: nodeTypes.map((type) => ({ ...type, launchHash: 'other' })) }),
  ],
  [
    'there are more of them than max_workers',
    ({ nodeTypes }: ScalingSpec) => ({ nodeTypes: nodeTypes.map((type) => ({ ...type, maxWorkers: 0 })) }),
  ],
  [
    'their type is gone',
    ({ nodeTypes }: ScalingSpec) => ({ nodeTypes: nodeTypes.filter(({ name }) => name !== 'cpu') }),
  ],
] as const)
  test(`stopped machines are terminated when ${what}`, async () => {
    const world = worldOf(twice);
    let spec: ScalingSpec = {
      ...world.scenario.spec,
      stopsIdle: true,
      nodeTypes: world.scenario.spec.nodeTypes.map((type) => ({ ...type, launchHash: 'first' })),
    };
    const loop = loopIn(world, { spec: () => spec });
    loop.start();
    await seconds(world, 300);
    assert.deepEqual(await states(world), ['i-00002 stopped']);
    spec = { ...spec, ...more(spec) };
    await seconds(world, 60);
    assert.deepEqual(await states(world), []);
  });

test('the end of a cluster ends what is stopped', async () => {
  const world = worldOf(twice);
  const loop = stopping(world);
  loop.start();
  await seconds(world, 300);
  loop.stop();
  const { ended, left } = await inTime(
    world,
    clearInstances(world.cloud, { clock: world.clock }, new AbortController().signal),
  );
  assert.deepEqual([ended, left], [['i-00002'], []]);
});
