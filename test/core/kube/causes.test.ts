import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podsCause, refusalCause } from '../../../src/core/kube/causes.ts';
import { unknownFieldsIn } from '../../../src/core/kube/fields.ts';
import { jobProgress } from '../../../src/core/kube/job-progress.ts';
import { readManifests } from '../../../src/core/kube/manifest.ts';
import type { JsonMap } from '../../../src/core/kube/object.ts';
import { progressOf } from '../../../src/core/kube/progress.ts';
import { checkManifest } from '../../../src/core/kube/rules/rules.ts';
import type { Cause } from '../../../src/core/progress.ts';
import { recording } from './recorded.ts';

const causeIn = (name: string): Cause | undefined => {
  const seen = progressOf({ ...recording(name), isReplaced: false });
  return seen.state === 'waiting' ? seen.cause : undefined;
};

test('objects of a real API server tell their first cause', () => {
  const expected: readonly (readonly [string, Cause['kind'], RegExp])[] = [
    ['cpu', 'unschedulable', /1 of 2 have too little cpu \(it asks for 64\)/],
    ['gpu', 'no device plugin', /no node offers nvidia\.com\/gpu/],
    ['taint', 'taint', /taint that it does not tolerate/],
    ['gated', 'gated', /example\.com\/quota/],
    ['claim', 'volume', /claims: data/],
    ['quota', 'quota', /'small'.*requested: pods=1, used: pods=0, limited: pods=0/],
    ['restricted', 'pod security', /'restricted:latest': allowPrivilegeEscalation/],
    ['image', 'image', /lab\/nothing/],
    ['login', 'image', /cannot be pulled/],
    ['crash', 'crash', /exit code 2/],
    ['memory', 'out of memory', /more memory than its limit/],
    ['secret', 'container settings', /secret "nothing" not found/],
    ['gcs', 'waits for the head', /reach the GCS/],
    ['probe', 'probe', /does not have/],
    ['unseen', 'not noticed', /has not looked at it yet/],
  ];
  for (const [name, kind, says] of expected) {
    const cause = causeIn(name);
    assert.equal(cause?.kind, kind, name);
    assert.match(cause.says, says, name);
    assert.notEqual(cause.next, '', name);
  }
  assert.match(causeIn('login')!.next, /imagePullSecrets/);
  assert.deepEqual(causeIn('crash')!.logs?.container, 'ray-head');
});

const pod = (more: JsonMap) => ({ metadata: { name: 'p', labels: { 'ray.io/node-type': 'head' } }, ...more });

test('a lost node, a missing wget and a wrong pull secret have words of their own', () => {
  const running = pod({
    spec: { nodeName: 'n' },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] },
  });
  const silent = { type: 'Ready', status: 'Unknown', message: 'Kubelet stopped posting node status.' };
  const node = { metadata: { name: 'n' }, status: { conditions: [silent] } };
  assert.equal(podsCause({ pods: [running], events: [], nodes: [node] })?.kind, 'node lost');
  const event = (reason: string, message: string) => ({
    type: 'Warning',
    reason,
    message,
    involvedObject: { name: 'p' },
  });
  const probe = event('Unhealthy', 'Readiness probe failed: bash: line 1: wget: command not found');
  assert.match(podsCause({ pods: [running], events: [probe] })?.says ?? '', /no wget/);
  const status = {
    name: 'c',
    image: 'i',
    state: { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "i"' } },
  };
  const pulling = pod({
    spec: { imagePullSecrets: [{ name: 'mine' }] },
    status: { phase: 'Pending', containerStatuses: [status] },
  });
  const denied = event('Failed', 'Failed to pull image "i": 401 Unauthorized');
  assert.match(podsCause({ pods: [pulling], events: [denied] })?.next ?? '', /pull secret 'mine'/);
});

