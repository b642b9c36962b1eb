/** From a driver's submit to the patch of `replicas`, by mantad and by Ray's own autoscaler in the head's pod; and mantad idle. */
import { createInterface } from 'node:readline';
import type { Measurement } from '../../scripts/bench.ts';
import type { KubeBed } from '../../test/lab/kube-bed.ts';
import { costOf } from '../bed/shipped-cluster.ts';
import { median, note, seconds } from '../launcher/bed.ts';
import { clusterOf, podOf, rounds, withKubeBed } from './bed.ts';

const idleSeconds = 30;

/** Asks for one thing that only one group has, and says when. */
const driver = (group: number): string => `
import ray, sys, time
ray.init(address="auto", logging_level="error", log_to_driver=False)
@ray.remote(num_cpus=0, resources={"r${group}": 1})
def work(): pass
print("submitted", int(time.time() * 1000), flush=True)
ref = work.remote()
time.sleep(600)
`;

/** Groups whose pods no node takes: only the patch is measured. */
const groups = (bed: KubeBed): string =>
  `[${Array.from({ length: rounds }, (_, at) => `{groupName: g${at}, replicas: 0, minReplicas: 0, maxReplicas: 1, rayStartParams: {resources: '"{\\"r${at}\\": 1}"'}, template: ${podOf(bed, 'ray-worker', 'nodeSelector: {nowhere: "yes"}, ')}}`).join(', ')}]`;

export const measureScaler = (): Promise<Measurement[]> =>
  withKubeBed(async (bed) => {
    const sides = { manta: ['--scaler', 'manta', '--image', bed.nodeImage], ray: [] } as const;
    for (const [name, words] of Object.entries(sides)) {
      bed.bed.write(`${name}.yaml`, clusterOf(bed, name, { autoscaling: true, groups: groups(bed) }));
      await bed.bed.manta(['kube', 'apply', '--yes', '--timeout', '600', ...words, `${name}.yaml`]);
    }
    const idle = await idleCost(bed);
    const times = { manta: [] as number[], ray: [] as number[] };
    for (let round = 0; round < rounds; round++)
      for (const name of ['manta', 'ray'] as const) {
        times[name].push(await timePatch(bed, name, round));
        note(`round ${round + 1}, ${name}: ${seconds(times[name].at(-1)!)}`);
      }
    const ratio = median(times.ray) / median(times.manta);
    return [
      {
        name: "kube: driver's submit until replicas are patched, median, beside Ray's own autoscaler",
        ours: seconds(median(times.manta)),
        theirs: seconds(median(times.ray)),
        ratio,
        goal: 'at least 5x faster',
        reached: ratio >= 5,
      },
      {
        name: 'kube: mantad idle in the head pod, memory',
        ours: `${idle.megabytes.toFixed(0)} MB`,
        goal: 'at most 120 MB',
        reached: idle.megabytes <= 120,
      },
      {
        name: 'kube: mantad idle in the head pod, processor',
        ours: `${(idle.share * 100).toFixed(1)} % of a core`,
        goal: 'at most 2 %',
        reached: idle.share <= 0.02,
      },
    ];
  });

async function timePatch({ kube }: KubeBed, cluster: string, round: number): Promise<number> {
  const [pod = ''] = (
    await kube.kubectl(['get', 'pods', '-l', `ray.io/cluster=${cluster},ray.io/node-type=head`, '-o', 'name'])
  )
    .trim()
    .split('\n');
  const watching = kube.host.spawn(
    [
      ...[
        '/opt/kube/kubectl',
        '--kubeconfig',
        '/var/lib/containers/kube/users/admin.yaml',
        'get',
        'raycluster',
        cluster,
        '--watch',
      ],
      ...['-o', `jsonpath={.spec.workerGroupSpecs[${round}].replicas}{"\\n"}`],
    ],
    { user: 'root', stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const patched = new Promise<number>((resolve) => {
    createInterface({ input: watching.stdout! }).on('line', (line) => line === '1' && resolve(Date.now()));
  });
  const program = ['exec', '-c', 'ray-head', pod, '--', 'python', '-u', '-c', driver(round)];
  const driving = kube.host.spawn(
    ['/opt/kube/kubectl', '--kubeconfig', '/var/lib/containers/kube/users/admin.yaml', ...program],
    {
      user: 'root',
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const submitted = new Promise<number>((resolve) => {
    createInterface({ input: driving.stdout! }).on('line', (line) => {
      const at = /^submitted (\d+)$/.exec(line)?.[1];
      if (at !== undefined) resolve(Number(at));
    });
  });
  const [from, to] = await Promise.all([submitted, patched]);
  for (const child of [watching, driving]) child.kill('SIGKILL');
  return to - from;
}

/** What mantad costs while nothing is asked of it. */
async function idleCost({ kube }: KubeBed): Promise<{ readonly megabytes: number; readonly share: number }> {
  const found = kube.host
    .processes()
    .find(({ command }) => /mantad(?:\.js|\.ts)?$/.test(command[1] ?? command[0] ?? ''));
  if (found === undefined) throw new Error('mantad does not run in the head pod');
  const before = costOf(found.pid);
  await new Promise((resolve) => setTimeout(resolve, idleSeconds * 1_000));
  const after = costOf(found.pid);
  return { megabytes: after.megabytes, share: (after.seconds - before.seconds) / idleSeconds };
}
