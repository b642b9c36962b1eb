import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryJournal } from '../../src/autoscaler/memory-journal.ts';
import type { Demand } from '../../src/core/demand.ts';
import { engineErrors } from '../../src/engines/errors.ts';
import { providerErrors } from '../../src/providers/errors.ts';
import type { LaunchRequest } from '../../src/providers/provider.ts';
import { smallCluster, worldOf } from '../simulation/worlds.ts';
import { loopIn, providerOf, seconds } from './loop-in-world.ts';

const tasks = (count: number, cpus = 1, duration = '20s') => ({
  work: [{ tasks: count, needs: { CPU: cpus }, duration }],
});

test('demand becomes a node, the node does the work, and is drained and ended when it has been idle long enough', async () => {
  const world = worldOf(tasks(4));
  const loop = loopIn(world);
  loop.start();
  await seconds(world, 60);
  assert.ok(world.workDone);
  assert.equal([...world.workers()].length, 1);
  await seconds(world, 60);
  assert.equal([...world.workers()].length, 0);
  const ends = loop.journal.facts.filter((fact) => fact.kind === 'end').map((fact) => fact.how);
  assert.deepEqual(ends, ['drain', 'terminate']);
});

test('a launch whose answer is lost is asked for again under its token, and there is one set', async () => {
  const world = worldOf(tasks(4));
  const asked: LaunchRequest[] = [];
  const loop = loopIn(world, {
    provider: providerOf(world, {
      launch: async (request, signal) => {
        asked.push(request);
        const made = await world.cloud.launch(request, signal);
        if (asked.length === 1) throw providerErrors.Unreachable({ call: 'launch' });
        return made;
      },
    }),
  });
  loop.start();
  await seconds(world, 60);
  assert.equal([...world.cloud.machines].filter((machine) => machine.kind === 'worker').length, 1);
  assert.equal(new Set(asked.map((request) => request.token)).size, 1);
});

test('the token of a launch is in the journal before the provider is asked', async () => {
  const world = worldOf(tasks(4));
  const journal = new MemoryJournal();
  let known: boolean | undefined;
  const loop = loopIn(world, {
    journal,
    provider: providerOf(world, {
      launch: (request, signal) => {
        known ??= journal.facts.some((fact) => fact.kind === 'launch' && fact.token === request.token);
        return world.cloud.launch(request, signal);
      },
    }),
  });
  loop.start();
  await seconds(world, 10);
  assert.equal(known, true);
});

test('a launch that cannot be written down is not asked for, and the loop goes on when the journal does', async () => {
  const world = worldOf(tasks(4));
  let broken = true;
  const kept = new MemoryJournal();
  let calls = 0;
  const loop = loopIn(world, {
    journal: {
      read: () => kept.read(),
      append: (facts) =>
        broken && facts.some((fact) => fact.kind === 'launch')
          ? Promise.reject(new Error('disk full'))
          : kept.append(facts),
    },
    provider: providerOf(world, {
      launch: (request, signal) => {
        calls++;
        return world.cloud.launch(request, signal);
      },
    }),
  });
  loop.start();
  await seconds(world, 30);
  assert.equal(calls, 0);
  assert.ok(loop.happened('FAILED').length > 0);
  broken = false;
  await seconds(world, 60);
  assert.ok(world.workDone);
});

test('a loop that dies between the journal and the call asks for that launch when it starts again', async () => {
  const world = worldOf(tasks(4));
  const journal = new MemoryJournal();
  const dying = loopIn(world, { journal, provider: providerOf(world, { launch: () => new Promise(() => {}) }) });
  dying.start();
  await seconds(world, 5);
  dying.stop();
  assert.equal([...world.workers()].length, 0);
  const tokens = journal.facts.flatMap((fact) => (fact.kind === 'launch' ? fact.token : []));
  const next = loopIn(world, { journal, newId: () => `second-${journal.facts.length}-${Math.round(world.elapsed)}` });
  next.start();
  await seconds(world, 30);
  const machines = [...world.workers()];
  assert.equal(machines.length, 1);
  assert.deepEqual([machines[0]?.token], tokens);
});

test('what a zone does not give is asked for in the next one, and the zone is left alone for a while', async () => {
  const capacity = [{ type: 'cpu', zone: 'a', limit: 1 }];
  const world = worldOf({ ...tasks(12), cloud: { ...smallCluster.cloud, capacity } });
  const loop = loopIn(world);
  loop.start();
  await seconds(world, 20);
  assert.deepEqual(
    [...world.workers()].map((machine) => machine.zone ?? '').toSorted((a, b) => a.localeCompare(b)),
    ['a', 'b', 'b'],
  );
  const refusals = loop.journal.facts.filter((fact) => fact.kind === 'refused');
  assert.equal(refusals[0]?.refusal.reason, 'no-capacity');
  assert.equal(refusals[0]?.refusal.zone, 'a');
});

