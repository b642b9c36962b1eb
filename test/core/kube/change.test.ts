import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeOf, withLiveReplicas, withoutKueueFields } from '../../../src/core/kube/change.ts';
import type { JsonMap } from '../../../src/core/kube/object.ts';
import { keeperOf, orphanedFields, takeOver } from '../../../src/core/kube/owners.ts';
import { roomFor } from '../../../src/core/kube/room.ts';

const group = (name: string, more: JsonMap = {}) => ({
  groupName: name,
  replicas: 1,
  template: { spec: { containers: [] } },
  ...more,
});
const service = (more: { config?: JsonMap; serve?: string; strategy?: JsonMap } = {}) => ({
  metadata: { name: 's' },
  spec: {
    serveConfigV2:
      more.serve ??
      'applications: [{name: a, import_path: "m:a", runtime_env: {env_vars: {DB: one}}, deployments: [{name: D, num_replicas: 1}]}]',
    rayClusterConfig: { rayVersion: '2.60.0', workerGroupSpecs: [group('g')], ...more.config },
    ...(more.strategy && { upgradeStrategy: more.strategy }),
  },
});
const effectOf = (after: JsonMap, before: JsonMap = service()) => changeOf('RayService', before, after).effect;

test('a RayService changes in place, with a new cluster, or not at all', () => {
  const serve = service().spec.serveConfigV2.replace('num_replicas: 1', 'num_replicas: 2');
  assert.equal(effectOf(service()), 'unchanged');
  assert.equal(effectOf(service({ serve })), 'in place');
  assert.equal(effectOf(service({ config: { rayVersion: '2.61.0' } })), 'new cluster');
  assert.equal(effectOf(service({ config: { workerGroupSpecs: [] } })), 'new cluster');
  assert.equal(effectOf(service({ config: { workerGroupSpecs: [group('h'), group('g')] } })), 'new cluster');
  assert.equal(effectOf(service({ config: { workerGroupSpecs: [group('g'), group('h')] } })), 'in place');
  assert.equal(
    effectOf(service({ config: { workerGroupSpecs: [group('g', { replicas: 5, maxReplicas: 9 })] } })),
    'nothing will happen',
  );
  const tolerant = group('g', { template: { spec: { containers: [], tolerations: [{ operator: 'Exists' }] } } });
  assert.equal(effectOf(service({ config: { workerGroupSpecs: [tolerant] } })), 'nothing will happen');
  const none = { strategy: { type: 'None' } };
  assert.equal(effectOf(service({ ...none, config: { rayVersion: '2.61.0' } }), service(none)), 'nothing will happen');
  assert.equal(effectOf(service({ ...none, serve, config: { rayVersion: '2.61.0' } }), service(none)), 'in place');
});

test('a Serve config is shown by what differs in each application, and never with its variables', () => {
  const serve = service().spec.serveConfigV2.replace('num_replicas: 1', 'num_replicas: 2').replace('one', 'two');
  const { differences, notes } = changeOf('RayService', service(), service({ serve }));
  assert.deepEqual(
    differences.map(({ path }) => path),
    ['spec.serveConfigV2 a.runtime_env.env_vars.DB', 'spec.serveConfigV2 a.deployments[0].num_replicas'],
  );
  assert.ok(!/one|two/.test(JSON.stringify(differences)));
  assert.deepEqual(notes, ["the application 'a' is loaded again"]);
});

test('an incremental upgrade is explained', () => {
  const strategy = {
    type: 'NewClusterWithIncrementalUpgrade',
    clusterUpgradeOptions: { stepSizePercent: 5, intervalSeconds: 10, gatewayClassName: 'g' },
  };
  const { effect, notes } = changeOf(
    'RayService',
    service({ strategy }),
    service({ strategy, config: { rayVersion: '2.61.0' } }),
  );
  assert.equal(effect, 'new cluster');
  assert.match(notes[0]!, /incremental upgrade \(alpha\).*by 5 % every 10 s through the gateway 's-gateway'/);
});

test('a RayJob that runs does not follow its manifest', () => {
  const job = (entrypoint: string, suspend = false) => ({ spec: { entrypoint, suspend } });
  assert.equal(changeOf('RayJob', job('a'), job('b')).effect, 'nothing will happen');
  assert.equal(changeOf('RayJob', job('a'), job('a', true)).effect, 'in place');
});

