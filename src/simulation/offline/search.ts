import type { Duration } from '../../base/time/clock.ts';
import { never } from '../machine.ts';
import { type Random, seededRandom } from '../random.ts';
import type { Simulation, SimulationOptions } from '../simulate.ts';
import { simulateSchedule } from '../simulate.ts';
import type { MachineTrace } from '../trace.ts';
import type { PlannedMachine, Schedule } from './schedule.ts';

export interface SearchOptions extends SimulationOptions {
  /** The run to improve on: no schedule may take longer. */
  readonly from: Simulation;
  /** Schedules that are tried. */
  readonly tries: number;
  readonly signal: AbortSignal;
}

interface Candidate {
  readonly schedule: Schedule;
  readonly simulation: Simulation;
  readonly cost: number;
}

/**
 * A good schedule for a run whose whole future is known: starts from what a planner did, takes away what nobody used, and
 * goes on with random changes for as long as they save money without a longer makespan. Where prices are unknown, or nothing better
 * was found, it is the run itself.
 */
export async function searchSchedule(options: SearchOptions): Promise<Simulation> {
  const { from, scenario } = options;
  if (from.measures.cost === undefined) return { ...from, decider: 'offline' };
  const random = seededRandom(options.seed, 'search');
  const asRun = scheduleOf(from.machines, scenario.spec, (machine) => machine.endedAt);
  let best = await attempt(asRun, options);
  const consider = async (schedule: Schedule): Promise<void> => {
    const next = await attempt(schedule, options);
    if (next !== undefined && (best === undefined || next.cost < best.cost)) best = next;
  };
  await consider(scheduleOf(from.machines, scenario.spec, lastBusy));
  for (let tried = 0; tried < options.tries; tried++) {
    options.signal.throwIfAborted();
    const trimmed = best === undefined ? asRun : trim(best);
    await consider(change(trimmed, best?.simulation.machines ?? from.machines, options, random));
  }
  const limit = from.costUntil(from.measures.endedAt) ?? 0;
  return best === undefined || best.cost > limit ? { ...from, decider: 'offline' } : best.simulation;
}

async function attempt(schedule: Schedule, options: SearchOptions): Promise<Candidate | undefined> {
  const { from } = options;
  const simulation = await simulateSchedule({ ...options, limit: from.measures.endedAt }, schedule);
  const cost = simulation.costUntil(from.measures.endedAt);
  const isGood =
    isWithinLimits(simulation.machines, options.scenario.spec) &&
    simulation.measures.unfinished === 0 &&
    simulation.measures.makespan <= from.measures.makespan;
  return isGood && cost !== undefined && simulation.measures.finished === from.measures.finished
    ? { schedule, simulation, cost }
    : undefined;
}

/** A planner may not have more workers at once either, of a type or in all. */
export function isWithinLimits(machines: readonly MachineTrace[], spec: SearchOptions['scenario']['spec']): boolean {
  const most = (some: readonly MachineTrace[]): number =>
    Math.max(
      0,
      ...some.map(
        ({ launchedAt }) => some.filter((each) => each.launchedAt <= launchedAt && each.endedAt > launchedAt).length,
      ),
    );
  return (
    most(machines) <= (spec.maxWorkers ?? Number.POSITIVE_INFINITY) &&
    spec.nodeTypes.every(({ name, maxWorkers }) => most(machines.filter(({ type }) => type === name)) <= maxWorkers)
  );
}

const lastBusy = (machine: MachineTrace): Duration => machine.busy.at(-1)?.[1] ?? machine.launchedAt;

/** The machines of a run as a schedule. Those of a floor stay to the end. */
function scheduleOf(
  machines: readonly MachineTrace[],
  spec: SearchOptions['scenario']['spec'],
  endOf: (machine: MachineTrace) => Duration,
): Schedule {
  return machines.flatMap((machine): PlannedMachine[] => {
    const type = spec.nodeTypes.find(({ name }) => name === machine.type);
    const offer = Math.max(0, type?.offers.findIndex(({ zone }) => zone === machine.zone) ?? 0);
    const stays = machine.endedAt === never;
    const endAt = stays ? never : endOf(machine);
    if (endAt <= machine.launchedAt) return [];
    return [{ type: machine.type, offer, launchAt: machine.launchedAt, endAt }];
  });
}

