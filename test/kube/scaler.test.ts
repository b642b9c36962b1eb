import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Manifest, readManifests } from '../../src/core/kube/manifest.ts';
import { dig, type Json, listAt, textAt } from '../../src/core/kube/object.ts';
import { canHaveScaler, scalerProblem, withScaler } from '../../src/kube/scaler.ts';
import { podRuntime } from '../../src/launcher/head/pod-runtime.ts';
import { never } from '../contract/waiting.ts';

const text = `
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: demo, annotations: {own: "1"}}
spec:
  rayVersion: 2.60.0
  autoscalerOptions:
    version: v2
    idleTimeoutSeconds: 30
    env: [{name: KEPT, value: "1"}, {name: PATH, value: /elsewhere}]
  headGroupSpec:
    rayStartParams: {}
    template:
      spec:
        containers:
          - {name: ray-head, image: ray, env: [{name: OWN, value: x}], resources: {limits: {cpu: 1}}}
          - {name: sidecar, image: other}
        volumes: [{name: data, emptyDir: {}}]
  workerGroupSpecs: []
`;
const read = (from = text): Manifest => readManifests('demo.yaml', from).manifests[0]!;
const order = { image: 'node:24', runtime: Buffer.from('packed'), token: 'secret' };
const named = (list: readonly Json[], name: string): Json | undefined =>
  list.find((each) => textAt(each, 'name') === name);

describe("a RayCluster with Manta's planner", () => {
  test('keeps what it had, and has what the planner needs', () => {
    const [config, secret, { object } = read()] = withScaler(read(), order);
    assert.deepEqual(
      [config?.kind, config?.name, secret?.kind, secret?.name],
      ['ConfigMap', 'demo-manta', 'Secret', 'demo-manta'],
    );
    const options = dig(object, 'spec', 'autoscalerOptions');
    assert.equal(dig(object, 'spec', 'enableInTreeAutoscaling'), true);
    assert.equal(dig(options, 'version'), undefined, 'v2 would never start a container again');
    assert.deepEqual([dig(options, 'image'), dig(options, 'idleTimeoutSeconds')], ['node:24', 30]);
    assert.equal(textAt(named(listAt(options, 'env'), 'KEPT'), 'value'), '1');
    assert.match(textAt(named(listAt(options, 'env'), 'PATH'), 'value') ?? '', /^\/manta\/bin:\/usr\/local/);
    const pod = dig(object, 'spec', 'headGroupSpec', 'template', 'spec');
    assert.deepEqual(
      listAt(pod, 'volumes').map((each) => textAt(each, 'name')),
      ['data', 'manta-programs', 'manta-token', 'manta-state'],
    );
    assert.equal(dig(named(listAt(pod, 'volumes'), 'manta-programs'), 'configMap', 'defaultMode'), 0o755);
    assert.equal(textAt(named(listAt(pod, 'containers', 0, 'env'), 'OWN'), 'value'), 'x');
    assert.equal(dig(pod, 'containers', 1, 'env'), undefined);
    assert.deepEqual(dig(object, 'metadata', 'annotations'), { own: '1', 'manta/owner-token': 'demo-manta' });
  });

  test('is the same when it is rewritten again', () => {
    const [, , once] = withScaler(read(), order);
    const [, , twice] = withScaler(once!, order);
    assert.deepEqual(twice!.object, once!.object);
  });

  test('has a Service in front of it where that is asked for', () => {
    const [, , service, { object } = read()] = withScaler(read(), { ...order, service: true });
    assert.equal(service?.kind, 'Service');
    const labels = dig(object, 'spec', 'headGroupSpec', 'template', 'metadata', 'labels');
    assert.deepEqual(dig(service?.object, 'spec', 'selector'), labels);
    const env = listAt(object, 'spec', 'autoscalerOptions', 'env');
    assert.equal(textAt(named(env, 'MANTA_SERVICE'), 'value'), 'demo-manta');
  });

  test('keeps its queue on the claim that is named', () => {
    const [, , { object } = read()] = withScaler(read(), { ...order, claim: 'queue' });
    const volumes = listAt(object, 'spec', 'headGroupSpec', 'template', 'spec', 'volumes');
    assert.deepEqual(dig(named(volumes, 'manta-state'), 'persistentVolumeClaim'), { claimName: 'queue' });
  });

  test('may stand in a RayService, and a group without CPUs is named before anything is applied', () => {
    const inside = text.split('\nspec:\n')[1]!.replaceAll(/^/gm, '  ');
    const service = read(
      `apiVersion: ray.io/v1\nkind: RayService\nmetadata: {name: s}\nspec:\n  rayClusterConfig:\n${inside}`,
    );
    const [, , { object } = read()] = withScaler(service, order);
    assert.equal(dig(object, 'spec', 'rayClusterConfig', 'enableInTreeAutoscaling'), true);
    assert.equal(scalerProblem(service), undefined);
    assert.match(
      scalerProblem(read(text.replace('{cpu: 1}', '{memory: 1Gi}'))) ?? '',
      /'headgroup' does not say how many CPUs/,
    );
    assert.equal(canHaveScaler(read('{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {}}')), false);
  });
});

describe('the programs for a head pod', () => {
  let scratch = '';
  let runtime: Buffer;
  before(async () => {
    scratch = mkdtempSync(join(tmpdir(), 'manta-pod-'));
    runtime = await podRuntime({ ...process.env, XDG_CACHE_HOME: join(scratch, 'cache') }, never);
  });
  after(() => rmSync(scratch, { recursive: true, force: true }));

  test('fit into a ConfigMap, with room to grow', () => {
    const [config] = withScaler(read(), { ...order, runtime });
    const texts = Object.values((dig(config?.object, 'data') ?? {}) as Record<string, string>);
    const size = runtime.length + texts.reduce((sum, each) => sum + Buffer.byteLength(each), 0);
    // An API server takes 1 MiB in one of them.
    assert.ok(size < 0.9 * 2 ** 20, `${size} bytes`);
  });

  test('are unpacked and started by what KubeRay calls ray, also in a login shell that forgets PATH', () => {
    const [config] = withScaler(read(), { ...order, runtime });
    const bin = join(scratch, 'bin');
    const path = join(scratch, 'path');
    for (const folder of [bin, path]) mkdirSync(folder);
    const data = (dig(config?.object, 'data') ?? {}) as Record<string, string>;
    for (const [name, content] of Object.entries(data))
      writeFileSync(join(bin, name), content.replaceAll('/manta/bin', bin), { mode: 0o755 });
    writeFileSync(join(bin, 'runtime.json.gz'), runtime);
    symlinkSync(process.execPath, join(bin, 'node'));
    for (const flags of [['-c'], ['-cl']]) {
      const home = join(scratch, `home${flags.join('')}`);
      const ray = spawnSync('/bin/bash', [...flags, '--', 'ray kuberay-autoscaler'], {
        env: { PATH: `${bin}:/usr/bin:/bin`, HOME: bin, MANTA_HOME: home },
        encoding: 'utf8',
      });
      assert.match(ray.stderr, /usage: kube kuberay-autoscaler/, ray.stdout);
      assert.ok(existsSync(join(home, 'runtime')));
    }
    const empty = spawnSync('/bin/sh', [join(bin, 'ray')], { env: { PATH: path }, encoding: 'utf8' });
    assert.deepEqual([empty.status, /has no Node; give --image/.test(empty.stderr)], [1, true]);
    assert.match(readFileSync(join(bin, 'ray'), 'utf8'), /^#!\/bin\/sh\n/);
  });
});
