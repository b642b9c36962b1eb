import type { Duration } from '../../base/time/clock.ts';
import type { Unserved } from '../../core/plan/words.ts';
import { amountOf } from '../../core/resources.ts';
import type { RunSample } from '../meter.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { Simulation } from '../simulate.ts';
import type { Wasted } from '../trace.ts';
import { ratio } from './amounts.ts';

/** One scenario, simulated with one or two deciders over one or more seeds: the means of all of them. */
export interface ScenarioOutcome {
  readonly scenario: Scenario;
  readonly seeds: readonly number[];
  readonly faults: string;
  readonly sides: readonly Side[];
  /** What any schedule as fast as the first side must cost, where that was asked for and prices are known. */
  readonly bound?: number | undefined;
}

export interface Side {
  readonly decider: string;
  readonly makespan: Duration;
  readonly waitP50: Duration;
  readonly waitP95: Duration;
  readonly waitMax: Duration;
  readonly cost: number | undefined;
  readonly nodeHours: Readonly<Record<string, number>>;
  readonly totalNodeHours: number;
  readonly launches: number;
  readonly terminations: number;
  readonly preemptions: number;
  readonly restarts: number;
  readonly neverUsed: number;
  readonly idleShare: number;
  readonly wasted: Wasted;
  readonly peakNodes: number;
  readonly finished: number;
  readonly unfinished: number;
  /** Why work was left, of the first seed that left some. */
  readonly unserved: readonly Unserved[];
  readonly passes: number;
  readonly faultsFired: number;
  readonly brokenRules: number;
  /** Of the first seed. */
  readonly samples: readonly RunSample[];
}

/** `runs[i]` holds the simulations of seed `i`, one for each decider. All are charged up to the end of the longest. */
export function outcomeOf(
  scenario: Scenario,
  faults: string,
  seeds: readonly number[],
  runs: readonly (readonly Simulation[])[],
): ScenarioOutcome {
  const deciders = runs[0]?.length ?? 0;
  return {
    scenario,
    seeds,
    faults,
    sides: Array.from({ length: deciders }, (_, side) => sideOf(runs, side)),
  };
}

function sideOf(runs: readonly (readonly Simulation[])[], side: number): Side {
  const own = runs.map((run) => run[side] as Simulation);
  const mean = (pick: (simulation: Simulation) => number): number =>
    own.reduce((sum, simulation) => sum + pick(simulation), 0) / Math.max(1, own.length);
  const costs = runs.map((run) => run[side]?.costUntil(Math.max(...run.map((each) => each.measures.endedAt))));
  const priced = costs.filter((cost) => cost !== undefined);
  const types = new Set(own.flatMap((simulation) => Object.keys(simulation.measures.nodeHours)));
  return {
    decider: own[0]?.decider ?? '',
    makespan: mean(({ measures }) => measures.makespan),
    waitP50: mean(({ measures }) => measures.wait.p50),
    waitP95: mean(({ measures }) => measures.wait.p95),
    waitMax: mean(({ measures }) => measures.wait.max),
    cost:
      priced.length < costs.length
        ? undefined
        : priced.reduce((sum, cost) => sum + cost, 0) / Math.max(1, priced.length),
    nodeHours: Object.fromEntries(
      [...types].sort().map((type) => [type, mean(({ measures }) => amountOf(measures.nodeHours, type))]),
    ),
    totalNodeHours: mean(({ measures }) => measures.totalNodeHours),
    launches: mean(({ measures }) => measures.launches),
    terminations: mean(({ measures }) => measures.terminations),
    preemptions: mean(({ measures }) => measures.preemptions),
    restarts: mean(({ measures }) => measures.restarts),
    neverUsed: mean(({ measures }) => measures.neverUsed),
    idleShare: mean(({ measures }) => measures.idleShare),
    wasted: {
      starting: mean(({ wasted }) => wasted.starting),
      idle: mean(({ wasted }) => wasted.idle),
      unfit: mean(({ wasted }) => wasted.unfit),
    },
    peakNodes: mean(({ measures }) => measures.peakNodes),
    finished: mean(({ measures }) => measures.finished),
    unfinished: mean(({ measures }) => measures.unfinished),
    unserved: own.find(({ measures }) => measures.unfinished > 0)?.unserved ?? [],
    passes: mean(({ passes }) => passes),
    faultsFired: mean(({ faults: fired }) => Object.values(fired).reduce((sum, count) => sum + count, 0)),
    brokenRules: own.reduce((sum, simulation) => sum + simulation.violations.length, 0),
    samples: own[0]?.samples ?? [],
  };
}

/** First side against second. */
export function ratiosOf(outcome: ScenarioOutcome): { readonly cost?: number; readonly makespan: number } | undefined {
  const [own, other] = outcome.sides;
  if (own === undefined || other === undefined) return undefined;
  return {
    makespan: ratio(own.makespan, other.makespan),
    ...(own.cost === undefined || other.cost === undefined ? {} : { cost: ratio(own.cost, other.cost) }),
  };
}
