import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Plan } from '../../src/core/plan/plan.ts';
import { waitingWords } from '../../src/core/plan/words.ts';
import { providerErrors } from '../../src/providers/errors.ts';
import type { LaunchRequest, ProviderInstance } from '../../src/providers/provider.ts';
import type { World } from '../../src/simulation/world.ts';
import { worldOf } from '../simulation/worlds.ts';
import { loopIn, providerOf, seconds } from './loop-in-world.ts';

const oneTask = { work: [{ tasks: 1, needs: { CPU: 1 }, duration: '20s' }] };
const detail = 'there was no machine left';

/** The world's provider, in which no instance of these zones ever runs; an hour later it is still listed. */
function refusingLate(world: World, zones: readonly string[], failed: NonNullable<ProviderInstance['failed']>) {
  const asked: LaunchRequest[] = [];
  const refused: ProviderInstance[] = [];
  const provider = providerOf(world, {
    launch: async (request, signal) => {
      asked.push(request);
      if (!zones.includes(request.zone ?? '')) return world.cloud.launch(request, signal);
      const { token: launchToken, type, zone, market, tags } = request;
      const id = `refused-${refused.length}`;
      const made = { id, launchToken, type, kind: 'worker' as const, market, tags, launchedAt: world.clock.now() };
      refused.push({ ...made, ...(zone !== undefined && { zone }), state: 'stopping', failed });
      return [{ ...made, state: 'pending' }];
    },
    list: async (signal) => [...(await world.cloud.list(signal)), ...refused],
  });
  return { provider, asked, refused };
}

test('an instance that is ended before it runs counts as a refused launch of its offer, and the next offer is taken', async () => {
  const world = worldOf(oneTask);
  const cloud = refusingLate(world, ['a'], { kind: 'no-capacity', detail });
  const loop = loopIn(world, { provider: cloud.provider });
  loop.start();
  await seconds(world, 120);
  assert.ok(world.workDone);
  assert.deepEqual(
    cloud.asked.map(({ zone }) => zone),
    ['a', 'b'],
  );
  const [event, ...more] = loop.happened('REFUSED');
  assert.deepEqual(more, []);
  assert.deepEqual(
    { ...(event?.data as object), until: 0 },
    { type: 'cpu', zone: 'a', market: 'on-demand', reason: 'no-capacity', detail, late: true, times: 1, until: 0 },
  );
  assert.deepEqual(loop.happened('ADOPTED'), []);
  assert.ok(!loop.told.some(({ data }) => (data as { instance?: string }).instance === 'refused-0'));
});

test('it is the reason why demand waits, and the pause grows although the provider accepts each launch', async () => {
  const world = worldOf(oneTask);
  let last: Plan | undefined;
  const cloud = refusingLate(world, ['a', 'b'], { kind: 'no-capacity', detail });
  const loop = loopIn(world, {
    provider: cloud.provider,
    onPass: (_, plan) => (last = plan),
    spec: () => ({
      ...world.scenario.spec,
      nodeTypes: world.scenario.spec.nodeTypes.filter(({ name }) => name !== 'gpu'),
    }),
  });
  loop.start();
  await seconds(world, 400);
  const [waiting] = last?.waiting ?? [];
  assert.ok(waiting !== undefined);
  assert.match(waitingWords(waiting, world.time.now), /no capacity, \d times in a row.*there was no machine left/);
  const times = loop.journal.facts.flatMap((fact) =>
    fact.kind === 'refused' && fact.refusal.zone === 'a' ? fact.refusal.times : [],
  );
  assert.deepEqual(
    times,
    times.map((_, index) => index + 1),
  );
  assert.equal(cloud.refused.length, loop.happened('REFUSED').length, 'each instance counts once');
});

test('a loop that starts again does not count it twice, and one without a journal leaves it alone', async () => {
  const world = worldOf(oneTask);
  const cloud = refusingLate(world, ['a'], { kind: 'no-capacity', detail });
  const before = loopIn(world, { provider: cloud.provider });
  before.start();
  await seconds(world, 60);
  before.stop();
  await seconds(world, 5);
  let ids = 0;
  const newId = (): string => `later-${++ids}`;
  const after = loopIn(world, { provider: cloud.provider, journal: before.journal, newId });
  after.start();
  await seconds(world, 60);
  after.stop();
  await seconds(world, 5);
  assert.deepEqual([before.happened('REFUSED').length, after.happened('REFUSED').length], [1, 0]);
  const another = loopIn(world, { provider: cloud.provider, newId });
  another.start();
  await seconds(world, 1_200);
  another.stop();
  assert.deepEqual(another.happened('REFUSED'), []);
  assert.ok(
    !another.happened('ADOPTED').some(({ data }) => (data as { providerId: string }).providerId === 'refused-0'),
  );
});

test('one whose launch was never answered counts too', async () => {
  const world = worldOf(oneTask);
  const cloud = refusingLate(world, ['a'], { kind: 'quota', detail });
  const provider = {
    ...cloud.provider,
    launch: async (request: LaunchRequest, signal: AbortSignal) => {
      const made = await cloud.provider.launch(request, signal);
      if (request.zone === 'a') throw providerErrors.Unreachable({ call: 'launch' });
      return made;
    },
  };
  const loop = loopIn(world, { provider, settings: { launchTries: 1 } });
  loop.start();
  await seconds(world, 120);
  assert.ok(world.workDone);
  assert.deepEqual(
    loop.happened('REFUSED').map(({ data }) => (data as { reason: string }).reason),
    ['quota'],
  );
});

for (const [closes, asked] of [
  ['zone', ['cpu a', 'cpu b', 'gpu a']],
  ['region', ['cpu a', 'gpu a']],
  ['project', ['cpu a']],
] as const)
  test(`a quota that closes a ${closes} closes all of its offers, and no more is asked of it`, async () => {
    const world = worldOf(oneTask);
    const tried: string[] = [];
    const loop = loopIn(world, {
      provider: providerOf(world, {
        launch: ({ type, zone, market }) => {
          tried.push(`${type} ${zone}`);
          return Promise.reject(providerErrors.Quota({ type, zone, market, closes }));
        },
      }),
    });
    loop.start();
    await seconds(world, 100);
    assert.deepEqual(tried, asked);
  });
