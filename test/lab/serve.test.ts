// needs: ray, hosts

/** `manta serve` on a host of one's own, with real Ray. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type LabHost, labProblem } from '../../lab/lab.ts';
import { FaultBed } from './fault-bed.ts';

const code = `
from ray import serve
@serve.deployment
def hello(request):
    return "served"
app = hello.bind()
`;

describe('manta serve', { skip: labProblem() ?? false }, () => {
  let bed: FaultBed;
  let head: LabHost;
  before(async () => {
    bed = await FaultBed.open({ hosts: [{}], ray: true });
    head = bed.hosts[0] as LabHost;
    await bed.must('up', '-y', bed.cluster({ name: 'team', head }));
    await head.must('mkdir -p app && cd app && cat > hello.py && python3 -m zipfile -c ~/app.zip hello.py', {
      input: code,
    });
  });
  after(() => bed?.close());

  const manta = (...words: readonly string[]) => bed.manta(...words);

  const config = (more: string): string =>
    [
      'applications:',
      '  - name: hello',
      '    route_prefix: /hello',
      '    runtime_env: {working_dir: "file:///root/app.zip"}',
      '    deployments: [{name: hello, ray_actor_options: {num_cpus: 0.1}}]',
      `    ${more}`,
      '',
    ].join('\n');

  const deploy = async (text: string, ...words: readonly string[]) => {
    await bed.laptop.must('cat > serve.yaml', { input: text });
    return await manta('serve', 'deploy', '-y', ...words, 'serve.yaml', 'team');
  };

  it('deploys on loopback, scales, tells, refuses what Serve refuses, and shuts down', async () => {
    const made = await deploy(config('import_path: hello:app'));
    assert.equal(made.code, 0, made.shown);
    assert.match(made.shown, /application 'hello': added/);
    assert.match(made.shown, /listens on 127\.0\.0\.1/);
    assert.equal(await head.must('curl -s localhost:8000/hello'), 'served');
    assert.match(await head.must("ss -Hltn | awk '{print $4}'"), /^127\.0\.0\.1:8000$/m);

    const scaled = await manta('serve', 'scale', 'hello/hello', '2', 'team');
    assert.equal(scaled.code, 0, scaled.shown);
    const status = await manta('serve', 'status', 'team');
    assert.match(status.shown, /'hello' at \/hello: RUNNING[\s\S]*hello: HEALTHY, 2 of 2 replicas/);
    const written = await manta('serve', 'config', 'team');
    assert.match(written.shown, /import_path: "?hello:app"?[\s\S]*num_replicas: 2/);
    const again = await deploy(written.shown, '--plan');
    assert.match(again.shown, /application 'hello': unchanged/);

    const bad = await deploy(config('import_path: hello'));
    assert.equal(bad.code, 1);
    assert.match(bad.shown, /serve\.yaml:6:\d+: error: 'hello' does not say where the application is/);
    const missing = await deploy(config('import_path: hello:nothing'));
    assert.equal(missing.code, 1);
    assert.match(missing.shown, /failed to deploy[\s\S]*nothing/);

    const down = await manta('serve', 'shutdown', '-y', 'team');
    assert.equal(down.code, 0, down.shown);
    assert.match((await manta('serve', 'status', 'team')).shown, /Serve does not run/);
  });
});
