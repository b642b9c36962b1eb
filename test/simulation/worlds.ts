import { type FaultRates, faultProfiles } from '../../src/simulation/faults.ts';
import { readScenario } from '../../src/simulation/scenario/read-scenario.ts';
import type { Scenario } from '../../src/simulation/scenario/scenario.ts';
import type { ScenarioFile } from '../../src/simulation/scenario/scenario-file.ts';
import type { Watcher } from '../../src/simulation/watcher.ts';
import { World } from '../../src/simulation/world.ts';

export const smallCluster: ScenarioFile = {
  cluster: {
    maxWorkers: 6,
    idleTimeout: '1m',
    head: 'head',
    types: {
      head: { resources: {}, max: 0 },
      cpu: { resources: { CPU: 4 }, max: 4, price: 0.2, zones: ['a', 'b'] },
      gpu: { resources: { CPU: 4, GPU: 1 }, max: 2, price: 1, zones: ['a'] },
    },
  },
  cloud: { boot: '10s', setup: '5s', latency: '200ms' },
  work: [],
};

export function scenarioOf(file: ScenarioFile): Scenario {
  const result = readScenario(file);
  if ('problems' in result) throw new Error(JSON.stringify(result.problems));
  return result.scenario;
}

/** A world with nobody to decide in it. */
export function worldOf(
  change: Partial<ScenarioFile> = {},
  rates: Partial<FaultRates> = {},
  watchers: Watcher[] = [],
  seed = 1,
): World {
  return new World({
    scenario: scenarioOf({ ...smallCluster, ...change }),
    seed,
    rates: { ...faultProfiles.none, ...rates },
    faultsUntil: Number.POSITIVE_INFINITY,
    watchers,
  });
}

/** Lets time pass until a promise of the world is settled. */
export async function inTime<T>(world: World, promise: Promise<T>): Promise<T> {
  let settled = false;
  const done = (): void => void (settled = true);
  promise.then(done, done);
  await world.time.run(world.time.now + 3_600_000, () => settled);
  return promise;
}
