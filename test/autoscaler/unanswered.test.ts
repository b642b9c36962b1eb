import assert from 'node:assert/strict';
import { test } from 'node:test';
import { autoscalerEvents } from '../../src/autoscaler/events.ts';
import { providerErrors } from '../../src/providers/errors.ts';
import type { LaunchRequest } from '../../src/providers/provider.ts';
import { worldOf } from '../simulation/worlds.ts';
import { loopIn, providerOf, seconds } from './loop-in-world.ts';

const oneTask = { work: [{ tasks: 1, needs: { CPU: 1 }, duration: '20s' }] };
const broken = (): Promise<never> =>
  Promise.reject(providerErrors.Unreachable({ call: 'launch', detail: 'HTTP status 500' }));

test('a launch that the provider fails to answer is told of, given up when the list shows nothing of it, and made elsewhere', async () => {
  const world = worldOf(oneTask);
  const asked: LaunchRequest[] = [];
  const loop = loopIn(world, {
    provider: providerOf(world, {
      launch: (request, signal) => {
        asked.push(request);
        return request.zone === 'a' ? broken() : world.cloud.launch(request, signal);
      },
    }),
  });
  loop.start();
  await seconds(world, 20);
  const told = loop.happened('LAUNCH_UNANSWERED');
  assert.deepEqual(
    told.map(({ data }) => (data as { said: string }).said),
    ['HTTP status 500'],
  );
  await seconds(world, 160);
  assert.ok(world.workDone);
  assert.equal(new Set(asked.filter(({ zone }) => zone === 'a').map(({ token }) => token)).size, 1);
  const refused = loop.journal.facts.flatMap((fact) => (fact.kind === 'refused' ? [fact.refusal] : []));
  assert.deepEqual(
    refused.map(({ zone, reason, detail }) => ({ zone, reason, detail })),
    [{ zone: 'a', reason: 'unanswered', detail: 'HTTP status 500' }],
  );
  assert.deepEqual(loop.happened('REFUSED'), [], 'nobody refused anything');
  assert.deepEqual(
    loop.happened('LAUNCH_GIVEN_UP').map(({ data }) => autoscalerEvents.givenUp.text(data as never)),
    [
      'gave up on a launch of cpu (on-demand, a): no response, and the provider does not list it; backing off after 1 in a row: HTTP status 500',
    ],
  );
});

test('a launch that rests between its tries does not hold up the end of the loop', async () => {
  const world = worldOf(oneTask);
  let asked = 0;
  const provider = providerOf(world, {
    launch: () => {
      asked += 1;
      return broken();
    },
  });
  const loop = loopIn(world, { provider, settings: { launchRetry: 3_600_000 } });
  const ending = new AbortController();
  let isOver = false;
  void loop.autoscaler.run(ending.signal).then(() => (isOver = true));
  await seconds(world, 20);
  assert.equal(asked, 1);
  ending.abort();
  await seconds(world, 5);
  assert.ok(isOver);
});

test('a machine that comes after its launch was given up is taken in and ended', async () => {
  const world = worldOf(oneTask);
  let late: LaunchRequest | undefined;
  const loop = loopIn(world, {
    provider: providerOf(world, {
      launch: (request, signal) => {
        if (request.zone !== 'a') return world.cloud.launch(request, signal);
        late = request;
        return broken();
      },
    }),
  });
  loop.start();
  await seconds(world, 130);
  assert.ok(late !== undefined);
  assert.equal([...world.workers()].filter(({ zone }) => zone === 'b').length, 1);
  void world.cloud.launch(late, new AbortController().signal);
  await seconds(world, 300);
  assert.equal(loop.happened('ADOPTED').length, 1);
  assert.equal([...world.workers()].length, 0);
});

test('a launch is not given up for lists that do not come, and the machine of a lost answer is found in time', async () => {
  const world = worldOf(oneTask);
  let silent = true;
  const tokens = new Set<string>();
  const loop = loopIn(world, {
    provider: providerOf(world, {
      list: (signal) =>
        silent && tokens.size > 0
          ? Promise.reject(providerErrors.Unreachable({ call: 'list' }))
          : world.cloud.list(signal),
      launch: async (request, signal) => {
        tokens.add(request.token);
        if (!silent) return await world.cloud.launch(request, signal);
        return await broken();
      },
    }),
  });
  loop.start();
  await seconds(world, 900);
  assert.equal(tokens.size, 1);
  silent = false;
  await seconds(world, 120);
  assert.ok(world.workDone);
  assert.equal(tokens.size, 1);
});
