// needs: openssl, ray, hosts, podman, kube

/** RayServices and Serve on real KubeRay, kubelet and Ray: what a change does, when it is done, and why it is not. */
import assert from 'node:assert/strict';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { after, before, describe, test } from 'node:test';
import yazl from 'yazl';
import { KubeBed, kubeProblem } from './kube-bed.ts';

const code = `
from ray import serve

@serve.deployment
class Hello:
    async def __call__(self, request):
        return "hello"

@serve.deployment
class Broken:
    def __init__(self):
        raise RuntimeError("the model is missing")

app = Hello.bind()
broken = Broken.bind()
`;

describe('RayServices', { skip: kubeProblem() ?? false }, () => {
  let bed: KubeBed;
  let files: string;
  before(async () => {
    bed = await KubeBed.open();
    const zip = new yazl.ZipFile();
    zip.addBuffer(Buffer.from(code), 'project/hello.py');
    zip.end();
    bed.bed.write('served/page.zip', '<html>this is no archive</html>');
    await pipeline(zip.outputStream, createWriteStream(join(bed.bed.laptop.root, 'root/served/app.zip')));
    files = await bed.kube.serveFiles('/root/served');
  });
  after(() => bed?.close());

  const config = (more: { replicas?: number | string; path?: string; zip?: string } = {}): string =>
    [
      'applications:',
      '- name: hello',
      '  route_prefix: /',
      `  import_path: hello:${more.path ?? 'app'}`,
      `  runtime_env: {working_dir: "${files}/${more.zip ?? 'app.zip'}"}`,
      `  deployments: [{name: ${more.path === 'broken' ? 'Broken' : 'Hello'}, num_replicas: ${more.replicas ?? 1}, ray_actor_options: {num_cpus: 0.1}}]`,
      '',
    ].join('\n');

  const service = (name: string, serve: string, more: { cpu?: string; env?: string } = {}): string => `
apiVersion: ray.io/v1
kind: RayService
metadata: {name: ${name}}
spec:
  serveConfigV2: |
${serve.replaceAll(/^/gm, '    ')}
  rayClusterConfig:
    rayVersion: 2.60.0
    headGroupSpec:
      rayStartParams: {num-cpus: "1"}
      template:
        spec:
          containers:
            - name: ray-head
              image: ${bed.rayImage}
              env: [{name: MARK, value: "${more.env ?? 'one'}"}]
              resources: {limits: {memory: 3Gi}, requests: {cpu: ${more.cpu ?? '200m'}, memory: 1Gi}}
`;

  const apply = (text: string, ...words: readonly string[]) => {
    bed.bed.write('service.yaml', text);
    return bed.run(['kube', 'apply', '--yes', ...words, 'service.yaml']);
  };

  const active = async (name: string): Promise<string> =>
    (await bed.get<{ status: { activeServiceStatus: { rayClusterName: string } } }>('rayservice', name)).status
      .activeServiceStatus.rayClusterName;

  const running = async (name: string): Promise<number> => {
    const head = await active(name);
    const raw = [
      'get',
      '--raw',
      `/api/v1/namespaces/default/services/${head}-head-svc:8265/proxy/api/serve/applications/`,
    ];
    const details = JSON.parse(await bed.kube.kubectl(raw)) as {
      applications: Record<string, { deployments: Record<string, { replicas: { state: string }[] }> }>;
    };
    return details.applications['hello']!.deployments['Hello']!.replicas.filter(({ state }) => state === 'RUNNING')
      .length;
  };

  test('it serves when it says so, changes in place, refuses a bad config, and goes back', async () => {
    const made = await apply(service('hello', config()));
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stdout, /RayService 'hello': created \(there is room\)/);
    const answer = ['get', '--raw', '/api/v1/namespaces/default/services/hello-serve-svc:8000/proxy/'];
    assert.equal(await bed.kube.kubectl(answer), 'hello');

    const more = await apply(service('hello', config({ replicas: 2 })));
    assert.equal(more.code, 0, more.stderr);
    assert.match(more.stdout, /changed in place[\s\S]*'hello' changes in place[\s\S]*num_replicas: 1 -> 2/);
    assert.equal(await running('hello'), 2);

    const broken = await apply(service('hello', config({ path: 'broken' })));
    assert.equal(broken.code, 1);
    assert.match(broken.stderr, /failed to deploy[\s\S]*the model is missing/);
    const back = await bed.run(['kube', 'apply', '--yes', '--rollback', 'rayservice/hello']);
    assert.equal(back.code, 0, back.stderr);
    assert.equal(await running('hello'), 2);
  });

  test('manta serve changes a RayService where KubeRay has its config from', async () => {
    bed.bed.write('config.yaml', config({ replicas: 1 }));
    const deployed = await bed.run(['serve', 'deploy', '--yes', 'config.yaml', 'kube:rayservice/hello']);
    assert.equal(deployed.code, 0, deployed.stderr);
    assert.match(deployed.stdout, /application 'hello': changed in place[\s\S]*num_replicas: 2 -> 1/);
    const scaled = await bed.run(['serve', 'scale', 'hello/Hello', '2', 'kube:hello']);
    assert.equal(scaled.code, 0, scaled.stderr);
    assert.equal(await running('hello'), 2);
    const down = await bed.run(['serve', 'shutdown', '--yes', 'kube:hello']);
    assert.match(down.stderr, /KubeRay would deploy them again/);
  });

  test('a config that Serve refuses ends it with the words of Serve, and what ran goes on', async () => {
    const refused = config({ replicas: 2 }).replace(
      'num_cpus: 0.1',
      'num_cpus: 0.1, label_selector: {"not a label!": x}',
    );
    const answer = await apply(service('hello', refused));
    assert.equal(answer.code, 1);
    assert.match(answer.stderr, /Serve refuses its config[\s\S]*label/);
    assert.equal(await running('hello'), 2);
  });

  test('code that cannot be fetched is told apart from code that fails', async () => {
    const missing = await apply(service('hello', config({ zip: 'nothing.zip' })));
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /nothing\.zip answers 404/);
    const page = await apply(service('hello', config({ zip: 'page.zip' })));
    assert.match(page.stderr, /page\.zip is not a zip file/);
    const back = await bed.run(['kube', 'apply', '--yes', '--rollback', 'service.yaml']);
    assert.equal(back.code, 0, back.stderr);
  });

  test('another cluster takes over when the pods change, and one without room says so', async () => {
    const before = await active('hello');
    const big = await apply(service('hello', config({ replicas: 2 }), { cpu: '64' }), '--timeout', '5');
    assert.match(big.stdout, /a new cluster takes over \(there is no room now\)[\s\S]*asks for 64 cpu/);
    assert.match(big.stderr, /no room for the new cluster '.*' beside '.*'[\s\S]*too little cpu/);
    const other = await apply(service('hello', config({ replicas: 2 }), { env: 'two' }));
    assert.equal(other.code, 0, other.stderr);
    assert.notEqual(await active('hello'), before);
    assert.equal(await running('hello'), 2);
  });

  test('what KubeRay would not do is told before it is asked for', async () => {
    const plan = await bed.run(['kube', 'apply', '--plan', 'service.yaml']);
    assert.match(plan.stdout, /unchanged/);
    const gone = await bed.run(['kube', 'delete', '--yes', 'rayservice/hello']);
    assert.equal(gone.code, 0, gone.stderr);
    assert.equal(await bed.kube.kubectl(['get', 'rayservices,secrets', '--no-headers', '--ignore-not-found']), '');
  });
});
