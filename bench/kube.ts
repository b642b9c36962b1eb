// needs: openssl, ray, hosts, podman, kube

/**
 * Manta on a real cluster of Kubernetes with KubeRay, beside `kubectl` and Ray's own autoscaler, in one run and in turns.
 * `MANTA_BENCH_PARTS` (`changes,list,follow,tunnel,scaler`) says which parts, `MANTA_BENCH_CHANGES` how many changes,
 * `MANTA_BENCH_ROUNDS` how often for the rest.
 */
import type { Measurement } from '../scripts/bench.ts';
import { kubeProblem } from '../test/lab/kube-bed.ts';
import { show } from './bed/shipped-cluster.ts';
import { measureChanges } from './kube/changes.ts';
import { measureFollow } from './kube/follow.ts';
import { measureList } from './kube/list.ts';
import { measureScaler } from './kube/scaler.ts';
import { measureTunnel } from './kube/tunnel.ts';

const all = {
  changes: measureChanges,
  list: measureList,
  follow: measureFollow,
  tunnel: measureTunnel,
  scaler: measureScaler,
};

export async function run(): Promise<Measurement[]> {
  const problem = kubeProblem();
  if (problem !== undefined) return [{ name: 'kube', ours: `not measured: ${problem}` }];
  const asked = process.env['MANTA_BENCH_PARTS']?.split(',');
  const measured: Measurement[] = [];
  for (const [name, measure] of Object.entries(all))
    if (asked === undefined || asked.includes(name)) measured.push(...(await measure()));
  return measured;
}

if (import.meta.main) show(await run());
