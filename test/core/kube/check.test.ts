import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CheckLine, checkCluster, type KubeFacts } from '../../../src/core/kube/check.ts';
import type { Json } from '../../../src/core/kube/object.ts';
import { permissions, roleManifest } from '../../../src/core/kube/permissions.ts';
import { bytesText, readQuantity } from '../../../src/core/kube/quantity.ts';

const node = (name: string, more: { ready?: boolean; allocatable?: Json; labels?: Json } = {}): Json => ({
  metadata: { name, labels: more.labels ?? {} },
  status: {
    allocatable: more.allocatable ?? { cpu: '3920m', memory: '16Gi' },
    conditions: [{ type: 'Ready', status: more.ready === false ? 'Unknown' : 'True' }],
  },
});

const operator = (args: readonly string[], availableReplicas = 1): Json => ({
  metadata: { name: 'kuberay-operator', namespace: 'kuberay' },
  spec: { template: { spec: { containers: [{ image: 'quay.io/kuberay/operator:v1.6.2', args }] } } },
  status: { availableReplicas },
});

const fine: KubeFacts = {
  server: 'https://k',
  context: 'c',
  namespace: 'ray',
  user: 'ada',
  version: 'v1.35.4',
  missing: [],
  rayResources: ['rayclusters', 'rayclusters/status', 'rayjobs', 'rayservices', 'raycronjobs'],
  operators: { value: [operator([])] },
  nodes: { value: [node('n1'), node('n2', { allocatable: { cpu: '8', memory: '32Gi', 'nvidia.com/gpu': '2' } })] },
  quotas: { value: [] },
  storageClasses: {
    value: [
      {
        metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      },
    ],
  },
  namespaceObject: { value: { metadata: { name: 'ray', labels: {} } } },
};

const lineOf = (facts: Partial<KubeFacts>, what: string): CheckLine => {
  const found = checkCluster({ ...fine, ...facts }).find((line) => line.what === what);
  assert.ok(found, `no line about ${what}`);
  return found;
};

test('a cluster that has everything is fine, and each line says what was found', () => {
  const lines = checkCluster(fine);
  assert.deepEqual([...new Set(lines.map(({ state }) => state))], ['ok']);
  assert.equal(lineOf({}, 'operator').says, 'KubeRay 1.6.2 in kuberay/kuberay-operator, watching all namespaces');
  assert.equal(lineOf({}, 'nodes').says, '2 of 2 ready, with 11.9 CPUs and 48Gi of memory');
  assert.equal(lineOf({}, 'accelerators').says, '2 nvidia.com/gpu');
  assert.equal(lineOf({}, 'storage').says, 'standard (default)');
});

test('every line that is not fine says what to do', () => {
  const bad: readonly [Partial<KubeFacts>, string, CheckLine['state'], RegExp][] = [
    [{ namespaceObject: { value: undefined } }, 'namespace', 'failed', /no namespace 'ray'/],
    [{ rayResources: [] }, 'CRDs', 'failed', /not installed/],
    [{ rayResources: ['rayclusters', 'rayjobs'] }, 'CRDs', 'failed', /lacks rayservices/],
    [{ operators: { value: [] } }, 'operator', 'warning', /no Deployment/],
    [{ operators: { value: [operator([], 0)] } }, 'operator', 'failed', /is not running/],
    [{ operators: { value: [operator(['--watch-namespace=a,b'])] } }, 'operator', 'failed', /watches a, b only/],
    [{ operators: { value: [operator(['--watch-namespace', 'ray'])] } }, 'operator', 'ok', /watching ray/],
    [{ nodes: { value: [] } }, 'nodes', 'failed', /no nodes/],
    [{ nodes: { value: [node('a'), node('b', { ready: false })] } }, 'nodes', 'warning', /not ready: b/],
    [
      { nodes: { value: [node('g', { labels: { 'cloud.google.com/gke-accelerator': 'nvidia-l4' } })] } },
      'accelerators',
      'failed',
      /no device plugin/,
    ],
    [{ nodes: { denied: 'list nodes' } }, 'nodes', 'unknown', /you are not allowed to see this/],
    [
      {
        quotas: {
          value: [
            { metadata: { name: 'q' }, status: { hard: { pods: '2', cpu: '4' }, used: { pods: '2', cpu: '500m' } } },
          ],
        },
      },
      'quota',
      'warning',
      /'q': pods 2 of 2 \(used up\)/,
    ],
    [{ storageClasses: { value: [] } }, 'storage', 'warning', /no storage class/],
    [
      { namespaceObject: { value: { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } } } },
      'pod security',
      'warning',
      /restricted/,
    ],
    [
      {
        missing: [
          { group: '', resource: 'pods', verb: 'get', for: 'status' },
          { group: '', resource: 'pods', verb: 'list', for: 'status' },
        ],
      },
      'permissions',
      'failed',
      /you may not get\/list pods in 'ray'/,
    ],
  ];
  for (const [facts, what, state, says] of bad) {
    const line = lineOf(facts, what);
    assert.equal(line.state, state, line.says);
    assert.match(line.says, says);
    assert.equal(line.next !== undefined, state !== 'ok', line.says);
  }
});

test('the role that is printed has every permission that is checked', () => {
  const text = roleManifest('ray');
  assert.match(text, /^ {2}namespace: ray$/m);
  for (const { resources, verbs } of permissions) {
    assert.ok(text.includes(`resources: [${resources.join(', ')}]\n    verbs: [${verbs.join(', ')}]`));
  }
});

test('quantities are read as Kubernetes reads them', () => {
  const table: readonly [unknown, number | undefined][] = [
    ['500m', 0.5],
    ['28G', 28e9],
    ['95Gi', 95 * 2 ** 30],
    ['1e3', 1000],
    ['1E', 1e18],
    ['.5', 0.5],
    [3, 3],
    ['4gb', undefined],
    ['1 Gi', undefined],
    ['', undefined],
    [null, undefined],
  ];
  for (const [text, value] of table) assert.equal(readQuantity(text), value, String(text));
  assert.deepEqual([512, 2 ** 20, 1.5 * 2 ** 30].map(bytesText), ['512', '1Mi', '1.5Gi']);
});
