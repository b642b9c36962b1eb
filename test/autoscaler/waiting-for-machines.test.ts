import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mantaTags } from '../../src/core/ray-tags.ts';
import type { ScalingSpec } from '../../src/core/scaling.ts';
import type { LaunchRequest } from '../../src/providers/provider.ts';
import { smallCluster, worldOf } from '../simulation/worlds.ts';
import { loopIn, providerOf, seconds } from './loop-in-world.ts';

const minute = 60_000;
const oneTask = { work: [{ tasks: 1, needs: { CPU: 1 }, duration: '20s' }] };
const slow = { ...oneTask, cloud: { ...smallCluster.cloud, boot: '40m' } };

const waitingFor = (spec: ScalingSpec, allocationTimeout: number): ScalingSpec => ({
  ...spec,
  nodeTypes: spec.nodeTypes.map((type) => ({ ...type, allocationTimeout })),
});

test('a type whose machines take 40 minutes is waited for where the file says so', async () => {
  const world = worldOf(slow);
  const loop = loopIn(world, { spec: () => waitingFor(world.scenario.spec, 45 * minute) });
  loop.start();
  await seconds(world, 45 * 60);
  assert.ok(world.workDone);
  assert.equal(loop.happened('LAUNCHING').length, 1);
});

test('it is given up after 15 minutes otherwise, and the next offer is tried', async () => {
  const world = worldOf(slow);
  const loop = loopIn(world);
  loop.start();
  await seconds(world, 14 * 60);
  assert.equal(loop.happened('LAUNCHING').length, 1);
  await seconds(world, 2 * 60);
  assert.deepEqual(
    loop.happened('LAUNCHING').map(({ data }) => (data as { zone: string }).zone),
    ['a', 'b'],
  );
});

test('a sold-out type is not waited for, however long the file would wait', async () => {
  const world = worldOf({
    ...oneTask,
    cloud: { ...smallCluster.cloud, capacity: [{ type: 'cpu', zone: 'a', limit: 0 }] },
  });
  const loop = loopIn(world, { spec: () => waitingFor(world.scenario.spec, 45 * minute) });
  loop.start();
  await seconds(world, 60);
  assert.ok(world.workDone, 'the next zone had one');
});

test('each launch carries the hash of what it launches, and a loop that has lost its journal replaces by it', async () => {
  const world = worldOf();
  const asked: LaunchRequest[] = [];
  const provider = providerOf(world, {
    launch: (request, signal) => {
      asked.push(request);
      return world.cloud.launch(request, signal);
    },
  });
  const withHash = (launchHash: string) => () => ({
    ...world.scenario.spec,
    replaceOutdated: true,
    nodeTypes: world.scenario.spec.nodeTypes.map((type) => ({
      ...type,
      launchHash,
      minWorkers: type.name === 'cpu' ? 1 : 0,
    })),
  });
  const before = loopIn(world, { provider, spec: withHash('one') });
  before.start();
  await seconds(world, 60);
  before.stop();
  await seconds(world, 5);
  let ids = 0;
  const newId = (): string => `later-${++ids}`;
  const same = loopIn(world, { provider, newId, spec: withHash('one') });
  same.start();
  await seconds(world, 60);
  same.stop();
  await seconds(world, 5);
  assert.equal(asked.length, 1, 'what is up to date stays');
  const changed = loopIn(world, { provider, newId, spec: withHash('two') });
  changed.start();
  await seconds(world, 120);
  assert.deepEqual(
    asked.map(({ tags }) => tags[mantaTags.launchHash]),
    ['one', 'two'],
  );
});
