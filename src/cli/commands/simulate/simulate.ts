import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { EventSink } from '../../../base/events.ts';
import { plan } from '../../../core/plan/plan-cluster.ts';
import { lowerBound } from '../../../simulation/bound.ts';
import { demoScenario } from '../../../simulation/demo.ts';
import { simulationErrors } from '../../../simulation/errors.ts';
import { simulationEvents } from '../../../simulation/events.ts';
import { faultProfiles } from '../../../simulation/faults.ts';
import { searchSchedule } from '../../../simulation/offline/search.ts';
import { findRayPython, RayProcess } from '../../../simulation/ray/ray-process.ts';
import { outcomePage } from '../../../simulation/report/html.ts';
import { outcomesMarkdown } from '../../../simulation/report/markdown.ts';
import { outcomeOf, type ScenarioOutcome } from '../../../simulation/report/outcome.ts';
import { outcomeText } from '../../../simulation/report/text.ts';
import { builtInScenario, loadWorkload, taskScenario } from '../../../simulation/scenario/load-workload.ts';
import type { Scenario } from '../../../simulation/scenario/scenario.ts';
import type { ScenarioFile } from '../../../simulation/scenario/scenario-file.ts';
import { type Simulation, type SimulationOptions, simulateManta, simulateRay } from '../../../simulation/simulate.ts';
import { publishedWorkloads } from '../../../simulation/workloads/published.ts';
import { randomWorkload, randomWorkloadSeed } from '../../../simulation/workloads/random.ts';
import type { Io, Run } from '../../command.ts';
import type { OptionValues } from '../../option-values.ts';
import { loadSpecFile } from '../../shared/load-file.ts';
import type { simulateOptions } from './declaration.ts';
import { LiveDrawing } from './live.ts';

type Options = OptionValues<typeof simulateOptions>;

export const run: Run<typeof simulateOptions> = async ({ args, options }, io) => {
  const others = comparedWith(options.compare);
  const { idle } = options;
  const scenarios = (await chooseScenarios(args, options, io)).map((scenario) =>
    idle === undefined ? scenario : { ...scenario, spec: { ...scenario.spec, idle } },
  );
  // The seed of a random workload is its own; each is run from the first seed on.
  const first = options.workloads === 'random' ? 1 : options.seed;
  const seeds = Array.from({ length: options.seeds }, (_, index) => first + index);
  const ray = others.has('ray') ? new RayProcess(findRayPython(io.env)) : undefined;
  const outcomes: ScenarioOutcome[] = [];
  try {
    for (const scenario of scenarios) {
      const outcome = await simulate(scenario, seeds, options, io, { ray, others });
      outcomes.push(outcome);
      if (io.json) io.out(`${JSON.stringify(outcomeData(outcome))}\n`);
      else if (!options.markdown) io.out(`${outcomes.length > 1 ? '\n' : ''}${outcomeText(outcome, io.columns)}`);
    }
  } finally {
    ray?.close();
  }
  if (options.markdown && !io.json) io.out(outcomesMarkdown(outcomes));
  if (options.html !== undefined) await writeFile(resolve(io.cwd, options.html), outcomePage(outcomes));
  return outcomes.some(({ sides: [own] }) => (own?.unfinished ?? 0) > 0) ? 1 : 0;
};

async function chooseScenarios(args: readonly string[], options: Options, io: Io): Promise<readonly Scenario[]> {
  if (options.demo) return [builtInScenario(demoScenario)];
  if (options.workloads === 'published') return publishedWorkloads.map(builtInScenario);
  if (options.workloads === 'random')
    return Array.from({ length: options.count }, (_, at) => builtInScenario(randomWorkload(options.seed + at)));
  const [cluster] = args;
  const spec = cluster === undefined ? undefined : await loadSpecFile(cluster, io);
  const { workload } = options;
  if (workload !== undefined) {
    const path = resolve(io.cwd, workload);
    const known = knownWorkload(workload);
    if (known !== undefined && !existsSync(path)) {
      const scenario = builtInScenario(known);
      return [
        spec === undefined
          ? scenario
          : { ...scenario, spec, cloud: { ...scenario.cloud, capacity: [], preemption: [] } },
      ];
    }
    if (!existsSync(path) && !/[./\\]/.test(workload)) {
      throw simulationErrors.UnknownWorkload({
        name: workload,
        known: publishedWorkloads.map((each) => each.name ?? ''),
      });
    }
    return [await loadWorkload(path, workload, spec)];
  }
  if (spec === undefined) throw simulationErrors.NoCluster({});
  return [taskScenario(spec, options)];
}

