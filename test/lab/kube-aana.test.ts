// needs: openssl, ray, hosts, podman, kube

/**
 * Aana's guide on a real cluster: its RayService as printed, then with image, sizes and code of the lab, while a prober asks
 * every route through the Service that clients use.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { AppAnswer } from './kube-app.ts';
import { aanaManifest, aanaPrinted, aanaRoutes, type Sizes, writeApp } from './kube-app.ts';
import { KubeBed, kubeProblem } from './kube-bed.ts';
import { type Probed, Prober } from './kube-prober.ts';

const missing = aanaPrinted === undefined ? 'the shared data is missing' : undefined;

describe("Aana's path", { skip: kubeProblem() ?? missing ?? false }, () => {
  let bed: KubeBed;
  let prober: Prober | undefined;
  let zip: string;
  before(async () => {
    bed = await KubeBed.open();
    const files = '/srv/files';
    await bed.bed.laptop.must(['mkdir', '-p', files]);
    await writeApp(join(bed.bed.laptop.root, files, 'app.zip'));
    zip = `${await bed.kube.serveFiles(files)}/app.zip`;
  });
  after(async () => {
    prober?.close();
    await bed?.close();
  });

  const apply = (text: string, ...words: readonly string[]) => {
    bed.bed.write('aana.yaml', text);
    return bed.run(['kube', 'apply', '--yes', '--timeout', '420', ...words, 'aana.yaml']);
  };
  const sized = (sizes: Partial<Sizes> = {}): string =>
    aanaManifest(readFileSync(aanaPrinted!, 'utf8'), { image: bed.rayImage, zip, workers: 0, ...sizes });
  const body = ({ body: text }: Probed): AppAnswer => JSON.parse(text) as AppAnswer;
  const activeCluster = async (): Promise<string> => {
    const path = 'jsonpath={.status.activeServiceStatus.rayClusterName}';
    return await bed.kube.kubectl(['get', 'rayservice', 'aana', '-o', path]);
  };

  /** Applies a change and holds "done" to what clients see: at once, and with no request lost that Ray itself does not lose. */
  async function change(text: string, agrees: (answer: Probed) => boolean): Promise<string> {
    const from = Date.now();
    const { code, stdout, stderr } = await apply(text);
    const done = Date.now();
    assert.equal(code, 0, stderr + stdout);
    await prober!.until('the change', agrees);
    const early = prober!.answers.filter(({ sent }) => sent >= done).filter((answer) => !agrees(answer));
    assert.deepEqual(early, [], 'nothing of before is answered once it is said to be done');
    const sent = prober!.answers.filter((answer) => answer.sent >= from).length;
    process.stdout.write(`# ${prober!.lost(from).length} of ${sent} requests were lost\n`);
    return stdout;
  }

  test('the file as printed is told what stands in its way', async () => {
    const printed = readFileSync(aanaPrinted!, 'utf8');
    const { code, stdout, stderr } = await apply(printed, '--timeout', '5');
    assert.equal(code, 1, stdout);
    assert.match(stdout, /Ray 2\.20\.0 does not work with current KubeRay/);
    assert.match(stderr, /no node has room for the pod 'aana-sdk-\w+-head-\w+'/);
    for (const [resource, amount] of [
      ['cpu', '3'],
      ['memory', '28G'],
      ['ephemeral-storage', '95Gi'],
    ])
      assert.ok(stderr.includes(`too little ${resource} (it asks for ${amount})`), stderr);
    await bed.kube.kubectl(['delete', 'rayservice', 'aana-sdk', '--wait=true']);
  });

  test('with image, sizes and zip of the lab it serves when it is said to', async () => {
    const { code, stderr } = await apply(sized());
    assert.equal(code, 0, stderr);
    prober = new Prober(bed.kube.host, 'aana-serve-svc.default.svc.cluster.local:8000', aanaRoutes);
    await prober.until('all routes', ({ status }) => status === 200);
    assert.deepEqual(prober.lost(), [], 'it served from the first request on');
    const apps = aanaRoutes.map((route) => body(prober!.answers.findLast((answer) => answer.route === route)!).app);
    assert.deepEqual(apps, ['asr', 'vad', 'main']);
  });

  test('more replicas and another model come in place, with no request lost', async () => {
    const cluster = await activeCluster();
    const from = Date.now();
    const agrees = (answer: Probed): boolean =>
      answer.status === 200 && (answer.route !== '/asr_deployment' || body(answer).config['model_size'] === 'base');
    const said = await change(sized({ replicas: 2, model: 'base' }), agrees);
    assert.match(said, /in place/);
    assert.equal(await activeCluster(), cluster);
    assert.deepEqual(prober!.lost(from), []);
  });

  test('another cluster config brings a new cluster, and a rollback the one of before', async () => {
    const cluster = await activeCluster();
    const agrees =
      (mark: string) =>
      (answer: Probed): boolean =>
        answer.status === 200 && body(answer).mark === mark;
    const said = await change(sized({ replicas: 2, model: 'base', mark: 'two' }), agrees('two'));
    assert.match(said, /new cluster/);
    assert.notEqual(await activeCluster(), cluster);
    const back = await bed.run(['kube', 'apply', '--yes', '--timeout', '420', '--rollback', 'rayservice/aana']);
    assert.equal(back.code, 0, back.stderr);
    await prober!.until('the mark of before', agrees('one'));
  });
});
