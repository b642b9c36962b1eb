/** The first `up` of an account: from the command to a head on which Ray and its autoscaler run. */
import type { Measurement } from '../../scripts/bench.ts';
import { median, note, seconds } from '../launcher/bed.ts';
import type { CloudBench, SideName } from './bed.ts';
import { atLeast } from './beside.ts';

export async function measureFirstUp(bench: CloudBench, rounds: number): Promise<Measurement[]> {
  const times = new Map<SideName, number[]>([
    ['manta', []],
    ['ray', []],
  ]);
  for (let round = 1; round <= rounds; round++)
    for (const [side, all] of times) {
      const cluster = await bench.cluster(side, 0);
      const took = await cluster.up();
      const calls = (await cluster.calls()).length;
      note(`first up, round ${round}, ${side}: ${seconds(took)}, ${calls} calls`);
      all.push(took);
      await cluster.down();
    }
  const [manta, ray] = [median(times.get('manta')!), median(times.get('ray')!)];
  const { name, goals } = bench.benched;
  return [
    atLeast(goals.firstUp, `${name}: first \`up\` in an empty account, median of ${rounds}`, {
      manta,
      ray,
      as: seconds,
    }),
  ];
}
