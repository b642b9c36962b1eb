// needs: openssl, ray, hosts, podman, kube

/** `kube:NAME` as a cluster: the commands that take one, against real KubeRay, kubelet and Ray. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { Io } from '../../src/cli/command.ts';
import { toKuberay } from '../../src/cli/commands/config/convert-kuberay.ts';
import { yamlText } from '../../src/cli/render/yaml-text.ts';
import { readOpened } from '../../src/cli/shared/load-file.ts';
import { until } from '../contract/waiting.ts';
import { corpusFiles, corpusMissing } from '../core/spec/yaml/corpus.ts';
import { program } from './cluster-bed.ts';
import { KubeBed, kubeProblem } from './kube-bed.ts';

describe('a cluster on Kubernetes', { skip: kubeProblem() ?? false }, () => {
  let bed: KubeBed;
  before(async () => {
    bed = await KubeBed.open();
    bed.bed.write('cluster.yaml', manifest('one'));
    const made = await bed.run(['kube', 'apply', '--yes', 'cluster.yaml']);
    assert.equal(made.code, 0, made.stderr);
  });
  after(() => bed?.close());

  const manifest = (name: string, image = bed.rayImage): string => `
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: ${name}}
spec:
  rayVersion: 2.60.0
  headGroupSpec:
    rayStartParams: {}
    template:
      spec:
        containers:
          - name: ray-head
            image: ${image}
            resources: {limits: {memory: 3Gi}, requests: {cpu: 200m, memory: 1Gi}}
`;

  const head = (): Promise<string> =>
    bed.kube.kubectl(['get', 'pods', '-l', 'ray.io/cluster=one,ray.io/node-type=head', '-o', 'name']);

  test('it is listed, and status and why tell how far it is', async () => {
    const list = await bed.run(['list', '--kube']);
    assert.match(list.stdout, /^kube:one +RayCluster +ready/m, list.stderr);
    const status = await bed.run(['status', 'kube:default/one']);
    assert.match(
      status.stdout,
      /RayCluster default\/one: 1 of 1 pods ready[\s\S]*one-head-\w+ +headgroup +Running +yes/,
      status.stderr,
    );
    await bed.apply(manifest('none', bed.rayImage.replace('lab/ray', 'lab/nothing')));
    const why = await until(
      'its cause is told',
      async () => {
        const { stdout } = await bed.run(['why', 'kube:none']);
        return /cannot be pulled/.test(stdout) && stdout;
      },
      { pause: 1_000 },
    );
    assert.match(why, /RayCluster default\/none[\s\S]*lab\/nothing[\s\S]*what you can do/);
    await bed.kube.kubectl(['delete', 'raycluster', 'none']);
    const missing = await bed.run(['status', 'kube:two']);
    assert.deepEqual([missing.code, /MANTA_KUBE_NO_CLUSTER[\s\S]*one/.test(missing.stderr)], [4, true], missing.stderr);
  });

  test('exec carries bytes both ways, ends the input and passes the exit code on', async () => {
    const bytes = randomBytes(3 << 20);
    const sum = await bed.bed.run(['exec', 'kube:one', 'sha256sum; echo fine >&2; exit 7'], { input: bytes });
    assert.equal(sum.code, 7, sum.stderr);
    assert.equal(sum.stdout.split(' ')[0], createHash('sha256').update(bytes).digest('hex'));
    assert.equal(sum.stderr, 'fine\n');
    const out = await bed.run(['exec', 'kube:one', '--', 'sh', '-c', 'head -c 3000000 /dev/zero | tr "\\0" x']);
    assert.deepEqual([out.code, out.stdout.length], [0, 3_000_000], out.stderr);
    assert.equal((await bed.run(['exec', 'kube:one', 'exit 255'])).code, 255);
  });

  test('attach is a terminal that knows its size', async () => {
    const { code, stdout } = await bed.bed.laptop.exec(
      ['script', '-qec', `stty cols 101 rows 33; ${program} attach kube:one`, '/dev/null'],
      { user: 'root', input: 'stty size; exit 3\n' },
    );
    assert.match(stdout, /33 101/);
    assert.equal(code, 3);
  });

  test('files go both ways, with rsync or tar', async () => {
    bed.bed.write('data/a b.txt', 'one');
    bed.bed.write('data/deep/c.txt', 'two');
    const up = await bed.run(['rsync-up', 'kube:one', './data/', '~/copied/']);
    assert.equal(up.code, 0, up.stderr);
    const there = await bed.run(['exec', 'kube:one', 'cat ~/copied/"a b.txt" ~/copied/deep/c.txt']);
    assert.equal(there.stdout, 'onetwo', there.stderr);
    const file = await bed.run(['rsync-up', 'kube:one', './data/deep/c.txt', '/tmp/renamed.txt']);
    assert.equal(file.code, 0, file.stderr);
    const down = await bed.run(['rsync-down', 'kube:one', '~/copied/', './back/']);
    assert.equal(down.code, 0, down.stderr);
    assert.equal(await bed.bed.on(bed.bed.laptop, 'cat back/"a b.txt" back/deep/c.txt'), 'onetwo');
    assert.equal((await bed.run(['exec', 'kube:one', 'cat /tmp/renamed.txt'])).stdout, 'two');
  });

  test("logs are those of Ray's container, or a file of Ray's own", async () => {
    const logs = await bed.run(['logs', 'kube:one', 'head']);
    assert.match(logs.stdout, /Ray runtime started/, logs.stderr);
    const file = await bed.run(['logs', 'kube:one', 'head', '--file', 'gcs_server.out', '--lines', '5']);
    assert.equal(file.code, 0, file.stderr);
    const other = await bed.run(['logs', 'kube:one', 'nobody']);
    assert.match(other.stderr, /MANTA_KUBE_NO_POD[\s\S]*one-head-/);
  });

  test("jobs are Ray's own where the pod has no mantad, and that is said", async () => {
    bed.bed.write('app/hello.py', 'print("hello from", __file__)\n');
    const ran = await bed.run(['job', 'submit', '-n', 'kube:one', '--working-dir', 'app', '--', 'python', 'hello.py']);
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(ran.stdout, /hello from/);
    assert.match(ran.stderr, /Ray's own jobs API/);
    const failed = await bed.run(['job', 'submit', '-n', 'kube:one', '--', 'false']);
    assert.notEqual(failed.code, 0);
    assert.match((await bed.run(['job', 'list', '-n', 'kube:one'])).stdout, /hello\.py/);
  });

  test('the rights that kube check prints are enough, and without create a WebSocket is refused', async () => {
    const bind = (role: string): string => `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: ada-${role}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: ${role}}
subjects: [{kind: User, name: ada}]
`;
    const printed = (await bed.run(['kube', 'check', '--rbac'])).stdout;
    const role = printed.split('\n---\n')[0]!;
    const narrow = role
      .replace('name: manta', 'name: narrow')
      .replace(/(pods\/exec[^\n]*\n\s*verbs: )\[get, create\]/, '$1[get]');
    assert.notEqual(narrow.replace('name: narrow', 'name: manta'), role);
    const ada = bed.kube.userConfig('ada');
    await bed.apply(`${narrow}\n---${bind('narrow')}`);
    const refused = await until('the role counts', async () => {
      const ran = await bed.run(['exec', 'kube:one', 'true'], ada);
      return /pods\/exec|run a command/.test(ran.stderr) && ran;
    });
    assert.deepEqual([refused.code, /MANTA_KUBE_FORBIDDEN/.test(refused.stderr)], [4, true], refused.stderr);
    await bed.apply(`${role}\n---${bind('manta')}`);
    const fine = await until('the other role counts', async () => {
      const ran = await bed.run(['exec', 'kube:one', 'echo yes'], ada);
      return ran.code === 0 && ran;
    });
    assert.equal(fine.stdout, 'yes\n');
    assert.match((await bed.run(['job', 'list', '-n', 'kube:one'], ada)).stderr, /Ray's own jobs API/);
  });

  test('the API server takes what cluster files are converted to', { skip: corpusMissing }, async () => {
    const files = corpusFiles().filter(({ name }) => /^(?:kubernetes__(?:modern|legacy)|aws__modern)/.test(name));
    const manifests: string[] = [];
    for (const { name, text } of files) {
      const loaded = readOpened({ file: name, bytes: Buffer.from(text), env: new Map() } as never);
      let out = '';
      const io = { json: true, out: (each: string) => (out += each) } as unknown as Io;
      if (toKuberay(loaded, name, io) !== 0) continue;
      const { manifest } = JSON.parse(out) as { manifest: { metadata: { name: string } } };
      manifests.push(yamlText({ ...manifest, metadata: { name: `c${manifests.length}` } }, 0));
    }
    assert.ok(manifests.length > 20, `${manifests.length} manifests`);
    const words = ['apply', '--server-side', '--dry-run=server', '--validate=strict', '-o', 'name', '-f', '-'];
    const taken = await bed.kube.kubectl(words, manifests.join('\n---\n'));
    assert.equal(taken.trim().split('\n').length, manifests.length);
  });

  test('forwarded ports find the new pod when the head is replaced', async () => {
    const held = bed.bed.start(['dashboard', 'kube:one', '--port-forward', '8000', '--no-open', '-p', '9265']);
    try {
      const version = (): Promise<string | false> =>
        bed.bed.on(bed.bed.laptop, 'curl -sS -m 20 http://localhost:9265/api/version').then(
          (text) => text.includes('ray_version') && text,
          () => false,
        );
      await until('the port leads to Ray', version, { pause: 1_000 });
      const before = await head();
      await bed.kube.kubectl(['delete', before.trim(), '--wait=true']);
      await until(
        'the head is another pod',
        async () => {
          const now = await head();
          return now !== '' && now !== before;
        },
        { pause: 1_000 },
      );
      await until('the port leads to the new pod', version, { pause: 1_000 });
    } finally {
      held.kill('SIGINT');
    }
  });
});
