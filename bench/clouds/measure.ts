import type { Measurement } from '../../scripts/bench.ts';
import { clusterProblem } from '../../test/lab/cluster-bed.ts';
import { CloudBench } from './bed.ts';
import type { BenchedCloud } from './cloud.ts';
import { measureFirstUp } from './up.ts';
import { measureWorkers } from './workers.ts';

/**
 * Clusters on a fake of a cloud, in turns with Ray's own launcher and autoscaler on the same fake and with the same file.
 * `MANTA_BENCH_PARTS` (`up,workers`) says which parts, `MANTA_BENCH_ROUNDS` (2) how often the first `up` is measured.
 */
export async function measureCloud(benched: BenchedCloud): Promise<Measurement[]> {
  const problem = clusterProblem();
  if (problem !== undefined) return [{ name: benched.name, ours: `not measured: ${problem}` }];
  const parts = (process.env['MANTA_BENCH_PARTS'] ?? 'up,workers').split(',');
  const bench = await CloudBench.open(benched);
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