const comparisons = ['ray', 'bound', 'offline'] as const;
type Comparison = (typeof comparisons)[number];

function comparedWith(text: string | undefined): ReadonlySet<Comparison> {
  const words = text === undefined ? [] : text.split(',').map((word) => word.trim());
  const wrong = words.find((word) => !(comparisons as readonly string[]).includes(word));
  if (wrong === undefined) return new Set(words as Comparison[]);
  throw simulationErrors.BadOption({
    option: 'compare',
    what: `'${wrong}' is not known`,
    hint: `give one or more of ${comparisons.join(', ')}, comma-separated`,
  });
}

/** A published workload, or a random one by its name. */
function knownWorkload(name: string): ScenarioFile | undefined {
  const seed = randomWorkloadSeed(name);
  return seed === undefined ? publishedWorkloads.find((each) => each.name === name) : randomWorkload(seed);
}

async function simulate(
  scenario: Scenario,
  seeds: readonly number[],
  options: Options,
  io: Io,
  { ray, others }: { readonly ray: RayProcess | undefined; readonly others: ReadonlySet<Comparison> },
): Promise<ScenarioOutcome> {
  const faults = options.faults;
  const deciders = ['manta', ...(ray === undefined ? [] : ['ray']), ...(others.has('offline') ? ['offline'] : [])];
  const total = seeds.length * deciders.length;
  const runs: Simulation[][] = [];
  const bounds: (number | undefined)[] = [];
  let done = 0;
  for (const seed of seeds) {
    const tell = (decider: string): void => {
      io.signal.throwIfAborted();
      if (total > 1)
        io.events.emit(simulationEvents.run, { scenario: scenario.name, decider, seed, done: ++done, total });
    };
    const common = { scenario, seed, rates: faultProfiles[faults], sampleEvery: sampleEvery(options) };
    tell('manta');
    const own = await runManta(common, options, io);
    const [broken] = own.violations;
    if (broken !== undefined) throw simulationErrors.Unsafe({ ...broken, replay: replay(scenario, seed, faults) });
    const sides = [own];
    if (ray !== undefined) {
      tell('ray');
      sides.push(await simulateRay(common, (request) => ray.plan(request)));
    }
    if (others.has('offline')) {
      tell('offline');
      sides.push(await searchSchedule({ ...common, from: own, tries: options.tries, signal: io.signal }));
    }
    if (others.has('bound')) bounds.push(lowerBound(scenario, seed, own.measures.makespan));
    runs.push(sides);
  }
  return { ...outcomeOf(scenario, faults, seeds, runs), ...(others.has('bound') && { bound: meanOf(bounds) }) };
}

const meanOf = (values: readonly (number | undefined)[]): number | undefined => {
  const known = values.filter((value) => value !== undefined);
  return known.length < values.length ? undefined : known.reduce((sum, value) => sum + value, 0) / known.length;
};

async function runManta(common: SimulationOptions, options: Options, io: Io): Promise<Simulation> {
  const wanted = options.live || options.demo;
  if (!wanted || !io.terminal || io.json) return simulateManta(common, plan);
  const drawing = new LiveDrawing(common.scenario, io);
  const events: EventSink = { emit: (kind, data) => drawing.happened(kind.text(data), kind.level) };
  const simulation = await simulateManta({ ...common, events, onSample: (sample) => drawing.show(sample) }, plan);
  drawing.end();
  return simulation;
}

const sampleEvery = (options: Options): number => (options.demo || options.live ? 10_000 : 5_000);

const replay = (scenario: Scenario, seed: number, faults: string): string =>
  `manta simulate --workload ${scenario.name} --faults ${faults} --seed ${seed}`;

/** Without the samples, which are for drawings. */
function outcomeData({ scenario, seeds, faults, bound, sides }: ScenarioOutcome): object {
  return {
    workload: scenario.name,
    seeds,
    faults,
    ...(bound !== undefined && { bound }),
    sides: sides.map(({ samples: _, ...figures }) => figures),
  };
}
