/** How long it takes from a driver's submit until the cloud has been asked for what the tasks need. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Measurement } from '../../scripts/bench.ts';
import { percentile } from '../bed/shipped-cluster.ts';
import { note, seconds } from '../launcher/bed.ts';
import { ScalingBed, type Side, type SideName, sideNames } from './bed.ts';

/** Ray's own loop: submits are spread evenly over its phases, so that none is favoured. */
const rayLoop = 5_000;
const askedWithin = 60_000;

interface Case {
  readonly name: string;
  readonly work: 'submit' | 'actors';
  readonly nodes: number;
  readonly rounds: number;
  readonly upscalingSpeed?: number;
}

const roundsOf = (usual: number): number => Number(process.env['MANTA_BENCH_ROUNDS'] ?? usual);

/** One task that fits nowhere. */
export async function measureFirst(): Promise<Measurement[]> {
  const times = await timesOf({ name: 'first', work: 'submit', nodes: 1, rounds: roundsOf(20) });
  const manta = times.get('manta') ?? [];
  const p99 = percentile(manta, 0.99);
  return [
    {
      name: `scaling: submit to the provider's call, p99 of ${manta.length}`,
      ours: seconds(p99),
      goal: 'at most 1.5 s',
      reached: p99 <= 1_500,
    },
    ...beside("submit to the provider's call", times),
  ];
}

/**
 * Twenty tasks, then twenty actors, that need a node each, in a file that lets Ray go as fast as it can. A driver asks for
 * ten of equal tasks at once and tells of the others within a second; of actors it tells at once.
 */
export async function measureTwenty(): Promise<Measurement[]> {
  const nodes = Number(process.env['MANTA_BENCH_NODES'] ?? 20);
  const shared = { nodes, rounds: roundsOf(5), upscalingSpeed: 100 };
  const tasks = await timesOf({ ...shared, name: 'tasks', work: 'submit' });
  const actors = await timesOf({ ...shared, name: 'actors', work: 'actors' });
  return [
    ...beside(`submit of ${nodes} actors until all of their nodes were asked for`, actors),
    ...beside(`submit of ${nodes} tasks until all of their nodes were asked for`, tasks),
  ];
}

function beside(what: string, times: ReadonlyMap<SideName, readonly number[]>): Measurement[] {
  const ours = times.get('manta') ?? [];
  return [...times]
    .filter(([name]) => name !== 'manta')
    .flatMap(([name, theirs]) =>
      ([0.5, 0.99] as const).map((share) => {
        const [mine, rays] = [percentile(ours, share), percentile(theirs, share)];
        return {
          name: `scaling: ${what}, p${share * 100}, against Ray's ${name}`,
          ours: seconds(mine),
          theirs: seconds(rays),
          ratio: rays / mine,
          goal: 'at least 5x',
          reached: rays / mine >= 5,
        };
      }),
    );
}

async function timesOf({ name, work, nodes, rounds, upscalingSpeed }: Case): Promise<ReadonlyMap<SideName, number[]>> {
  const times = new Map<SideName, number[]>(sideNames.map((each) => [each, []]));
  const bed = await ScalingBed.open();
  try {
    const types = Array.from({ length: rounds + 1 }, (_, round) => `${name}${round}`);
    const shape = { types, most: nodes, idleSeconds: 3600, ...(upscalingSpeed !== undefined && { upscalingSpeed }) };
    const sides: Side[] = [];
    for (const side of sideNames) sides.push(await bed.start(side, shape));
    // What is asked for never comes up: twenty raylets would measure this machine.
    await bed.admin.fault({ fault: 'hang-boot' });
    // The first round warms up and counts for nobody.
    for (let round = 0; round <= rounds; round++)
      for (const side of sides) {
        await forget(bed, side);
        if (round > 0) await intoPhase(bed, side, (rayLoop * (((round * 7) % rounds) + 0.5)) / rounds);
        const { took, steps } = await timeOne(bed, side, types[round]!, nodes, work);
        note(`round ${round}, ${side.name}: ${steps}`);
        if (round > 0) times.get(side.name)!.push(took);
      }
    return times;
  } finally {
    await bed.close();
  }
}

/** Sleeps until so long after a turn of this side's loop, of which its last launch was one. */
async function intoPhase(bed: ScalingBed, { name }: Side, phase: number): Promise<void> {
  const from = (await bed.lastLaunch(name)) + phase;
  const turns = Math.ceil((Date.now() - from) / rayLoop);
  await sleep(Math.max(0, from + turns * rayLoop - Date.now()));
}

async function timeOne(
  bed: ScalingBed,
  { name, driver }: Side,
  type: string,
  nodes: number,
  work: Case['work'],
): Promise<{ readonly took: number; readonly steps: string }> {
  const since = await bed.lastCall();
  const began = await driver[work](type, nodes);
  const asked = await bed.until(
    name,
    { since, call: 'launch' },
    { count: nodes, within: askedWithin, of: (call) => call.instances?.length ?? 0 },
  );
  await driver.cancel();
  if (asked.at === undefined)
    throw new Error(
      `${name} asked for ${asked.count} of ${nodes} within ${askedWithin / 1_000} s:\n${await bed.log(name)}`,
    );
  const steps = asked.calls.map(({ at, instances }) => `${instances?.length ?? 0} after ${seconds(at - began)}`);
  return { took: asked.at - began, steps: steps.join(', ') };
}

/**
 * Ends what the round before asked for. Not earlier than Ray's loop has seen it: what v2 has asked for and never saw is
 * waited for, and held against its limit, for ten minutes.
 */
async function forget(bed: ScalingBed, { name }: Side): Promise<void> {
  const [, ...workers] = await bed.instances(name);
  if (workers.length === 0) return;
  await sleep(Math.max(0, (await bed.lastLaunch(name)) + 1.5 * rayLoop - Date.now()));
  await bed.terminate(name, workers);
}
