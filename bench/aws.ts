/**
 * Clusters on the fake of AWS, in turns with Ray's own launcher and autoscaler on the same fake and with the same file. Takes
 * under a quarter of an hour. `MANTA_BENCH_PARTS` (`up,workers`) says which parts, `MANTA_BENCH_ROUNDS` (2) how often the
 * first `up` is measured.
 */
import type { Measurement } from '../scripts/bench.ts';
import { clusterProblem } from '../test/lab/cluster-bed.ts';
import { AwsBench } from './aws/bed.ts';
import { measureFirstUp } from './aws/up.ts';
import { measureWorkers } from './aws/workers.ts';
import { show } from './bed/shipped-cluster.ts';

export async function run(): Promise<Measurement[]> {
  const problem = clusterProblem();
  if (problem !== undefined) return [{ name: 'aws', ours: `not measured: ${problem}` }];
  const parts = (process.env['MANTA_BENCH_PARTS'] ?? 'up,workers').split(',');
  const bench = await AwsBench.open();
  try {
    const measured: Measurement[] = [];
    if (parts.includes('up'))
      measured.push(...(await measureFirstUp(bench, Number(process.env['MANTA_BENCH_ROUNDS'] ?? 2))));
    if (parts.includes('workers')) measured.push(...(await measureWorkers(bench)));
    return measured;
  } finally {
    await bench.close();
  }
}

if (import.meta.main) show(await run());
