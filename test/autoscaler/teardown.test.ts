import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loopSettings } from '../../src/autoscaler/settings.ts';
import { endInstances, type InstancesToEnd } from '../../src/autoscaler/teardown.ts';
import type { Provider, ProviderInstance } from '../../src/providers/provider.ts';
import { VirtualClock, VirtualTime } from '../../src/simulation/virtual-time.ts';
import { never } from '../contract/waiting.ts';
import { inTime, worldOf } from '../simulation/worlds.ts';

const worker = (id: string, state: ProviderInstance['state'] = 'running') =>
  ({ id, kind: 'worker', state }) as ProviderInstance;

/** Ends the instances of a provider in virtual time; what was asked of it is in `asked`, with the second. */
async function endOf(
  edges: (time: VirtualTime) => Partial<Pick<Provider, 'list' | 'terminate'>>,
  order: Partial<InstancesToEnd> = {},
) {
  const time = new VirtualTime(0);
  const asked: string[] = [];
  const at = (): string => `${Math.floor(time.now / 1_000)} s`;
  const { list = async () => [], terminate = async () => {} } = edges(time);
  const provider = {
    list: (signal: AbortSignal) => {
      asked.push(`list ${at()}`);
      return list(signal);
    },
    terminate: (ids: readonly string[], signal: AbortSignal) => {
      asked.push(`terminate ${ids.join()} ${at()}`);
      return terminate(ids, signal);
    },
  };
  const clock = new VirtualClock(time);
  const ending = endInstances(provider, { clock, ...order }, never).then(
    (ended) => ({ ...ended, left: ended.left.map(({ id }) => id), at: time.now }),
    (error: Error) => ({ error, at: time.now }),
  );
  await time.run(3_600_000);
  return { asked, outcome: await ending };
}

test('where nothing is listed nothing is asked but the list', async () => {
  const { asked, outcome } = await endOf(() => ({}));
  assert.deepEqual([asked, outcome], [['list 0 s'], { ended: [], left: [], why: '', at: 0 }]);
});

test('a call that never comes back is made again', async () => {
  let lists = 0;
  let there = [worker('a')];
  const { outcome } = await endOf(() => ({
    list: () => (++lists === 1 ? new Promise(() => {}) : Promise.resolve(there)),
    terminate: async () => void (there = []),
  }));
  assert.deepEqual('ended' in outcome && [outcome.ended, outcome.left], [['a'], []]);
  assert.ok(outcome.at > 60_000 && outcome.at < 62_000, String(outcome.at));
});

test('one that stops by the order of somebody who died gets an order of ours, and another if it stays', async () => {
  const { asked, outcome } = await endOf((time) => ({
    list: async () => (time.now < 70_000 ? [worker('a', 'stopping')] : []),
  }));
  assert.deepEqual(
    asked.filter((each) => each.startsWith('terminate')),
    ['terminate a 0 s', 'terminate a 30 s', 'terminate a 60 s'],
  );
  assert.deepEqual('ended' in outcome && outcome.ended, ['a']);
});

test('an instance that appears while lists settle is ended, and they settle anew', async () => {
  let there: ProviderInstance[] = [];
  const { outcome } = await endOf(
    (time) => {
      time.at(50_000, () => void (there = [worker('late')]));
      return { list: async () => there, terminate: async () => void (there = []) };
    },
    { settles: 60_000 },
  );
  assert.deepEqual('ended' in outcome && outcome.ended, ['late']);
  assert.ok(outcome.at >= 110_000, String(outcome.at));
});

test('the last look is when lists have settled, and not a pause later', async () => {
  const { asked, outcome } = await endOf(() => ({}), { settles: 3_000 });
  assert.equal(outcome.at, 3_000, asked.join(', '));
});

test('who waits for the last instance is told once, while lists settle', async () => {
  let there = [worker('a')];
  const told: number[] = [];
  const { outcome } = await endOf(
    (time) => {
      time.at(1_000, () => void (there = [worker('late')]));
      return {
        list: async () => there,
        terminate: async () => {
          if (time.now >= 1_000) told.push(-1);
          there = [];
        },
      };
    },
    { settles: 3_000, onNone: () => void told.push(there.length) },
  );
  assert.deepEqual('ended' in outcome && outcome.ended, ['a', 'late']);
  assert.deepEqual(told, [0, -1], 'none was left, and another one that appeared is ended without a word');
});

test('what does not end is named in time, with what went wrong last, and heads only where they are meant', async () => {
  const there = [worker('a'), { ...worker('h'), kind: 'head' as const }];
  const denied = { list: async () => there, terminate: () => Promise.reject(new Error('denied by the cloud')) };
  const workers = await endOf(() => denied);
  assert.deepEqual(workers.outcome, { ended: [], left: ['a'], why: 'denied by the cloud', at: workers.outcome.at });
  assert.ok(workers.outcome.at <= 121_000, String(workers.outcome.at));
  const all = await endOf(() => ({ list: async () => there }), { kinds: ['worker', 'head'], within: 30_000 });
  assert.deepEqual('left' in all.outcome && [all.outcome.left, all.outcome.why], [
    ['a', 'h'],
    'its provider still lists it',
  ]);
  assert.ok(all.outcome.at <= 31_000, String(all.outcome.at));
});

test('the reason of a list that fails until the end is thrown: nobody knows what there is', async () => {
  const { outcome } = await endOf(() => ({ list: () => Promise.reject(new Error('the cloud is out')) }));
  assert.match('error' in outcome ? outcome.error.message : '', /^the cloud is out$/);
});

/** Worlds, of forty, in which an end that begins right after a launch says that all are gone, and one is there. */
async function worldsThatLeak(settles: number): Promise<number> {
  let leaks = 0;
  for (let seed = 1; seed <= 40; seed++) {
    const world = worldOf({}, { staleList: 0.5, throttle: 0.2, lostAnswer: 0.1, slowCall: 0.1 }, [], seed);
    const launch = { token: 't', type: 'cpu', count: 3, zone: 'a', market: 'on-demand', tags: {} } as const;
    void world.cloud.launch(launch, never).catch(() => {});
    const cleared = await inTime(
      world,
      endInstances(world.cloud, { clock: world.clock, settles }, never).then(
        ({ left }) => left.length === 0,
        () => false,
      ),
    );
    if (cleared && [...world.workers()].length > 0) leaks += 1;
    assert.ok(world.head.goneAt > world.time.now, 'the head stays');
  }
  return leaks;
}

test('a machine that lists show late is ended where they settle for as long as they lag, and missed otherwise', async () => {
  assert.equal(await worldsThatLeak(loopSettings.listLag), 0);
  assert.ok((await worldsThatLeak(0)) > 0, 'no world hides a machine: this proves nothing');
});