test('what was refused is asked for at once when somebody has changed something', async () => {
  const world = worldOf(tasks(1));
  let asked = 0;
  const launch = ({ type }: LaunchRequest): Promise<never> => {
    asked++;
    return Promise.reject(providerErrors.NoCapacity({ type }));
  };
  const loop = loopIn(world, { provider: providerOf(world, { launch }) });
  loop.start();
  await seconds(world, 20);
  const before = asked;
  await seconds(world, 5);
  assert.equal(asked, before);
  loop.autoscaler.forgive();
  await seconds(world, 5);
  assert.ok(asked > before);
});

test('a drain that is refused leaves the node running', async () => {
  const world = worldOf(tasks(1), { drainRefused: 1 });
  const loop = loopIn(world);
  loop.start();
  await seconds(world, 180);
  assert.ok(loop.happened('DRAIN_REFUSED').length > 0);
  const [machine] = world.workers();
  assert.equal(world.engine.nodeOn(machine?.id ?? '')?.state, 'alive');
});

test('nothing is ended while the provider does not answer', async () => {
  const world = worldOf(tasks(4));
  let silent = false;
  let ended = 0;
  const loop = loopIn(world, {
    provider: providerOf(world, {
      list: (signal) =>
        silent ? Promise.reject(providerErrors.Unreachable({ call: 'list' })) : world.cloud.list(signal),
      terminate: (ids, signal) => {
        ended++;
        return world.cloud.terminate(ids, signal);
      },
    }),
  });
  loop.start();
  await seconds(world, 45);
  silent = true;
  await seconds(world, 300);
  assert.equal(ended, 0);
  assert.equal(world.engine.nodeOn([...world.workers()][0]?.id ?? '')?.state, 'alive');
  silent = false;
  await seconds(world, 60);
  assert.equal([...world.workers()].length, 0);
});

test('a machine with the cluster’s tag that nobody asked for is taken in and ended', async () => {
  const world = worldOf();
  const loop = loopIn(world);
  world.cloud.place({ type: 'cpu', kind: 'worker', token: 'from-elsewhere' });
  loop.start();
  await seconds(world, 240);
  assert.equal(loop.happened('ADOPTED').length, 1);
  assert.equal([...world.workers()].length, 0);
});

test('a machine that is found again is not set up before the engine has said whether it carries a node', async () => {
  const world = worldOf(tasks(4, 1, '10m'));
  const first = loopIn(world);
  first.start();
  await seconds(world, 60);
  first.stop();
  assert.equal([...world.workers()].length, 1);
  let silent = true;
  let begun = 0;
  const next = loopIn(world, {
    engine: {
      state: (signal) =>
        silent ? Promise.reject(engineErrors.Unreachable({ call: 'state' })) : world.engine.state(signal),
      drain: world.engine.drain.bind(world.engine),
      reportInfeasible: world.engine.reportInfeasible.bind(world.engine),
    },
    starter: {
      bringUp: async () => void begun++,
      halt: async () => {},
    },
  });
  next.start();
  await seconds(world, 60);
  assert.equal(next.happened('ADOPTED').length, 1);
  silent = false;
  await seconds(world, 60);
  assert.equal(begun, 0);
  assert.equal([...world.workers()].length, 1);
});

test('demand that an engine tells of though it has its place on a new node is not launched for again', async () => {
  const world = worldOf(tasks(4));
  let late: Demand | undefined;
  const engine = {
    state: async (signal: AbortSignal) => {
      const state = await world.engine.state(signal);
      const shown = { ...state, demand: late ?? state.demand };
      late = state.demand;
      return shown;
    },
    drain: world.engine.drain.bind(world.engine),
    reportInfeasible: world.engine.reportInfeasible.bind(world.engine),
  };
  const loop = loopIn(world, { engine, settings: { demandLag: 1_000 } });
  loop.start();
  await seconds(world, 120);
  assert.ok(world.workDone);
  assert.equal(loop.journal.facts.filter(({ kind }) => kind === 'launch').length, 1);
});

test('the set-up of a machine that has vanished is given up', async () => {
  const world = worldOf(tasks(1));
  const begun: { readonly machine: string; readonly signal: AbortSignal }[] = [];
  const gone = new Set<string>();
  const loop = loopIn(world, {
    provider: providerOf(world, {
      list: async (signal) => (await world.cloud.list(signal)).filter(({ id }) => !gone.has(id)),
    }),
    starter: {
      bringUp: ({ id }, signal) => {
        begun.push({ machine: id, signal });
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
      },
      halt: async () => {},
    },
  });
  loop.start();
  await seconds(world, 60);
  assert.deepEqual(
    begun.map(({ signal }) => signal.aborted),
    [false],
  );
  gone.add(begun[0]!.machine);
  await seconds(world, 300);
  assert.equal(begun[0]?.signal.aborted, true);
});

test('an order to end a machine is repeated until the list shows it gone', async () => {
  const world = worldOf(tasks(1));
  let orders = 0;
  const loop = loopIn(world, {
    provider: providerOf(world, {
      terminate: (ids, signal) => (++orders < 3 ? Promise.resolve() : world.cloud.terminate(ids, signal)),
    }),
  });
  loop.start();
  await seconds(world, 400);
  assert.equal(orders, 3);
  assert.equal([...world.workers()].length, 0);
});

