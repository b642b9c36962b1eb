import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { MemoryJournal } from '../../src/autoscaler/memory-journal.ts';
import { loopSettings } from '../../src/autoscaler/settings.ts';
import type { Plan } from '../../src/core/plan/plan.ts';
import { waitingWords } from '../../src/core/plan/words.ts';
import type { World } from '../../src/simulation/world.ts';
import { worldOf } from '../simulation/worlds.ts';
import { loopIn, providerOf, seconds } from './loop-in-world.ts';

/** A loop whose machines cannot be set up, for as long as `broken` says so. */
function brokenSetUp(world: World, settings: Parameters<typeof loopIn>[1] = {}) {
  const state = { broken: true, asked: 0, plan: undefined as Plan | undefined };
  const loop = loopIn(world, {
    onPass: (_, plan) => (state.plan = plan),
    provider: providerOf(world, {
      launch: (request, signal) => {
        state.asked += request.count;
        return world.cloud.launch(request, signal);
      },
    }),
    starter: {
      bringUp: (instance, signal) =>
        state.broken
          ? Promise.reject(new Error('pip: no such package\nand what it said besides'))
          : world.starter.bringUp(instance, signal),
      halt: (id, signal) => world.starter.halt(id, signal),
    },
    ...settings,
  });
  loop.start();
  return { state, loop };
}

const oneTask = { work: [{ tasks: 1, needs: { CPU: 1 }, duration: '20s' }] };
const pauses = (loop: ReturnType<typeof loopIn>) =>
  loop.journal.facts.flatMap((fact) => (fact.kind === 'refused' ? [fact.refusal.until - fact.refusal.last] : []));

test('machines of a type that cannot be set up are paid for ever more rarely, whatever the zone', async () => {
  const world = worldOf(oneTask);
  const { state, loop } = brokenSetUp(world);
  await seconds(world, 3_600);
  assert.ok(state.asked > 8 && state.asked < 25, `${state.asked} machines in an hour`);
  const cpu = loop.journal.facts.flatMap((fact) =>
    fact.kind === 'refused' && fact.refusal.type === 'cpu' ? [fact.refusal.until - fact.refusal.last] : [],
  );
  assert.deepEqual(cpu.slice(0, 4), [15_000, 30_000, 60_000, 120_000]);
  assert.ok(Math.max(...pauses(loop)) <= 600_000);
  assert.equal(loop.happened('TYPE_PAUSED').length, pauses(loop).length);
});

test('demand for a type that cannot be set up waits, with what the set-up said', async () => {
  const world = worldOf({ work: [{ tasks: 1, needs: { GPU: 1 }, duration: '20s' }] });
  const { state } = brokenSetUp(world);
  await seconds(world, 120);
  const [waiting] = state.plan?.waiting ?? [];
  assert.ok(waiting !== undefined);
  assert.match(
    waitingWords(waiting, world.time.now),
    /gpu: setup of its machines failed, \d times in a row; retrying in \d+ s: pip: no such package$/,
  );
});

test('a type that could not be set up is tried at once when somebody has changed something, and counts anew when it works', async () => {
  const world = worldOf({ work: [{ tasks: 1, needs: { GPU: 1 }, duration: '20s' }] });
  const { state, loop } = brokenSetUp(world);
  await seconds(world, 600);
  state.broken = false;
  const before = state.asked;
  loop.autoscaler.forgive();
  await seconds(world, 60);
  assert.equal(state.asked, before + 1);
  assert.ok(world.workDone);
});

test('a set-up that works lifts the pause of its type', async () => {
  const world = worldOf(oneTask);
  const { state, loop } = brokenSetUp(world);
  await seconds(world, 40);
  state.broken = false;
  await seconds(world, 600);
  assert.ok(world.workDone);
  const last = loop.journal.facts.findLast((fact) => fact.kind === 'refused' || fact.kind === 'granted');
  assert.equal(last?.kind, 'granted');
});

test('machines that fail together are one failure', async () => {
  const world = worldOf({ work: [{ tasks: 4, needs: { CPU: 4 }, duration: '20s' }] });
  const { loop } = brokenSetUp(world);
  await seconds(world, 30);
  assert.equal(loop.happened('SETUP_FAILED').length > 3, true);
  assert.deepEqual(
    loop.journal.facts.flatMap((fact) =>
      fact.kind === 'refused' && fact.refusal.type === 'cpu' ? fact.refusal.times : [],
    ),
    [1],
  );
});

