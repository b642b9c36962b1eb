import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Finding } from '../../../src/core/finding.ts';
import { changeOf, withLiveReplicas } from '../../../src/core/kube/change.ts';
import { readManifests } from '../../../src/core/kube/manifest.ts';
import type { JsonMap } from '../../../src/core/kube/object.ts';
import { checkManifest } from '../../../src/core/kube/rules/rules.ts';

const findingsOf = (text: string, file = 'f.yaml'): readonly Finding[] => {
  const { manifests, findings } = readManifests(file, text);
  return [...findings, ...manifests.flatMap(checkManifest)];
};

const raycluster = (spec: string, name = 'c'): string =>
  `apiVersion: ray.io/v1alpha1\nkind: RayCluster\nmetadata: {name: ${name}}\nspec:\n  rayVersion: 2.60.0\n${spec}`;

const head = '  headGroupSpec: {rayStartParams: {}, template: {spec: {containers: [{name: h, image: i}]}}}\n';

test('values mean what they mean to kubectl, positions hold in every document, and v1alpha1 becomes v1', () => {
  const data = 'a: y\nb: on\nc: 0o17\nd: 017\ne: 1:30\nf: 2020-01-01\ng: 1e3\nh: 1_000\ni: 0x1F\n';
  const text = `# first\n---\n${data}apiVersion: v1\nkind: X\nmetadata: {name: x}\n---\n${raycluster(head)}`;
  const { manifests, findings } = readManifests('f', text);
  assert.deepEqual(findings, []);
  const { apiVersion: _, kind: __, metadata: ___, ...values } = manifests[0]!.object;
  assert.deepEqual(
    { ...values },
    { a: true, b: true, c: 15, d: 15, e: '1:30', f: '2020-01-01', g: 1000, h: 1000, i: 31 },
  );
  assert.equal(manifests[1]!.object['apiVersion'], 'ray.io/v1');
  assert.equal(text.split('\n')[manifests[1]!.at(['kind']).line - 1], 'kind: RayCluster');
});

test('mistakes that the operator refuses, or never gets to work, are found before anything is sent', () => {
  const bad: readonly [string, RegExp][] = [
    ['a: {{ .Values.a }}', /Helm template/],
    ['apiVersion: cluster.ray.io/v1\nkind: RayCluster', /that KubeRay replaced/],
    ['a: [', /./],
    [raycluster(head, 'a'.repeat(54)), /has 54 characters/],
    [raycluster(head, 'Big_Name'), /not a valid name/],
    [raycluster('  headGroupSpec: {template: {spec: {containers: []}}}'), /no container/],
    [raycluster(head.replace('{}', '{num-cpus: 0}')), /must be a string, not 0/],
    [
      raycluster(
        `${head}  workerGroupSpecs: [{groupName: g, minReplicas: 3, maxReplicas: 2, template: {spec: {containers: [{}]}}}]`,
      ),
      /minReplicas 3/,
    ],
  ];
  for (const [text, says] of bad) {
    const [first] = findingsOf(text);
    assert.match(first?.says ?? 'nothing was found', says, text);
    assert.equal(first?.severity, 'error');
  }
});

test('replicas that an autoscaler owns are sent as they are, and variables are not shown in a difference', () => {
  const object = {
    kind: 'RayCluster',
    spec: { enableInTreeAutoscaling: true, workerGroupSpecs: [{ groupName: 'g', replicas: 0 }] },
  };
  const live = { spec: { workerGroupSpecs: [{ groupName: 'g', replicas: 7 }] } };
  const sent = withLiveReplicas(object, live) as { spec: { workerGroupSpecs: JsonMap[] } };
  assert.equal(sent.spec.workerGroupSpecs[0]!['replicas'], 7);
  const pod = (value: string) => ({ spec: { headGroupSpec: { template: { env: [{ name: 'DB', value }] } } } });
  const change = changeOf('RayCluster', pod('one'), pod('two'));
  assert.equal(change.effect, 'nothing will happen');
  assert.ok(!/one|two/.test(JSON.stringify(change)));
  assert.equal(
    changeOf('RayCluster', live, { spec: { workerGroupSpecs: [{ groupName: 'g', replicas: 8 }] } }).effect,
    'in place',
  );
  assert.equal(changeOf('RayCluster', live, live).effect, 'unchanged');
  const head = (password: string) => ({
    metadata: { annotations: { 'example.com/token': password } },
    spec: { headGroupSpec: { rayStartParams: { 'redis-password': password } } },
  });
  const renewed = changeOf('RayCluster', head('one'), head('two'));
  assert.equal(renewed.differences.length, 2);
  assert.ok(!/"(?:one|two)"/.test(JSON.stringify(renewed)));
});

const corpus = join(fileURLToPath(new URL('../../../../shared/corpus/kube', import.meta.url)));

test('manifests that people really have are read', {
  skip: existsSync(corpus) ? false : 'the shared data is missing',
}, () => {
  const files = readdirSync(corpus).filter((file) => /\.ya?ml$/.test(file));
  const refused = files.filter((file) =>
    findingsOf(readFileSync(join(corpus, file), 'utf8'), file).some(({ severity }) => severity === 'error'),
  );
  assert.equal(files.length, 225);
  // Templates, the older operator, no YAML, no name, numbers in rayStartParams, what the operator and Serve refuse.
  assert.equal(refused.length, 35);
});