test('replicas that a manifest leaves out stay, and suspend of Kueue is not sent', () => {
  const object = {
    kind: 'RayCluster',
    spec: { suspend: false, workerGroupSpecs: [{ groupName: 'g' }, { groupName: 'h', replicas: 2 }] },
  };
  const live = {
    metadata: { labels: { 'kueue.x-k8s.io/queue-name': 'q' } },
    spec: {
      suspend: true,
      workerGroupSpecs: [
        { groupName: 'g', replicas: 3 },
        { groupName: 'h', replicas: 4 },
      ],
    },
  };
  const sent = withoutKueueFields(withLiveReplicas(object, live), live) as {
    spec: JsonMap & { workerGroupSpecs: JsonMap[] };
  };
  assert.deepEqual(
    sent.spec.workerGroupSpecs.map((each) => each['replicas']),
    [3, 2],
  );
  assert.equal('suspend' in sent.spec, false);
});

/** As kube-apiserver leaves it after `kubectl apply`, and after a status update of the operator. */
const applied = {
  metadata: {
    name: 'c',
    managedFields: [
      {
        manager: 'kubectl-client-side-apply',
        operation: 'Update',
        apiVersion: 'ray.io/v1',
        time: '2026-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:spec': { 'f:rayVersion': {}, 'f:suspend': {}, 'f:autoscalerOptions': { '.': {}, 'f:env': {} } },
        },
      },
      { manager: 'kuberay-operator', operation: 'Update', subresource: 'status', fieldsV1: { 'f:status': {} } },
    ],
  },
  spec: { rayVersion: '2.60.0', suspend: false, autoscalerOptions: { env: [] } },
};

test('fields of plain kubectl apply are taken over, so that those which are gone from the manifest go', () => {
  const owners = takeOver(applied, 'manta')!;
  assert.deepEqual(
    owners.map((each) => [(each as JsonMap)['manager'], (each as JsonMap)['operation']]),
    [
      ['kuberay-operator', 'Update'],
      ['manta', 'Apply'],
    ],
  );
  assert.deepEqual(orphanedFields(applied, { spec: { rayVersion: '2.61.0', autoscalerOptions: {} } }), [
    'spec.suspend',
    'spec.autoscalerOptions.env',
  ]);
  assert.equal(takeOver({ metadata: { managedFields: owners } }, 'manta'), undefined);
});

test('who else keeps an object is known', () => {
  const by = (manager: string) => ({ metadata: { managedFields: [{ manager, operation: 'Apply' }] } });
  assert.match(keeperOf(by('argocd-controller')) ?? '', /Argo CD/);
  assert.match(keeperOf(by('kustomize-controller')) ?? '', /Flux/);
  assert.match(
    keeperOf({ metadata: { annotations: { 'meta.helm.sh/release-name': 'r' } } }) ?? '',
    /Helm \(release 'r'\)/,
  );
  assert.equal(keeperOf(applied), undefined);
});

const machine = (name: string, allocatable: JsonMap, taints: readonly JsonMap[] = []) => ({
  metadata: { name, labels: { zone: name } },
  spec: { taints },
  status: { allocatable: { pods: '110', ...allocatable }, conditions: [{ type: 'Ready', status: 'True' }] },
});
const wanted = (requests: JsonMap, more: JsonMap = {}) => ({
  headGroupSpec: { template: { spec: { containers: [{ resources: { requests } }], ...more } } },
});

test('room is counted beside the pods that are there, with taints and labels', () => {
  const nodes = [machine('a', { cpu: '4', memory: '8Gi', 'ephemeral-storage': '40Gi' })];
  const pods = [
    { spec: { nodeName: 'a', containers: [{ resources: { requests: { cpu: '2' } } }] }, status: { phase: 'Running' } },
  ];
  assert.equal(roomFor(wanted({ cpu: '2' }), nodes, pods).fits, true);
  const aana = roomFor(wanted({ cpu: '3', memory: '28G', 'ephemeral-storage': '95Gi' }), nodes, pods);
  assert.equal(aana.fits, false);
  for (const said of [/3 cpu.*2 cpu/, /26\.1Gi of memory.*8Gi/, /95Gi of ephemeral-storage.*40Gi/])
    assert.match(aana.says, said);
  const tainted = [machine('a', { cpu: '4' }, [{ key: 'team', value: 'x', effect: 'NoSchedule' }])];
  assert.match(roomFor(wanted({ cpu: '1' }), tainted, []).says, /does not tolerate.*team=x:NoSchedule/);
  const tolerant = wanted({ cpu: '1' }, { tolerations: [{ key: 'team', operator: 'Exists' }] });
  assert.equal(roomFor(tolerant, tainted, []).fits, true);
});
