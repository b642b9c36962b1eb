/**
 * Jobs on real Ray, through Manta's queue and straight to Ray's own jobs API. `MANTA_BENCH_PARTS` (`start,crowd,ray-crowd`)
 * says which parts, `MANTA_BENCH_ROUNDS` (15) how often a start is measured, `MANTA_BENCH_JOBS` (1000) how many make a
 * crowd, `MANTA_BENCH_MINUTES` (30) how long that may take: a job costs Ray more than a second of a core.
 */
import type { Measurement } from '../scripts/bench.ts';
import { clusterProblem } from '../test/lab/cluster-bed.ts';
import { show } from './bed/shipped-cluster.ts';
import { measureCrowd, measureRayCrowd } from './queue/crowd.ts';
import { measureStart } from './queue/start.ts';

export async function run(): Promise<Measurement[]> {
  const problem = clusterProblem();
  if (problem !== undefined) return [{ name: 'queue', ours: `not measured: ${problem}` }];
  const parts = (process.env['MANTA_BENCH_PARTS'] ?? 'start,crowd,ray-crowd').split(',');
  const measured: Measurement[] = [];
  if (parts.includes('start')) measured.push(...(await measureStart()));
  if (parts.includes('crowd')) measured.push(...(await measureCrowd()));
  if (parts.includes('ray-crowd')) measured.push(...(await measureRayCrowd()));
  return measured;
}

if (import.meta.main) show(await run());
