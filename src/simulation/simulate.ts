import type { Planner } from '../autoscaler/loop.ts';
import type { EventSink } from '../base/events.ts';
import type { Duration } from '../base/time/clock.ts';
import type { Plan } from '../core/plan/plan.ts';
import { infeasibleReasons, type Unserved, waitingReasons } from '../core/plan/words.ts';
import type { Decider } from './decider.ts';
import type { FaultName, FaultRates } from './faults.ts';
import { Judge, type Violation } from './judge.ts';
import { MantaDecider } from './manta-decider.ts';
import { type Measures, RunMeter, type RunSample } from './meter.ts';
import type { Schedule } from './offline/schedule.ts';
import { ScheduleDecider } from './offline/schedule-decider.ts';
import { RayDecider } from './ray/ray-decider.ts';
import type { RayReply } from './ray/ray-process.ts';
import type { Scenario } from './scenario/scenario.ts';
import { type MachineTrace, Tracer, type Wasted } from './trace.ts';
import { World, worldStart } from './world.ts';

const hour = 3_600_000;
/** Nothing runs and nothing is wanted for longer than any back-off lasts: what is left can never run. */
const hopeless: Duration = 1_200_000;

export interface SimulationOptions {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly rates: FaultRates;
  /** Between two samples for the drawing. */
  readonly sampleEvery: Duration;
  readonly onSample?: (sample: RunSample) => void | Promise<void>;
  readonly events?: EventSink;
  /** The longest a run may take, in its own time. @default 48 h */
  readonly limit?: Duration;
}

export interface Simulation {
  readonly decider: string;
  readonly measures: Measures;
  readonly samples: readonly RunSample[];
  readonly passes: number;
  readonly faults: Readonly<Partial<Record<FaultName, number>>>;
  /** The run came to rest: all work done, everything idle ended. */
  readonly finished: boolean;
  readonly violations: readonly Violation[];
  /** What the last pass had no place for, and why; empty for a decider that gives no reasons. */
  readonly unserved: readonly Unserved[];
  /** Cost up to an instant of the run; machines that are still there keep costing money. */
  readonly costUntil: (elapsed: Duration) => number | undefined;
  /** What each worker did, in the order of their launch. */
  readonly machines: readonly MachineTrace[];
  readonly wasted: Wasted;
}

/** Runs a scenario with Manta's own loop and planner. */
export function simulateManta(options: SimulationOptions, planner: Planner): Promise<Simulation> {
  const judge = new Judge();
  let last: Plan | undefined;
  const unserved = (): readonly Unserved[] => (last === undefined ? [] : unservedIn(last));
  return run(options, { judge, unserved }, (world) => {
    judge.world = world;
    return new MantaDecider(world, {
      planner,
      ...(options.events === undefined ? {} : { events: options.events }),
      slowJournal: options.rates.crashEvery > 0,
      onPass: (view, plan) => {
        last = plan;
        judge.passed(view, plan);
      },
      onAnswer: (side, complete) => judge.answered(side, complete),
      onFacts: (facts) => judge.wrote(facts),
    });
  });
}

/** Runs the same scenario with Ray's planner and a model of its reconciler. */
export function simulateRay(
  options: SimulationOptions,
  plan: (request: object) => Promise<RayReply | undefined>,
): Promise<Simulation> {
  return run(options, {}, (world) => new RayDecider(world, plan));
}

/** Runs the same scenario with machines that come and go as a schedule says. */
export function simulateSchedule(options: SimulationOptions, schedule: Schedule): Promise<Simulation> {
  return run(options, {}, (world) => new ScheduleDecider(world, schedule));
}

const unservedIn = ({ at, infeasible, waiting }: Plan): readonly Unserved[] => [
  ...infeasible.map((each) => infeasibleReasons(each, at)),
  ...waiting.map((each) => waitingReasons(each, at)),
];

async function run(
  options: SimulationOptions,
  { judge, unserved }: { readonly judge?: Judge; readonly unserved?: () => readonly Unserved[] },
  decide: (world: World) => Decider,
): Promise<Simulation> {
  const { scenario, seed, rates } = options;
  const limit = options.limit ?? 48 * hour;
  const meter = new RunMeter();
  const tracer = new Tracer();
  const watchers = judge === undefined ? [meter, tracer] : [meter, tracer, judge];
  const world = new World({ scenario, seed, rates, faultsUntil: limit, watchers });
  meter.world = world;
  tracer.world = world;
  const decider = decide(world);
  world.onChange = () => decider.wake();
  world.onCrash = () => decider.crash();
  meter.sampleEvery(options.sampleEvery, (sample) => {
    const shown = options.onSample?.(sample);
    if (shown !== undefined) {
      world.time.settled();
      void world.time.hold(shown);
    }
  });
  decider.start();
  const rested = (): boolean =>
    world.workDone && decider.contentSince !== undefined && restingSince(decider, world) >= 30_000 && atFloor(world);
  // Where work ran for long without a decision, what is idle since has its time-out before it.
  const sinceWork = (): Duration => world.time.now - (world.engine.finishedAt ?? worldStart);
  const stuck = (): boolean =>
    world.sinceSubmissions >= hopeless &&
    restingSince(decider, world) >= hopeless &&
    sinceWork() >= hopeless &&
    !world.engine.atWork;
  await world.time.run(worldStart + limit, () => rested() || stuck());
  const finished = rested();
  const ended = meter.measures();
  const left = unserved?.() ?? [];
  await stop(world, decider);
  return {
    decider: decider.name,
    measures: ended,
    samples: meter.samples,
    passes: decider.passes,
    faults: Object.fromEntries(world.faults.fired),
    finished,
    violations: judge?.violations ?? [],
    unserved: left,
    machines: tracer.machines(),
    wasted: tracer.wasted(),
    costUntil: (elapsed) => meter.costUntil(worldStart + elapsed),
  };
}

const restingSince = (decider: Decider, world: World): Duration =>
  world.time.now - (decider.contentSince ?? world.time.now);

function atFloor(world: World): boolean {
  let workers = 0;
  for (const _ of world.workers()) workers++;
  const floor = world.scenario.spec.nodeTypes.reduce((sum, type) => sum + type.minWorkers, 0);
  return workers <= floor;
}

async function stop(world: World, decider: Decider): Promise<void> {
  let stopped = false;
  void decider.stop().then(() => (stopped = true));
  await world.time.run(world.time.now + hour, () => stopped);
}
