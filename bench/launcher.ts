/**
 * The launcher on hosts of the lab, with real Ray, in turns with Ray's own launcher on the same hosts and file. Takes
 * about a quarter of an hour. `MANTA_BENCH_ROUNDS` (3) says how often; `MANTA_BENCH_WORKERS` (3) with how many workers,
 * `3,8` for both; `MANTA_BENCH_PARTS` (`up,commands,many`) which parts.
 */
import { labProblem } from '../lab/lab.ts';
import type { Measurement } from '../scripts/bench.ts';
import { show } from './bed/shipped-cluster.ts';
import { measureCommands } from './launcher/commands.ts';
import { measureMany } from './launcher/many.ts';
import { measureUp } from './launcher/up.ts';

export async function run(): Promise<Measurement[]> {
  const problem = labProblem();
  if (problem !== undefined) return [{ name: 'launcher', ours: `not measured: ${problem}` }];
  const parts = (process.env['MANTA_BENCH_PARTS'] ?? 'up,commands,many').split(',');
  const workers = (process.env['MANTA_BENCH_WORKERS'] ?? '3').split(',').map(Number);
  const measured: Measurement[] = [];
  if (parts.includes('commands')) measured.push(...(await measureCommands()));
  if (parts.includes('up')) for (const count of workers) measured.push(...(await measureUp(count)));
  if (parts.includes('many')) measured.push(...(await measureMany()));
  return measured;
}

if (import.meta.main) show(await run());
