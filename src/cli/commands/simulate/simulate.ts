import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { EventSink } from '../../../base/events.ts';
import { plan } from '../../../core/plan/plan-cluster.ts';
import { demoScenario } from '../../../simulation/demo.ts';
import { simulationErrors } from '../../../simulation/errors.ts';
import { simulationEvents } from '../../../simulation/events.ts';
import { faultProfiles } from '../../../simulation/faults.ts';
import { findRayPython, RayProcess } from '../../../simulation/ray/ray-process.ts';
import { outcomePage } from '../../../simulation/report/html.ts';
import { outcomesMarkdown } from '../../../simulation/report/markdown.ts';
import { outcomeOf, type ScenarioOutcome } from '../../../simulation/report/outcome.ts';
import { outcomeText } from '../../../simulation/report/text.ts';
import { builtInScenario, loadWorkload, taskScenario } from '../../../simulation/scenario/load-workload.ts';
import type { Scenario } from '../../../simulation/scenario/scenario.ts';
import { type Simulation, type SimulationOptions, simulateManta, simulateRay } from '../../../simulation/simulate.ts';
import { publishedWorkloads } from '../../../simulation/workloads/published.ts';
import type { Io, Run } from '../../command.ts';
import type { OptionValues } from '../../option-values.ts';
import { loadSpecFile } from '../../shared/load-file.ts';
import type { simulateOptions } from './declaration.ts';
import { LiveDrawing } from './live.ts';

type Options = OptionValues<typeof simulateOptions>;

export const run: Run<typeof simulateOptions> = async ({ args, options }, io) => {
  const scenarios = await chooseScenarios(args, options, io);
  const seeds = Array.from({ length: options.seeds }, (_, index) => options.seed + index);
  const ray = options.compare === 'ray' ? new RayProcess(findRayPython(io.env)) : undefined;
  const outcomes: ScenarioOutcome[] = [];
  try {
    for (const scenario of scenarios) {
      const outcome = await simulate(scenario, seeds, options, io, ray);
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
  const [cluster] = args;
  const spec = cluster === undefined ? undefined : await loadSpecFile(cluster, io);
  const { workload } = options;
  if (workload !== undefined) {
    const path = resolve(io.cwd, workload);
    const published = publishedWorkloads.find((each) => each.name === workload);
    if (published !== undefined && !existsSync(path)) {
      const scenario = builtInScenario(published);
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

async function simulate(
  scenario: Scenario,
  seeds: readonly number[],
  options: Options,
  io: Io,
  ray: RayProcess | undefined,
): Promise<ScenarioOutcome> {
  const faults = options.faults;
  const total = seeds.length * (ray === undefined ? 1 : 2);
  const runs: Simulation[][] = [];
  for (const seed of seeds) {
    io.signal.throwIfAborted();
    const common = { scenario, seed, rates: faultProfiles[faults], sampleEvery: sampleEvery(options) };
    const tell = (decider: string, done: number): void => {
      if (total > 1) io.events.emit(simulationEvents.run, { scenario: scenario.name, decider, seed, done, total });
    };
    tell('manta', runs.length * (total / seeds.length) + 1);
    const own = await runManta(common, options, io);
    const [broken] = own.violations;
    if (broken !== undefined) throw simulationErrors.Unsafe({ ...broken, replay: replay(scenario, seed, faults) });
    if (ray !== undefined) tell('ray', runs.length * 2 + 2);
    runs.push(ray === undefined ? [own] : [own, await simulateRay(common, (request) => ray.plan(request))]);
  }
  return outcomeOf(scenario, faults, seeds, runs);
}

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
function outcomeData({ scenario, seeds, faults, sides }: ScenarioOutcome): object {
  return {
    workload: scenario.name,
    seeds,
    faults,
    sides: sides.map(({ samples: _, ...figures }) => figures),
  };
}
