import { amountOf } from '../../core/resources.ts';
import { type Random, seededRandom } from '../random.ts';
import type { CloudFile, ScenarioFile, StandingFile, TypeFile, WorkFile } from '../scenario/scenario-file.ts';
import { cluster, type MachineName, machines, onDemand, spot } from './catalog.ts';

/** Names of random workloads: `random-17` is that of seed 17. */
const namePattern = /^random-(\d{1,10})$/;

export const randomWorkloadName = (seed: number): string => `random-${seed}`;

/** The seed in the name of a random workload; undefined for any other name. */
export function randomWorkloadSeed(name: string): number | undefined {
  const [, seed] = namePattern.exec(name) ?? [];
  return seed === undefined ? undefined : Number(seed);
}

/**
 * A whole workload drawn from a seed: machine types, prices, markets, capacity, and work of every kind. All of its work can
 * run: each request fits a type, each gang fits the limits, and no shortage of machines lasts forever.
 */
export function randomWorkload(seed: number): ScenarioFile {
  const random = seededRandom(seed, 'workload');
  const types = randomTypes(random.split('types'));
  const names = Object.keys(types);
  const maxWorkers = Math.max(...Object.values(types).map((type) => type.max ?? 0)) + random.below(30);
  const work = randomWork(types, random.split('work'));
  return {
    name: randomWorkloadName(seed),
    summary: `${names.length} ${names.length === 1 ? 'type' : 'types'}, ${work.map(kindOf).join(' and ')}, from seed ${seed}`,
    cluster: {
      ...cluster(maxWorkers, types),
      idleTimeout: random.pick(['1m', '2m', '5m', '5m', '5m', '10m']),
      upscalingSpeed: random.pick([1, 1, 1, 2, 10]),
    },
    cloud: randomCloud(types, random.split('cloud')),
    work,
  };
}

const kindOf = (work: WorkFile): string =>
  (['tasks', 'actors', 'gangs', 'standing'] as const).find((kind) => kind in work) as string;

type Types = Readonly<Record<string, TypeFile>>;

const cpuMachines: readonly [MachineName, ...MachineName[]] = [
  'm5.xlarge',
  'm5.2xlarge',
  'm5.4xlarge',
  'c5.2xlarge',
  'c5.4xlarge',
  'c5.9xlarge',
  'r5.2xlarge',
  'r5.4xlarge',
];
const gpuMachines: readonly [MachineName, ...MachineName[]] = ['g4dn.xlarge', 'g5.xlarge', 'g5.12xlarge', 'p3.8xlarge'];

/** One to five types; some on spot, some both ways, some with a floor. */
function randomTypes(random: Random): Types {
  const types = new Map<string, TypeFile>();
  const add = (name: MachineName): void => {
    const max = 4 + random.below(machines[name].price !== undefined && machines[name].price > 2 ? 8 : 30);
    const floor = random.chance(0.1) ? { min: 1 + random.below(2) } : {};
    const zones = ['a', 'b', 'c'].slice(0, 1 + random.below(3));
    const market = random.pick(['on-demand', 'on-demand', 'on-demand', 'spot', 'both']);
    if (market !== 'spot') types.set(name, onDemand(name, { max, zones, ...floor }));
    if (market !== 'on-demand') types.set(`${name}-spot`, spot(name, { max, zones }));
  };
  const count = 1 + random.below(4);
  for (let index = 0; index < count; index++) add(random.pick(cpuMachines));
  if (random.chance(0.3)) add(random.pick(gpuMachines));
  if (random.chance(0.1)) add(random.pick(gpuMachines));
  return Object.fromEntries(types);
}

const minutes = (value: number): string => `${Math.round(value * 60)}s`;

function randomCloud(types: Types, random: Random): CloudFile {
  const [boot, setup] = [random.logNormal(40, 110), random.logNormal(40, 240)];
  const named = Object.keys(types) as [string, ...string[]];
  const capacity = Array.from({ length: random.chance(0.3) ? 1 + random.below(2) : 0 }, () => {
    const from = random.chance(0.5) ? 0 : random.between(0, 20);
    return {
      type: random.pick(named),
      limit: random.below(6),
      from: minutes(from),
      until: minutes(from + random.between(3, 15)),
    };
  });
  const isSpot = Object.values(types).some(({ market }) => market === 'spot');
  const notice = random.pick([undefined, '30s', '2m', '2m']);
  return {
    boot: { median: `${Math.round(boot)}s`, p95: `${Math.round(boot * random.between(1.2, 2.5))}s` },
    setup: { median: `${Math.round(setup)}s`, p95: `${Math.round(setup * random.between(1.2, 3))}s` },
    latency: { min: '500ms', max: '3s' },
    capacity,
    ...(isSpot && random.chance(0.7)
      ? {
          preemption: [
            {
              market: 'spot' as const,
              every: minutes(random.between(30, 360)),
              ...(notice !== undefined && { notice }),
            },
          ],
        }
      : {}),
  };
}