test('a machine that boots is looked for more often, where the settings say so, and not for ever', async () => {
  const world = worldOf(tasks(1, 1, '10m'));
  let passes = 0;
  const loop = loopIn(world, {
    settings: { bootSweep: 1_000 },
    onPass: () => passes++,
    provider: {
      list: async (signal) => (await world.cloud.list(signal)).map((each) => ({ ...each, state: 'pending' as const })),
      launch: (request, signal) => world.cloud.launch(request, signal),
      terminate: (ids, signal) => world.cloud.terminate(ids, signal),
      tag: (id, tags, signal) => world.cloud.tag(id, tags, signal),
    },
  });
  loop.start();
  await seconds(world, 10);
  const during = async (count: number): Promise<number> => {
    const before = passes;
    await seconds(world, count);
    return passes - before;
  };
  assert.ok((await during(20)) >= 15);
  await seconds(world, 60);
  assert.ok((await during(20)) <= 10);
});

test('a node that is announced to go is drained and replaced before it is gone', async () => {
  const world = worldOf(tasks(4, 1, '10m'));
  const loop = loopIn(world);
  loop.start();
  await seconds(world, 60);
  const before = [...world.workers()];
  const [machine] = before;
  assert.ok(machine);
  world.cloud.preempt(machine, 120_000);
  await seconds(world, 20);
  assert.equal([...world.workers()].length, before.length + 1, 'the next one is there while work runs on the old one');
  assert.equal(world.engine.nodeOn(machine.id)?.state, 'draining');
  assert.ok(loop.journal.facts.some((fact) => fact.kind === 'end' && fact.because.kind === 'preemption'));
  await seconds(world, 160);
  assert.equal(world.engine.waiting, 0);
});

test('a machine that the provider takes back is replaced at once, also where max_workers is reached', async () => {
  const { cluster } = smallCluster;
  const world = worldOf({ ...tasks(4, 4, '30m'), ...(cluster && { cluster: { ...cluster, maxWorkers: 4 } }) });
  const loop = loopIn(world);
  loop.start();
  await seconds(world, 60);
  assert.equal([...world.workers()].length, 4);
  const [machine] = world.workers();
  assert.ok(machine);
  world.cloud.preempt(machine, 120_000);
  await seconds(world, 20);
  assert.equal([...world.workers()].length, 5);
  assert.deepEqual(loop.happened('DROPPED'), []);
});

test('a burst of wake-ups is one pass, not one each', async () => {
  const world = worldOf();
  let passes = 0;
  const loop = loopIn(world, { onPass: () => passes++ });
  loop.start();
  await seconds(world, 2);
  const before = passes;
  for (let index = 0; index < 500; index++) world.time.after(index / 10, () => loop.autoscaler.wake());
  await seconds(world, 2);
  assert.equal(passes - before, 1);
});

test('new demand is looked at within a moment, not at the next sweep', async () => {
  const world = worldOf();
  const loop = loopIn(world, { settings: { sweep: 3_600_000 } });
  loop.start();
  await seconds(world, 10);
  world.engine.submit({ kind: 'task', at: 0, resources: { CPU: 1 }, selectors: [], duration: 1_000 });
  await seconds(world, 2);
  assert.equal([...world.workers()].length, 1);
});

test('a record that makes no sense is isolated, and the others are cared for', async () => {
  const world = worldOf(tasks(4));
  const journal = new MemoryJournal();
  const record = {
    ...{ id: 'odd', type: 'cpu', kind: 'worker' as const, requestedAt: 0, since: 0, attempts: 1, providerId: 'i-odd' },
    status: 'somewhere' as never,
  };
  await journal.append([{ kind: 'instance', at: 0, record, moves: [] }]);
  await journal.append([{ kind: 'from-the-future' } as never]);
  const loop = loopIn(world, { journal });
  loop.start();
  await seconds(world, 60);
  assert.ok(world.workDone);
  assert.equal(loop.happened('UNREADABLE_FACT').length, 1);
  assert.ok(loop.happened('ISOLATED').length >= 1);
});

test('a loop that has lost its journal takes in nodes that run, and sets none of them up again', async () => {
  const world = worldOf(tasks(4, 1, '300s'));
  const first = loopIn(world);
  first.start();
  await seconds(world, 60);
  first.stop();
  await seconds(world, 10);
  const before = [...world.workers()].map(({ id }) => id);
  assert.notEqual(before.length, 0);
  const set: string[] = [];
  const second = loopIn(world, {
    starter: {
      bringUp: (instance, signal) => {
        set.push(instance.id);
        return world.starter.bringUp(instance, signal);
      },
      halt: (id, signal) => world.starter.halt(id, signal),
    },
  });
  second.start();
  await seconds(world, 30);
  assert.equal(second.happened('ADOPTED').length, before.length);
  assert.deepEqual(set, []);
  assert.deepEqual(
    [...world.workers()].map(({ id }) => id),
    before,
  );
});
