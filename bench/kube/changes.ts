/** Whether "done" is true: changes of a RayService, and when a prober through its Service sees the last of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Measurement } from '../../scripts/bench.ts';
import { type AppAnswer, aanaManifest, aanaPrinted, aanaRoutes, writeApp } from '../../test/lab/kube-app.ts';
import type { KubeBed } from '../../test/lab/kube-bed.ts';
import { type Probed, Prober } from '../../test/lab/kube-prober.ts';
import { percentile } from '../bed/shipped-cluster.ts';
import { note, seconds } from '../launcher/bed.ts';
import { withKubeBed } from './bed.ts';

const changes = Number(process.env['MANTA_BENCH_CHANGES'] ?? 30);
/** One of so many asks for a new cluster: 6 of 30. */
const newClusterEach = 5;

interface Change {
  readonly isNew: boolean;
  /** From when the prober agreed until `manta kube apply` and `kubectl wait` said so; negative is too early. */
  readonly ours: number;
  readonly theirs: number;
  readonly lost: number;
}

export function measureChanges(): Promise<Measurement[]> {
  if (aanaPrinted === undefined)
    return Promise.resolve([{ name: 'kube: changes', ours: 'not measured: no shared data' }]);
  return withKubeBed(async (bed) => {
    const files = '/srv/files';
    await bed.bed.laptop.must(['mkdir', '-p', files]);
    await writeApp(join(bed.bed.laptop.root, files, 'app.zip'));
    const zip = `${await bed.kube.serveFiles(files)}/app.zip`;
    const printed = readFileSync(aanaPrinted!, 'utf8');
    const manifest = (model: string, mark: string): string =>
      aanaManifest(printed, { image: bed.rayImage, zip, workers: 0, model, mark });
    bed.bed.write('aana.yaml', manifest('first', 'first'));
    await bed.bed.manta(['kube', 'apply', '--yes', '--timeout', '600', 'aana.yaml']);
    const prober = new Prober(bed.kube.host, 'aana-serve-svc.default.svc.cluster.local:8000', aanaRoutes);
    try {
      await prober.until('all routes', ({ status }) => status === 200);
      const seen: Change[] = [];
      let mark = 'first';
      for (let at = 1; at <= changes; at++) {
        const isNew = at % newClusterEach === 0;
        if (isNew) mark = `c${at}`;
        bed.bed.write('aana.yaml', manifest(`m${at}`, mark));
        seen.push({ isNew, ...(await timeChange(bed, prober, agreesWith(`m${at}`, mark))) });
        const { ours, theirs, lost } = seen.at(-1)!;
        note(
          `${isNew ? 'new cluster' : 'in place'}: manta ${seconds(ours)}, kubectl wait ${seconds(theirs)} after the prober; ${lost} lost`,
        );
      }
      return tell(seen);
    } finally {
      prober.close();
    }
  });
}

const agreesWith =
  (model: string, mark: string) =>
  ({ status, route, body }: Probed): boolean => {
    if (status !== 200) return false;
    const answer = JSON.parse(body) as AppAnswer;
    return answer.mark === mark && (route !== '/asr_deployment' || answer.config['model_size'] === model);
  };

async function timeChange(
  bed: KubeBed,
  prober: Prober,
  agrees: (answer: Probed) => boolean,
): Promise<Omit<Change, 'isNew'>> {
  const from = Date.now();
  const generation = (): Promise<string> =>
    bed.kube.kubectl(['get', 'rayservice', 'aana', '-o', 'jsonpath={.metadata.generation}']);
  const before = await generation();
  const ours = bed.bed.manta(['kube', 'apply', '--yes', '--timeout', '600', 'aana.yaml']).then(() => Date.now());
  while ((await generation()) === before);
  const theirs = bed.kube
    .kubectl(['wait', '--for=condition=Ready', 'rayservice/aana', '--timeout=600s'])
    .then(() => Date.now());
  const [done, waited] = await Promise.all([ours, theirs]);
  await prober.until('the change', agrees);
  const agreed = prober.agreedAt(from, agrees)!;
  return { ours: done - agreed, theirs: waited - agreed, lost: prober.lost(from).length };
}

function tell(seen: readonly Change[]): Measurement[] {
  const early = (side: 'ours' | 'theirs'): number => seen.filter((change) => change[side] < 0).length;
  const lag = percentile(
    seen.map(({ ours }) => Math.max(0, ours)),
    0.95,
  );
  const lost = (isNew: boolean): number =>
    seen.filter((each) => each.isNew === isNew).reduce((sum, each) => sum + each.lost, 0);
  const count = (isNew: boolean): number => seen.filter((each) => each.isNew === isNew).length;
  return [
    {
      name: `kube: "done" before the prober agrees, of ${seen.length} changes, beside kubectl wait`,
      ours: String(early('ours')),
      theirs: String(early('theirs')),
      goal: '0',
      reached: early('ours') === 0,
    },
    {
      name: 'kube: "done" after the prober agrees, p95',
      ours: seconds(lag),
      goal: 'at most 2 s',
      reached: lag <= 2_000,
    },
    { name: `kube: requests lost in ${count(false)} changes in place`, ours: String(lost(false)) },
    { name: `kube: requests lost in ${count(true)} changes with a new cluster`, ours: String(lost(true)) },
  ];
}