function randomWork(types: Types, random: Random): readonly WorkFile[] {
  const kinds = Array.from({ length: 1 + random.below(4) }, () =>
    random.pick(['tasks', 'tasks', 'tasks', 'tasks', 'actors', 'gangs', 'standing'] as const),
  );
  // Standing requests alone are no work.
  const all = kinds.every((kind) => kind === 'standing') ? ([...kinds, 'tasks'] as const) : kinds;
  return all.map((kind) => {
    const type = random.pick(Object.values(types) as [TypeFile, ...TypeFile[]]);
    switch (kind) {
      case 'standing':
        return randomStanding(type, random);
      case 'gangs':
        return randomGangs(type, random);
      default:
        return randomTasks(kind, type, random);
    }
  });
}

/** A part of what a machine of the type offers: whole CPUs mostly, memory now and then, GPUs where it has some. */
function randomNeeds(type: TypeFile, random: Random): Readonly<Record<string, number>> {
  const { CPU: cpus = 1, GPU: gpus = 0, memory = 0 } = type.resources;
  const needs: Record<string, number> = {
    CPU: Math.min(cpus, random.pick([0.5, 1, 1, 1, 1, 2, 2, 4, 8])),
  };
  if (gpus > 0 && random.chance(0.8)) {
    needs['GPU'] = Math.min(gpus, random.pick([0.5, 1, 1, 1, 2, 4]));
    // A GPU's share of the CPUs stays with it.
    needs['CPU'] = Math.min(needs['CPU'] as number, (cpus / gpus) * Math.max(1, needs['GPU']));
  }
  if (random.chance(0.2))
    needs['memory'] = Math.floor((memory / cpus) * (needs['CPU'] as number) * random.between(0.5, 2));
  if ((needs['memory'] ?? 0) > memory) needs['memory'] = memory;
  return needs;
}

interface Drawn {
  readonly duration: { readonly median: string; readonly p95: string };
  /** In seconds. */
  readonly median: number;
}

/** Around `usual` seconds, within a factor of fifteen; some with a long tail. */
function randomDuration(random: Random, usual: number): Drawn {
  const drawn = random.logNormal(usual, usual * 8);
  const median = Math.round(Math.min(usual * 15, Math.max(usual / 15, drawn)));
  return { median, duration: { median: `${median}s`, p95: `${Math.round(median * random.between(1.1, 4)) + 1}s` } };
}

function randomArrival(
  random: Random,
): Partial<Pick<Extract<WorkFile, { tasks: number }>, 'at' | 'over' | 'shape' | 'repeat'>> {
  return {
    at: minutes(random.chance(0.5) ? 0 : random.between(0, 25)),
    ...(random.chance(0.7) && {
      over: minutes(random.between(2, 90)),
      shape: random.pick(['even', 'even', 'ramp', 'wave']),
    }),
    ...(random.chance(0.3) && { repeat: { every: minutes(random.between(8, 60)), times: 2 + random.below(4) } }),
  };
}

function randomTasks(kind: 'tasks' | 'actors', type: TypeFile, random: Random): WorkFile {
  const needs = randomNeeds(type, random);
  const arrival = randomArrival(random);
  const { duration, median } = randomDuration(random, kind === 'tasks' ? 60 : 300);
  const most = Math.min(kind === 'tasks' ? 500 : 60, countWithin(needs, median)) / (arrival.repeat?.times ?? 1);
  const count = Math.max(2, Math.round(random.between(0.05, 1) * most));
  const item = { needs, duration, ...arrival };
  return kind === 'tasks' ? { tasks: count, ...item } : { actors: count, ...item };
}

/** How many fit into the work of a few dozen machines for an hour, so that no run takes days. */
const countWithin = ({ CPU: cpus = 1, GPU: gpus = 0 }: Readonly<Record<string, number>>, seconds: number): number =>
  (200 * 3_600) / seconds / Math.max(1, cpus, 8 * gpus);

function randomGangs(type: TypeFile, random: Random): WorkFile {
  const needs = randomNeeds(type, random);
  const strategy = random.pick(['PACK', 'PACK', 'SPREAD', 'STRICT_PACK', 'STRICT_SPREAD'] as const);
  const perNode = Math.max(
    1,
    ...Array.from({ length: 8 }, (_, at) => at + 1).filter((count) => holds(type, needs, count)),
  );
  const widest = strategy === 'STRICT_PACK' ? perNode : Math.min(8, type.max ?? 1);
  const bundles = Array.from({ length: 1 + random.below(widest) }, () => needs);
  const { duration, median } = randomDuration(random, 240);
  const arrival = randomArrival(random);
  const most = Math.min(12, countWithin(needs, median) / bundles.length) / (arrival.repeat?.times ?? 1);
  const gangs = Math.max(1, Math.round(random.between(0.1, 1) * most));
  return { gangs, bundles, strategy, duration, ...arrival };
}

const holds = (type: TypeFile, needs: Readonly<Record<string, number>>, count: number): boolean =>
  Object.entries(needs).every(([name, amount]) => amount * count <= amountOf(type.resources, name));

function randomStanding(type: TypeFile, random: Random): StandingFile {
  const at = random.between(0, 15);
  const needs = { CPU: random.pick([1, 1, 2]) };
  const most = ((type.resources['CPU'] ?? 1) * (type.max ?? 1)) / needs.CPU / 2;
  return {
    standing: [{ needs, count: Math.max(1, Math.round(random.between(0.1, 1) * Math.min(64, most))) }],
    at: minutes(at),
    until: minutes(at + random.between(10, 60)),
  };
}
