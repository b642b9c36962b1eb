/** `manta job submit -- true` beside `ray job submit -- true`, in turns, against the same server. */
import { spawnSync } from 'node:child_process';
import type { Measurement } from '../scripts/bench.ts';
import { noRay, rayCommand, rayPython } from '../test/jobs/ray-python.ts';
import { percentile, type ShippedCluster, show, withShippedCluster } from './bed/shipped-cluster.ts';

const rounds = 5;

export async function run(): Promise<Measurement[]> {
  const ray = rayPython();
  if ('missing' in ray) throw new Error(noRay);
  return withShippedCluster(undefined, async (cluster) => {
    const ours = [process.execPath, cluster.manta, 'job', 'submit', '--', 'true'];
    const theirs = [ray.python, ...rayCommand, 'job', 'submit', '--', 'true'];
    const times = { ours: [] as number[], theirs: [] as number[] };
    timed(cluster, ours);
    timed(cluster, theirs);
    for (let round = 0; round < rounds; round++) {
      times.ours.push(timed(cluster, ours));
      times.theirs.push(timed(cluster, theirs));
    }
    const [mine, rays] = [percentile(times.ours, 0.5), percentile(times.theirs, 0.5)];
    return [
      {
        name: `submit: \`manta job submit -- true\` against Ray ${ray.version}'s`,
        ours: `${mine.toFixed(0)} ms`,
        theirs: `${rays.toFixed(0)} ms`,
        ratio: mine / rays,
        goal: 'at most 0.125',
        reached: mine / rays <= 0.125,
      },
    ];
  });
}

function timed(cluster: ShippedCluster, [program = '', ...args]: readonly string[]): number {
  const env = {
    ...cluster.env,
    RAY_ADDRESS: cluster.url,
    RAY_API_SERVER_ADDRESS: cluster.url,
    RAY_AUTH_MODE: 'token',
    RAY_AUTH_TOKEN: cluster.token,
  };
  const begin = performance.now();
  const { status, stderr } = spawnSync(program, args, { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')} exited with ${status}: ${stderr}`);
  return performance.now() - begin;
}

if (import.meta.main) show(await run());
