import type { ScalingSpec, ScalingType } from '../../src/core/scaling.ts';
import type { Random } from '../../src/simulation/random.ts';
import type { Scenario, Spread, WorkItem } from '../../src/simulation/scenario/scenario.ts';

const minute = 60_000;

/** A small cluster with a quarter of an hour of work that it can do: what the soak throws its faults at. */
export function randomScenario(random: Random): Scenario {
  const workers = Array.from({ length: 1 + random.below(3) }, (_, index) => randomType(random, index));
  const floor = workers.reduce((sum, type) => sum + type.minWorkers, 0);
  const spec: ScalingSpec = {
    maxWorkers: floor + 3 + random.below(12),
    idleTimeout: random.between(20_000, 60_000),
    upscalingSpeed: random.pick([1, 1, 0.5, 3]),
    nodeTypes: [{ ...plainType('head'), maxWorkers: 0, resources: random.chance(0.3) ? { CPU: 2 } : {} }, ...workers],
    headType: 'head',
    replaceOutdated: false,
    stopsIdle: random.split('stops').chance(0.3),
  };
  return {
    name: 'random',
    summary: '',
    spec,
    cloud: {
      boot: uniform(5_000, 25_000),
      setup: uniform(2_000, 12_000),
      latency: uniform(50, 800),
      capacity: random.chance(0.3)
        ? [
            {
              type: (workers[0] as ScalingType).name,
              limit: random.below(3),
              from: 0,
              until: random.between(2, 6) * minute,
            },
          ]
        : [],
      preemption: [],
    },
    work: Array.from({ length: 2 + random.below(3) }, () =>
      randomWork(random, workers, (spec.maxWorkers ?? 0) - floor),
    ),
  };
}

function randomType(random: Random, index: number): ScalingType {
  const cpus = random.pick([2, 4, 8]);
  const gpus = index > 0 && random.chance(0.3) ? random.pick([1, 2]) : 0;
  const minWorkers = random.chance(0.25) ? 1 : 0;
  const pricePerHour = cpus * 0.05 * random.between(0.7, 1.3) + gpus * 0.5;
  const zones = random.pick<readonly string[]>([['a'], ['a', 'b']]);
  const market = random.chance(0.3) ? 'spot' : 'on-demand';
  return {
    ...plainType(`type-${index}`),
    resources: { CPU: cpus, ...(gpus > 0 ? { GPU: gpus } : {}) },
    labels: { tier: random.pick(['x', 'y']) },
    minWorkers,
    maxWorkers: Math.max(minWorkers, 2 + random.below(6)),
    offers: zones.map((zone) => ({ zone, market, pricePerHour })),
  };
}

/** `room` is how many workers there may be beside the floors. */
function randomWork(random: Random, types: readonly ScalingType[], room: number): WorkItem {
  const type = types[random.below(types.length)] as ScalingType;
  const arrival = {
    at: random.between(0, 6) * minute,
    over: random.chance(0.4) ? 0 : random.between(1, 7) * minute,
    shape: 'even' as const,
    repeatEvery: 5 * minute,
    times: random.chance(0.3) ? 2 : 1,
  };
  const duration = uniform(2_000, random.between(10_000, 90_000));
  const cpus = 1 + random.below(Math.max(1, (type.resources['CPU'] ?? 1) / 2));
  const gpu = (type.resources['GPU'] ?? 0) > 0 && random.chance(0.7) ? { GPU: 1 } : {};
  const kind = random.next();
  if (kind < 0.2) {
    const most = Math.max(1, Math.min(4, type.maxWorkers, room));
    return {
      kind: 'gangs',
      count: 1 + random.below(3),
      bundles: Array.from({ length: 1 + random.below(most) }, () => ({ CPU: cpus, ...gpu })),
      strategy: random.pick(['PACK', 'SPREAD', 'STRICT_SPREAD'] as const),
      duration,
      arrival: { ...arrival, times: 1 },
    };
  }
  if (kind < 0.3) {
    const at = random.between(0, 4) * minute;
    return {
      kind: 'standing',
      requests: [{ resources: { CPU: 1, ...gpu }, count: 1 + random.below(4) }],
      at,
      until: at + random.between(1, 3) * minute,
    };
  }
  return {
    kind: kind < 0.4 ? 'actors' : 'tasks',
    count: kind < 0.4 ? 1 + random.below(4) : 3 + random.below(20),
    resources: { CPU: cpus, ...gpu },
    selectors: random.chance(0.15) ? [[{ label: 'tier', operator: 'in', values: [type.labels['tier'] ?? 'x'] }]] : [],
    duration,
    arrival,
  };
}

const plainType = (name: string): ScalingType => ({
  name,
  resources: {},
  labels: {},
  minWorkers: 0,
  maxWorkers: 0,
  priority: 0,
  launchHash: '',
  hostsPerSlice: 1,
  offers: [{ market: 'on-demand', pricePerHour: 0.1 }],
});

const uniform = (min: number, max: number): Spread => ({ kind: 'uniform', min, max });
