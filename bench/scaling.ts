/**
 * Scaling by the demand of real Ray on a lab cloud, in turns with Ray's own autoscalers (v1 and v2) on the same cloud.
 * `MANTA_BENCH_PARTS` (`first,twenty,idle`) says which parts, `MANTA_BENCH_ROUNDS` how often, `MANTA_BENCH_SIDES`
 * (`manta,v2,v1`) who takes part.
 */
import type { Measurement } from '../scripts/bench.ts';
import { clusterProblem } from '../test/lab/cluster-bed.ts';
import { show } from './bed/shipped-cluster.ts';
import { measureFirst, measureTwenty } from './scaling/asked.ts';
import { measureIdle } from './scaling/idle.ts';

export async function run(): Promise<Measurement[]> {
  const problem = clusterProblem();
  if (problem !== undefined) return [{ name: 'scaling', ours: `not measured: ${problem}` }];
  const parts = (process.env['MANTA_BENCH_PARTS'] ?? 'first,twenty,idle').split(',');
  const measured: Measurement[] = [];
  if (parts.includes('first')) measured.push(...(await measureFirst()));
  if (parts.includes('twenty')) measured.push(...(await measureTwenty()));
  if (parts.includes('idle')) measured.push(...(await measureIdle()));
  return measured;
}

if (import.meta.main) show(await run());
