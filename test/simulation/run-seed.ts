import type { Checks } from '../../src/autoscaler/check.ts';
import type { Planner } from '../../src/autoscaler/loop.ts';
import type { LoopSettings } from '../../src/autoscaler/settings.ts';
import { loopSettings } from '../../src/autoscaler/settings.ts';
import { clearInstances } from '../../src/autoscaler/teardown.ts';
import { silent } from '../../src/base/events.ts';
import { clearMachines } from '../../src/head/turn-off/clear.ts';
import { type FaultName, faultProfiles } from '../../src/simulation/faults.ts';
import { Judge, type Violation } from '../../src/simulation/judge.ts';
import { MantaDecider, type MantaDeciderOptions } from '../../src/simulation/manta-decider.ts';
import { seededRandom } from '../../src/simulation/random.ts';
import { World, worldStart } from '../../src/simulation/world.ts';
import { randomScenario } from './generate.ts';

const minute = 60_000;

export type FaultProfile = keyof typeof faultProfiles;
export const faultProfileNames = Object.keys(faultProfiles) as FaultProfile[];

export interface SeedOptions {
  readonly seed: number;
  readonly profile: FaultProfile;
  readonly planner: Planner;
  readonly checks?: Checks;
  readonly tamper?: MantaDeciderOptions['tamper'];
}

export interface SeedResult {
  readonly seed: number;
  readonly profile: FaultProfile;
  readonly passes: number;
  readonly faults: number;
  readonly fired: Readonly<Partial<Record<FaultName, number>>>;
  /** Equal for equal runs. */
  readonly trace: number;
  readonly virtualTime: number;
  readonly violations: readonly Violation[];
}

const faultsUntil = 18 * minute;
/** Share of the runs in which the cluster is ended in the middle of everything: launches under way, answers lost. */
const endedEarly = 0.1;
/** Every back-off, timeout and clock error of the settings below has passed after this. */
const patience = 60 * minute;

const settings: Partial<LoopSettings> = {
  timeouts: { ...loopSettings.timeouts, allocated: 4 * minute, settingUp: 4 * minute },
};

/** One random world under one profile of faults, with every rule watched to the end. */
export async function runSeed(options: SeedOptions): Promise<SeedResult> {
  const { seed, profile } = options;
  const scenario = randomScenario(seededRandom(seed, `scenario/${profile}`));
  const judge = new Judge();
  const rates = faultProfiles[profile];
  const world = new World({ scenario, seed, rates, faultsUntil, watchers: [judge] });
  judge.world = world;
  const decider = new MantaDecider(world, {
    planner: options.planner,
    ...(options.checks === undefined ? {} : { checks: options.checks }),
    ...(options.tamper === undefined ? {} : { tamper: options.tamper }),
    settings,
    slowJournal: rates.crashEvery > 0,
    onPass: (view, plan) => judge.passed(view, plan),
    onAnswer: (side, complete) => judge.answered(side, complete),
    onFacts: (facts) => judge.wrote(facts),
  });
  world.onChange = () => decider.wake();
  world.onCrash = () => decider.crash();
  decider.start();

  const cut = seededRandom(seed, `end/${profile}`);
  if (cut.chance(endedEarly)) {
    // Often among the first launches, sometimes late.
    const after = cut.exponential(cut.pick([10_000, 2 * minute, 8 * minute]));
    await world.time.run(worldStart + faultsUntil, () => [...world.workers()].length > 0);
    await world.time.run(world.time.now + after, () => judge.violations.length > 0);
  } else await settle(world, decider, judge);
  await end(world, decider, judge, options);
  const fired = Object.fromEntries(world.faults.fired);
  return {
    seed,
    profile,
    passes: decider.passes,
    faults: Object.values(fired).reduce((sum, count) => sum + count, 0),
    fired,
    trace: judge.trace,
    virtualTime: world.elapsed,
    violations: judge.violations,
  };
}

/** Lets all work end and the cluster come to rest. */
async function settle(world: World, decider: MantaDecider, judge: Judge): Promise<void> {
  const broken = (): boolean => judge.violations.length > 0;
  const calm = worldStart + faultsUntil;
  await world.time.run(calm + patience, () => broken() || (world.workDone && world.time.now >= calm));
  if (!broken() && !world.workDone) judge.blame('progress', `${world.engine.unfinished} never finished`);
  const done = world.time.now;
  const settled = (): boolean =>
    decider.contentSince !== undefined && world.time.now - decider.contentSince >= 2 * minute && atFloor(world);
  if (broken()) return;
  await world.time.run(done + patience, () => broken() || settled());
  if (!broken() && !settled())
    judge.blame('convergence', `after ${patience / minute} minutes: ${describe(world, decider)}`);
}

/** The cluster turns itself off, as in production, and what is left is looked for. */
async function end(world: World, decider: MantaDecider, judge: Judge, options: SeedOptions): Promise<void> {
  judge.ending = true;
  const began = world.time.now;
  let over = false;
  const { clock, cloud, engine } = world;
  const { provider } = options.tamper?.({ provider: cloud, engine }) ?? { provider: cloud };
  const ground = {
    turnOff: (signal: AbortSignal) => clearInstances(provider, { clock, settles: loopSettings.listLag }, signal),
    leave: async () => {},
  };
  void decider
    .stop()
    .then(() => clearMachines(ground, { clock, events: silent, since: clock.now() }))
    .then(({ left }) => (over = left.length === 0));
  await world.time.run(world.time.now + 60 * minute, () => over);
  // One that somebody else puts there while the cluster ends is nobody's leak.
  const left = [...world.workers(), ...world.stoppedWorkers()].filter(
    ({ token, createdAt }) => !token.startsWith('stray') || createdAt < began,
  );
  if (left.length > 0) judge.blame('leak', `${left.map((machine) => machine.id).join(', ')} still there after the end`);
  else if (!over) judge.blame('leak', 'the end of the cluster never came');
}

/** No more and no fewer workers than each type's floor. */
function atFloor(world: World): boolean {
  const counts = new Map<string, number>();
  for (const machine of world.workers()) counts.set(machine.type, (counts.get(machine.type) ?? 0) + 1);
  return world.scenario.spec.nodeTypes.every((type) => (counts.get(type.name) ?? 0) === type.minWorkers);
}

function describe(world: World, decider: MantaDecider): string {
  const workers = [...world.workers()].map((machine) => `${machine.id} ${machine.type}`);
  return `${workers.join(', ') || 'no workers'}; the plan is ${decider.contentSince === undefined ? 'not empty' : 'empty'}`;
}