test('a machine that vanished is known as such from a list asked for after its set-up failed', async () => {
  const world = worldOf(oneTask);
  let lost: string | undefined;
  const { loop } = brokenSetUp(world, {
    provider: providerOf(world, {
      list: async (signal) => {
        const listed = await world.cloud.list(signal);
        if (listed.some(({ kind }) => kind === 'worker')) await world.clock.sleep(3_000, signal);
        return listed;
      },
    }),
    starter: {
      bringUp: async (instance, signal) => {
        if (lost !== undefined) return world.starter.bringUp(instance, signal);
        lost = instance.id;
        loop.autoscaler.wake();
        // A list that still shows the machine is under way by then.
        await world.clock.sleep(2_000, signal);
        const machine = world.cloud.machine(instance.id);
        assert.ok(machine !== undefined);
        world.cloud.preempt(machine, 0);
        throw new Error('the connection was closed');
      },
      halt: (id, signal) => world.starter.halt(id, signal),
    },
  });
  await seconds(world, 60);
  assert.equal(loop.happened('SETUP_FAILED').length, 1);
  assert.deepEqual(loop.happened('TYPE_PAUSED'), []);
});

for (const [how, notice] of [
  ['vanished', 0],
  ['was announced to be taken back', 120_000],
] as const) {
  test(`a machine that ${how} during its set-up is replaced at once, and its type is not paused`, async () => {
    const world = worldOf(oneTask);
    let failed = false;
    const { loop } = brokenSetUp(world, {
      starter: {
        bringUp: async (instance, signal) => {
          if (failed) return world.starter.bringUp(instance, signal);
          failed = true;
          const machine = world.cloud.machine(instance.id);
          assert.ok(machine !== undefined);
          world.cloud.preempt(machine, notice);
          await world.clock.sleep(1_000, signal);
          throw new Error('the connection was closed');
        },
        halt: (id, signal) => world.starter.halt(id, signal),
      },
    });
    await seconds(world, 20);
    assert.equal(loop.happened('SETUP_FAILED').length, 1);
    assert.deepEqual(loop.happened('TYPE_PAUSED'), []);
    assert.equal(loop.happened('LAUNCHING').length, 2);
    await seconds(world, 60);
    assert.ok(world.workDone);
  });
}

test('where the provider itself passes over what failed, the type is not paused', async () => {
  const world = worldOf(oneTask);
  const { loop } = brokenSetUp(world, {
    settings: { refusals: { first: { ...loopSettings.refusals.first, 'setup-failed': 0 }, longest: 120_000 } },
  });
  await seconds(world, 60);
  assert.ok(loop.happened('SETUP_FAILED').length > 2);
  assert.deepEqual(pauses(loop), []);
});

suite('a set-up that takes an hour', () => {
  const hour = 3_600;
  const slow = (allowed?: number) => {
    const world = worldOf({ work: [{ tasks: 1, needs: { GPU: 1 }, duration: '20s' }] });
    const loop = loopIn(world, {
      starter: {
        bringUp: async (instance, signal) => {
          await world.clock.sleep(hour * 1_000, signal);
          await world.starter.bringUp(instance, signal);
        },
        halt: (id, signal) => world.starter.halt(id, signal),
      },
      ...(allowed !== undefined && { settings: { timeouts: { ...loopSettings.timeouts, settingUp: allowed } } }),
    });
    loop.start();
    return { world, loop };
  };

  test('is given up, and said to be, with the key that allows more', async () => {
    const { world, loop } = slow();
    await seconds(world, hour / 2 + 120);
    const words = /did not finish within 30m; raise provider\.manta\.setup_timeout to allow more time$/;
    const [failed] = loop.happened('SETUP_FAILED');
    assert.match((failed?.data as { reason: string } | undefined)?.reason ?? '', words);
    const refused = loop.journal.facts.find((fact) => fact.kind === 'refused');
    assert.match(refused?.refusal.detail ?? '', words);
  });

  test('comes to its end where it is allowed to', async () => {
    const { world, loop } = slow(2 * hour * 1_000);
    await seconds(world, hour + 600);
    assert.deepEqual(loop.happened('SETUP_FAILED'), []);
    assert.ok(world.workDone);
  });
});

test('a machine whose set-up could not be written down is set up as soon as it can be', async () => {
  const world = worldOf(oneTask);
  const kept = new MemoryJournal();
  let failed = 0;
  const loop = loopIn(world, {
    journal: {
      read: () => kept.read(),
      append: async (facts) => {
        if (failed === 0 && facts.some((fact) => fact.kind === 'instance' && fact.record.status === 'setting-up')) {
          failed++;
          throw new Error('no space left on device');
        }
        await kept.append(facts);
      },
    },
  });
  loop.start();
  await seconds(world, 300);
  assert.equal(failed, 1);
  assert.ok(world.workDone);
});