test('refusals of the operator are told with their numbers', () => {
  const quota = {
    reason: 'FailedToCreateHeadPod',
    message: 'pods "x" is forbidden: failed quota: q: must specify limits.cpu for: h',
  };
  assert.deepEqual([refusalCause(quota).kind, refusalCause(quota).isFinal], ['quota', true]);
  assert.equal(refusalCause({ reason: 'InvalidRayClusterSpec', message: 'm' }).isFinal, true);
});

test('a RayJob is up when its entrypoint runs, and a failed one says why', () => {
  const at = (status: JsonMap) =>
    jobProgress({ job: { metadata: { name: 'j' }, spec: {}, status }, cluster: undefined, pods: [], events: [] });
  assert.equal(at({ jobDeploymentStatus: 'Running', jobStatus: 'RUNNING' }).state, 'done');
  assert.equal(at({ jobDeploymentStatus: 'Initializing' }).state, 'waiting');
  assert.equal(at({ jobDeploymentStatus: 'Waiting' }).state, 'done');
  const failed = at({ jobDeploymentStatus: 'Failed', jobStatus: 'FAILED', reason: 'AppFailed', message: 'boom' });
  assert.ok(failed.state === 'waiting' && failed.cause?.isFinal && /AppFailed.*boom/.test(failed.cause.says));
});

test('a field that the server does not know is told with its place and what may be meant', () => {
  const text =
    'apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: c}\nspec:\n  rayVersoin: "2"\n  tlsOptions: {}\n';
  const [manifest] = readManifests('f.yaml', text).manifests;
  const schema = { root: { properties: { spec: { properties: { rayVersion: {}, headGroupSpec: {} } } } }, all: {} };
  const refusal =
    'failed to create typed patch object: errors:\n  .spec.rayVersoin: field not declared in schema\n  .spec.tlsOptions: field not declared in schema';
  const found = unknownFieldsIn(refusal, manifest!, schema);
  assert.deepEqual(
    found.map(({ at }) => at),
    ['f.yaml:5:15', 'f.yaml:6:15'],
  );
  assert.match(found[0]!.says, /did you mean 'rayVersion'/);
  assert.match(found[1]!.says, /KubeRay 1\.7/);
});

test('what nobody means is warned of, with the position inside of a Serve config', () => {
  const text = `apiVersion: ray.io/v1
kind: RayService
metadata: {name: s}
spec:
  serveConfigV2: |
    applications:
      - name: a
        import_path: m:a
        runtime_env:
          env_vars:
            DB_CONFIG: '{"datastore_type": "sqlite", "password": "x"}'
      - name: b
        route_prefix: b/
        import_path: m:b
  rayClusterConfig:
    rayVersion: 2.20.0
    headGroupSpec:
      serviceType: LoadBalancer
      template: {spec: {containers: [{name: h, image: rayproject/ray:2.46.0, ports: [{name: dashboard, containerPort: 8265}]}]}}
    workerGroupSpecs:
      - {groupName: g, replicas: 1, minReplicas: 1, maxReplicas: 1, template: {spec: {volumes: [{name: d, hostPath: {path: /data}}], containers: [{name: w}]}}}
`;
  const { manifests } = readManifests('f', text);
  const findings = manifests.flatMap(checkManifest);
  assert.deepEqual(
    findings.filter(({ severity }) => severity === 'error'),
    [],
  );
  const said = (words: RegExp): number | undefined => findings.find(({ says }) => words.test(says))?.at.line;
  assert.equal(said(/holds a secret in clear text/), 11);
  assert.equal(said(/does not start with a slash/), 13);
  assert.equal(said(/2\.11 to 2\.37/), 16);
  for (const words of [
    /image has Ray 2\.46\.0/,
    /dashboard is open/,
    /none is named 'serve'/,
    /SQLite/,
    /keeps \/data/,
  ])
    assert.notEqual(said(words), undefined, String(words));
  const ingress =
    'apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i}\nspec: {defaultBackend: {service: {name: s-serve-svc}}}\n';
  assert.match(
    readManifests('f', ingress).manifests.flatMap(checkManifest)[0]?.says ?? '',
    /without any authentication/,
  );
});
