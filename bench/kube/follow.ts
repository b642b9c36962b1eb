/** What following one object costs among many of its kind, beside a list of all. */
import type { Measurement } from '../../scripts/bench.ts';
import { note } from '../launcher/bed.ts';
import { clusterOf, costOnLaptop, withKubeBed } from './bed.ts';

const program = '/opt/manta/bin/manta';
const count = Number(process.env['MANTA_BENCH_CLUSTERS'] ?? 1_000);

export const measureFollow = (): Promise<Measurement[]> =>
  withKubeBed(async (bed) => {
    const all = Array.from({ length: count }, (_, at) => clusterOf(bed, `many-${at}`, { suspend: true }));
    for (let at = 0; at < count; at += 100) {
      await bed.kube.kubectl(['create', '-f', '-'], all.slice(at, at + 100).join('---'));
      note(`${at + 100} of ${count} clusters`);
    }
    await bed.kube.kubectl(['wait', '--for=condition=RayClusterSuspended', 'rayclusters', '--all', '--timeout=600s']);
    const listed = await costOnLaptop(bed, ['kubectl', 'get', 'rayclusters', '-o', 'json']);
    // It takes the fields over, which is a change, and waits until it is suspended again.
    bed.bed.write('one.yaml', clusterOf(bed, 'many-7', { suspend: true }).replace('num-cpus: "1"', 'num-cpus: "2"'));
    const followed = await costOnLaptop(bed, [
      program,
      'kube',
      'apply',
      '--yes',
      '--force-conflicts',
      '/root/one.yaml',
    ]);
    const ratio = listed.bytes / followed.bytes;
    return [
      {
        name: `kube: bytes received to change one of ${count} RayClusters and follow it, beside a list of all`,
        ours: `${(followed.bytes / 1024).toFixed(0)} KiB`,
        theirs: `${(listed.bytes / 1024).toFixed(0)} KiB`,
        ratio,
        goal: 'at most 1/100',
        reached: ratio >= 100,
      },
    ];
  });
