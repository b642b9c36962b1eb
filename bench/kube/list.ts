/** How long a list of what is on Kubernetes takes, beside `kubectl get` of the same kinds. */
import type { Measurement } from '../../scripts/bench.ts';
import { median, note, seconds } from '../launcher/bed.ts';
import { clusterOf, costOnLaptop, rounds, withKubeBed } from './bed.ts';

const program = '/opt/manta/bin/manta';

export const measureList = (): Promise<Measurement[]> =>
  withKubeBed(async (bed) => {
    for (const at of Array(20).keys()) await bed.apply(clusterOf(bed, `list-${at}`, { suspend: true }));
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      ours.push((await costOnLaptop(bed, [program, 'list', '--kube'])).time);
      theirs.push((await costOnLaptop(bed, ['kubectl', 'get', 'rayclusters,rayservices,rayjobs'])).time);
      note(`list: manta ${seconds(ours.at(-1)!)}, kubectl ${seconds(theirs.at(-1)!)}`);
    }
    const ratio = median(ours) / median(theirs);
    return [
      {
        name: 'kube: manta list --kube, median, beside kubectl get',
        ours: seconds(median(ours)),
        theirs: seconds(median(theirs)),
        ratio,
        goal: 'at most 2x',
        reached: ratio <= 2,
      },
    ];
  });
