import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engineErrors } from '../../src/engines/errors.ts';
import { providerErrors } from '../../src/providers/errors.ts';
import { worldOf } from '../simulation/worlds.ts';
import { loopIn, providerOf, seconds } from './loop-in-world.ts';

/** As with a real Ray: a wake-up is acted on at once. */
const hasty = { batchIdle: 20, batchMax: 500 };
const oneTask = { work: [{ tasks: 1, needs: { CPU: 1 }, duration: '20s' }] };

test('an order to end that the provider refuses at once is repeated with pauses, and carried out in the end', async () => {
  const world = worldOf(oneTask);
  let orders = 0;
  let throttled = true;
  const loop = loopIn(world, {
    settings: hasty,
    provider: providerOf(world, {
      terminate: (ids, signal) => {
        orders++;
        return throttled
          ? Promise.reject(providerErrors.Throttled({ call: 'terminate' }))
          : world.cloud.terminate(ids, signal);
      },
    }),
  });
  loop.start();
  await seconds(world, 400);
  assert.ok(orders > 5 && orders < 20, `${orders} orders`);
  assert.ok(loop.journal.facts.length < 100, `${loop.journal.facts.length} facts`);
  throttled = false;
  await seconds(world, 60);
  assert.equal([...world.workers()].length, 0);
});

test('a drain that the engine refuses or fails at once is repeated with pauses', async () => {
  for (const refuse of [
    () => Promise.resolve({ accepted: false, reason: 'a task was placed on it' }),
    () => Promise.reject(engineErrors.Unreachable({ call: 'drain' })),
    () => Promise.resolve({ accepted: true }),
  ]) {
    const world = worldOf(oneTask);
    let drains = 0;
    const engine = {
      state: world.engine.state.bind(world.engine),
      reportInfeasible: world.engine.reportInfeasible.bind(world.engine),
      drain: () => {
        drains++;
        return refuse();
      },
    };
    const loop = loopIn(world, { settings: hasty, engine });
    loop.start();
    await seconds(world, 400);
    assert.ok(drains > 5 && drains < 20, `${drains} drains`);
  }
});

test('a list or a state of the engine that fails at once is asked for again no faster than the sweep', async () => {
  for (const side of ['provider', 'engine'] as const) {
    const world = worldOf(oneTask);
    let fails = false;
    let calls = 0;
    const answer = <T>(call: () => Promise<T>, failing: boolean): Promise<T> => {
      if (!failing || !fails) return call();
      calls++;
      return Promise.reject(new Error('the token has expired'));
    };
    const loop = loopIn(world, {
      settings: { ...hasty, bootSweep: 1_000, demandLag: 1_000 },
      provider: providerOf(world, {
        list: (signal) => answer(() => world.cloud.list(signal), side === 'provider'),
      }),
      engine: {
        state: (signal) => answer(() => world.engine.state(signal), side === 'engine'),
        drain: world.engine.drain.bind(world.engine),
        reportInfeasible: world.engine.reportInfeasible.bind(world.engine),
      },
    });
    loop.start();
    await seconds(world, 50);
    fails = true;
    await seconds(world, 120);
    assert.ok(calls > 10 && calls < 60, `the ${side} was asked ${calls} times for what it refused`);
    fails = false;
    await seconds(world, 60);
    assert.equal([...world.workers()].length, 0);
  }
});
