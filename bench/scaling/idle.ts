/** Nodes that really come up, and how soon after their idle timeout the cloud is told to end them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Measurement } from '../../scripts/bench.ts';
import { median, note, seconds } from '../launcher/bed.ts';
import { ScalingBed, type Side, type SideName, sideNames } from './bed.ts';

const idleSeconds = 10;
const endedWithin = 120_000;
/** Tasks are on their nodes by then. */
const settles = 2_000;

interface Times {
  readonly alive: number[];
  /** From the idle timeout to the call that ends the last node. */
  readonly late: number[];
}

export async function measureIdle(): Promise<Measurement[]> {
  const nodes = Number(process.env['MANTA_BENCH_NODES'] ?? 4);
  const rounds = Number(process.env['MANTA_BENCH_ROUNDS'] ?? 2);
  const times = new Map<SideName, Times>(sideNames.map((name) => [name, { alive: [], late: [] }]));
  const bed = await ScalingBed.open();
  try {
    const types = Array.from({ length: rounds }, (_, round) => `idle${round}`);
    const sides: Side[] = [];
    for (const name of sideNames)
      sides.push(await bed.start(name, { types, most: nodes, idleSeconds, upscalingSpeed: 100 }));
    for (const [round, type] of types.entries())
      for (const side of sides) {
        const { alive, late } = await timeOne(bed, side, type, nodes);
        note(
          `round ${round + 1}, ${side.name}: ${nodes} nodes alive after ${seconds(alive)}, the last one ended ${seconds(late)} after its idle timeout`,
        );
        times.get(side.name)!.alive.push(alive);
        times.get(side.name)!.late.push(late);
      }
  } finally {
    await bed.close();
  }
  const ours = times.get('manta') ?? { alive: [], late: [] };
  const latest = Math.max(...ours.late);
  return [
    {
      name: `scaling: idle timeout until the provider is told to end all of ${nodes} nodes, the latest`,
      ours: seconds(latest),
      goal: 'at most 2 s',
      reached: latest <= 2_000,
    },
    ...[...times]
      .filter(([name]) => name !== 'manta')
      .flatMap(([name, theirs]) => [
        {
          name: `scaling: the same, median, against Ray's ${name}`,
          ours: seconds(median(ours.late)),
          theirs: seconds(median(theirs.late)),
          ratio: median(theirs.late) / median(ours.late),
        },
        {
          name: `scaling: submit until all of ${nodes} nodes are alive, against Ray's ${name}`,
          ours: seconds(median(ours.alive)),
          theirs: seconds(median(theirs.alive)),
          ratio: median(theirs.alive) / median(ours.alive),
        },
      ]),
  ];
}

async function timeOne(
  bed: ScalingBed,
  { name, driver }: Side,
  type: string,
  nodes: number,
): Promise<{ readonly alive: number; readonly late: number }> {
  const began = await driver.submit(type, nodes);
  const alive = await driver.alive(1 + nodes);
  await sleep(settles);
  const since = await bed.lastCall();
  const idle = await driver.cancel();
  const ended = await bed.until(
    name,
    { since, call: 'terminate' },
    { count: nodes, within: endedWithin, of: (call) => call.instances?.length ?? 0 },
  );
  if (ended.at === undefined)
    throw new Error(
      `${name} ended ${ended.count} of ${nodes} within ${endedWithin / 1_000} s:\n${await bed.log(name)}`,
    );
  await driver.only();
  return { alive: alive - began, late: ended.at - idle - 1_000 * idleSeconds };
}
