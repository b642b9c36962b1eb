import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plan } from '../../src/core/plan/plan-cluster.ts';
import { lowerBound } from '../../src/simulation/bound.ts';
import { faultProfiles } from '../../src/simulation/faults.ts';
import { isWithinLimits, searchSchedule } from '../../src/simulation/offline/search.ts';
import { builtInScenario } from '../../src/simulation/scenario/load-workload.ts';
import { type SimulationOptions, simulateManta } from '../../src/simulation/simulate.ts';
import { randomWorkload, randomWorkloadName, randomWorkloadSeed } from '../../src/simulation/workloads/random.ts';

const optionsFor = (seed: number): SimulationOptions => ({
  scenario: builtInScenario(randomWorkload(seed)),
  seed: 1,
  rates: faultProfiles.none,
  sampleEvery: 3_600_000,
});

test('a random workload follows from its seed alone, and its name leads back to it', () => {
  for (const seed of [1, 2, 9_999, 123_456]) {
    assert.deepEqual(randomWorkload(seed), randomWorkload(seed));
    assert.equal(randomWorkloadSeed(randomWorkloadName(seed)), seed);
  }
  assert.notDeepEqual(randomWorkload(1).work, randomWorkload(2).work);
  assert.equal(randomWorkloadSeed('burst'), undefined);
});

test('a thousand random workloads are valid, and have work of every kind, markets, shortages and preemption', () => {
  const kinds = new Map<string, number>();
  for (let seed = 1; seed <= 1_000; seed++) {
    const { work, spec, cloud } = builtInScenario(randomWorkload(seed));
    assert.ok(work.some(({ kind }) => kind !== 'standing'));
    const seen = [
      ...work.map(({ kind }) => kind),
      ...spec.nodeTypes.flatMap(({ offers }) => offers.map(({ market }) => market)),
      ...(cloud.capacity.length > 0 ? ['shortage'] : []),
      ...(cloud.preemption.length > 0 ? ['preemption'] : []),
    ];
    for (const each of new Set(seen)) kinds.set(each, (kinds.get(each) ?? 0) + 1);
  }
  for (const kind of ['tasks', 'actors', 'gangs', 'standing', 'spot', 'on-demand', 'shortage', 'preemption'])
    assert.ok((kinds.get(kind) ?? 0) >= 100, `${kind}: ${kinds.get(kind)}`);
});

test('the bound is below the searched schedule, which costs no more than the run and takes no longer', async () => {
  for (const seed of [3, 9, 10, 19]) {
    const options = optionsFor(seed);
    const own = await simulateManta(options, plan);
    assert.equal(own.measures.unfinished, 0, `seed ${seed}`);
    const search = () => searchSchedule({ ...options, from: own, tries: 15, signal: new AbortController().signal });
    const offline = await search();
    const cost = offline.costUntil(own.measures.endedAt) as number;
    const bound = lowerBound(options.scenario, 1, own.measures.makespan) as number;
    assert.ok(bound > 0 && bound <= cost, `seed ${seed}: bound ${bound}, offline ${cost}`);
    assert.ok(cost < (own.measures.cost as number), `seed ${seed}: offline ${cost}, Manta ${own.measures.cost}`);
    assert.ok(offline.measures.makespan <= own.measures.makespan, `seed ${seed}`);
    assert.ok(isWithinLimits(offline.machines, options.scenario.spec), `seed ${seed}`);
    assert.equal((await search()).measures.cost, offline.measures.cost, 'the same search finds the same');
  }
});

test('machine hours without work are those of starting and of idling', async () => {
  const { measures, wasted } = await simulateManta(optionsFor(3), plan);
  const sum = wasted.starting + wasted.idle + wasted.unfit;
  const lost = measures.idleShare * measures.totalNodeHours;
  // A machine that is told to end is charged up to then, and its node leaves a moment before.
  assert.ok(Math.abs(sum - lost) < 0.02 * measures.totalNodeHours, `${sum} against ${lost}`);
});

test('a schedule that has more workers at once than the limits allow is not taken', () => {
  const { spec } = optionsFor(3).scenario;
  const type = spec.nodeTypes.find(({ name }) => name !== spec.headType)!;
  const machine = { type: type.name, zone: undefined, launchedAt: 0, joinedAt: 1, isPreempted: false, busy: [] };
  const many = (count: number, endedAt: number) => Array.from({ length: count }, () => ({ ...machine, endedAt }));
  assert.ok(isWithinLimits(many(type.maxWorkers, 10), spec));
  assert.ok(!isWithinLimits(many(type.maxWorkers + 1, 10), spec));
  const later = many(type.maxWorkers, 20).map((each) => ({ ...each, launchedAt: 10 }));
  assert.ok(isWithinLimits([...many(type.maxWorkers, 10), ...later], spec), 'one after another');
});