/** Machines end when their last work does; those that had none are left out. */
function trim({ schedule, simulation }: Candidate): Schedule {
  const { machines } = simulation;
  if (machines.length !== schedule.length) return schedule;
  const order = schedule.toSorted((a, b) => a.launchAt - b.launchAt);
  return order.flatMap((planned, at) => {
    const machine = machines[at] as MachineTrace;
    if (planned.endAt === never) return [planned];
    return machine.busy.length === 0 ? [] : [{ ...planned, endAt: Math.min(planned.endAt, lastBusy(machine)) }];
  });
}

const changes = ['drop', 'drop two', 'shift', 'end', 'offer', 'retype', 'merge', 'split'] as const;

/** One random change. */
function change(
  schedule: Schedule,
  machines: readonly MachineTrace[],
  { scenario, from }: SearchOptions,
  random: Random,
): Schedule {
  const at = random.below(schedule.length);
  const planned = schedule[at];
  if (planned === undefined) return schedule;
  const others = schedule.filter((_, index) => index !== at);
  const types = scenario.spec.nodeTypes.filter(
    ({ name, maxWorkers }) => maxWorkers > 0 && name !== scenario.spec.headType,
  );
  const horizon = from.measures.endedAt;
  const shift = (): Duration => random.between(-1, 1) * random.pick([15_000, 60_000, 240_000, 900_000]);
  switch (planned.endAt === never ? 'shift' : random.pick(changes)) {
    case 'drop':
      return others;
    case 'drop two': {
      const other = random.below(others.length);
      return others.filter(({ endAt }, index) => index !== other || endAt === never);
    }
    case 'shift':
      return [...others, { ...planned, launchAt: Math.max(0, planned.launchAt + shift()) }].filter(isReal);
    case 'end':
      return [...others, { ...planned, endAt: Math.min(horizon, planned.endAt + shift()) }].filter(isReal);
    case 'offer':
      return [...others, { ...planned, offer: random.below(8) }];
    case 'retype': {
      const type = types[random.below(types.length)];
      return type === undefined ? schedule : [...others, { ...planned, type: type.name, offer: 0 }];
    }
    case 'merge': {
      // One machine of any type in place of two that overlap.
      const other = others[random.below(others.length)];
      const type = types[random.below(types.length)];
      if (other === undefined || other.endAt === never || type === undefined) return schedule;
      const merged = {
        type: type.name,
        offer: 0,
        launchAt: Math.min(planned.launchAt, other.launchAt),
        endAt: Math.max(planned.endAt, other.endAt),
      };
      return [...others.filter((each) => each !== other), merged];
    }
    case 'split':
      return splitGap(schedule, at, machines);
  }
}

const isReal = ({ launchAt, endAt }: PlannedMachine): boolean => endAt > launchAt;

/** Ends a machine for the longest of its idle times, and has another one ready after it. */
function splitGap(schedule: Schedule, at: number, machines: readonly MachineTrace[]): Schedule {
  const planned = schedule[at] as PlannedMachine;
  const machine = machines.find(
    ({ type, launchedAt }) => type === planned.type && Math.abs(launchedAt - planned.launchAt) < 5_000,
  );
  if (machine?.joinedAt === undefined) return schedule;
  const start = machine.joinedAt - machine.launchedAt;
  let gap: readonly [Duration, Duration] | undefined;
  machine.busy.forEach(([, until], index) => {
    const next = machine.busy[index + 1]?.[0];
    if (next === undefined || next - until < 1.2 * start) return;
    if (gap === undefined || next - until > gap[1] - gap[0]) gap = [until, next];
  });
  if (gap === undefined) return schedule;
  const [until, next] = gap;
  const others = schedule.filter((_, index) => index !== at);
  return [...others, { ...planned, endAt: until }, { ...planned, launchAt: Math.max(0, next - 1.2 * start) }].filter(
    isReal,
  );
}
