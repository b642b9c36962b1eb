// needs: openssl, ray, hosts, podman, kube

/**
 * Each reason why something does not come up, made on real KubeRay and kubelet, and told by `manta kube apply`.
 * With MANTA_RECORD_KUBE=1 the objects that showed them are written to test/core/kube/recorded, for tests without Kubernetes.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Json, listAt } from '../../src/core/kube/object.ts';
import { trimmed } from '../core/kube/recorded.ts';
import { KubeBed, kubeProblem } from './kube-bed.ts';

interface Scenario {
  readonly name: string;
  /** Of the head's container. */
  readonly image?: string;
  readonly container?: string;
  readonly pod?: string;
  readonly cpu?: string;
  /** Of requests and limits. */
  readonly more?: string;
  readonly limit?: string;
  readonly params?: string;
  readonly version?: string;
  readonly workers?: string;
  /** What the namespace has besides. */
  readonly beside?: string;
  readonly labels?: string;
  readonly timeout?: number;
  readonly says: RegExp;
}

describe('first causes', { skip: kubeProblem() ?? false }, () => {
  let bed: KubeBed;
  before(async () => {
    bed = await KubeBed.open({ nodes: 2 });
    await bed.kube.kubectl(['taint', 'node', bed.kube.nodes[1]!.name, 'team=other:NoSchedule']);
  });
  after(() => bed?.close());

  const manifest = (scenario: Scenario): string => `
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: c, namespace: ${scenario.name}}
spec:
  rayVersion: "${scenario.version ?? '2.60.0'}"
  headGroupSpec:
    rayStartParams: ${scenario.params ?? '{}'}
    template:
      spec:
        ${scenario.pod ?? 'restartPolicy: Always'}
        containers:
          - name: ray-head
            image: ${scenario.image ?? bed.rayImage}
            ${scenario.container ?? 'imagePullPolicy: IfNotPresent'}
            resources: {limits: {memory: ${scenario.limit ?? '3Gi'}${scenario.more ?? ''}}, requests: {cpu: ${scenario.cpu ?? '100m'}, memory: ${scenario.limit ?? '200Mi'}${scenario.more ?? ''}}}
${scenario.workers ?? ''}`;

  /** Applies a scenario in a namespace of its own and waits for its cause. */
  const tried = async (scenario: Scenario): Promise<void> => {
    const { name, beside = '', labels = '', timeout = 60, says } = scenario;
    await bed.apply(
      `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}, labels: {lab: "1"${labels}}}\n---\n${beside}`,
    );
    bed.bed.write(`${name}.yaml`, manifest(scenario));
    const { code, stderr } = await bed.run(['kube', 'apply', '--yes', '--timeout', String(timeout), `${name}.yaml`]);
    assert.match(stderr, says, name);
    assert.equal(code, 1, name);
    await record(name);
    await bed.kube.kubectl(['delete', 'namespace', name, '--wait=false']);
  };

  const record = async (name: string): Promise<void> => {
    if (process.env['MANTA_RECORD_KUBE'] !== '1') return;
    const all = await bed.get<Json>('-n', name, 'rayclusters.ray.io,pods,events');
    const nodes = await bed.get<Json>('nodes');
    const file = fileURLToPath(new URL(`../core/kube/recorded/${name}.json`, import.meta.url));
    const objects = [...listAt(all, 'items'), ...listAt(nodes, 'items')].map(trimmed);
    writeFileSync(file, `${JSON.stringify(objects, null, 1)}\n`);
  };

  test('pods that find no place', async () => {
    const second = bed.kube.nodes[1]!.name;
    await Promise.all(
      [
        { name: 'cpu', cpu: '64', timeout: 3, says: /1 of 2 have too little cpu \(it asks for 64\)/ },
        { name: 'gpu', more: ', nvidia.com/gpu: 1', timeout: 3, says: /no node offers nvidia\.com\/gpu/ },
        {
          name: 'taint',
          pod: `nodeSelector: {kubernetes.io/hostname: ${second}}`,
          timeout: 3,
          says: /taint that it does not tolerate/,
        },
        {
          name: 'gated',
          pod: 'schedulingGates: [{name: example.com/quota}]',
          timeout: 3,
          says: /held back by example\.com\/quota/,
        },
        {
          name: 'claim',
          pod: 'volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]',
          beside:
            'apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: claim}\nspec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}\n',
          timeout: 3,
          says: /waits for its volume.*claims: data/,
        },
        {
          name: 'quota',
          beside:
            'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: small, namespace: quota}\nspec: {hard: {pods: "0"}}\n',
          timeout: 3,
          says: /the quota 'small' of the namespace is used up/,
        },
        {
          name: 'restricted',
          labels: ', pod-security.kubernetes.io/enforce: restricted',
          says: /enforces the Pod Security level 'restricted:latest'/,
        },
      ].map(tried),
    );
  });

  test('containers that do not start', async () => {
    const { registry } = bed.bed.lab;
    await Promise.all(
      [
        {
          name: 'image',
          image: bed.rayImage.replace('lab/ray', 'lab/nothing'),
          says: /lab\/nothing.*cannot be pulled/,
        },
        { name: 'login', image: registry!.locked.images.ray, says: /cannot be pulled[\s\S]*imagePullSecrets/ },
        { name: 'crash', params: '{no-such-flag: "1"}', says: /ended with exit code 2[\s\S]*no-such-flag/ },
        { name: 'memory', limit: '60Mi', says: /used more memory than its limit/ },
        {
          name: 'secret',
          container: 'env: [{name: A, valueFrom: {secretKeyRef: {name: nothing, key: a}}}]',
          says: /cannot be created: secret "nothing" not found/,
        },
      ].map(tried),
    );
  });

  test('pods that run and are not ready', async () => {
    const lost = `  workerGroupSpecs:
    - groupName: lost
      replicas: 1
      minReplicas: 1
      maxReplicas: 1
      template:
        spec:
          dnsPolicy: None
          dnsConfig: {nameservers: [10.88.255.254]}
          containers: [{name: w, image: ${bed.rayImage}, resources: {requests: {cpu: 100m, memory: 200Mi}}}]
`;
    await Promise.all(
      [
        { name: 'gcs', workers: lost, timeout: 60, says: /is waiting to reach the GCS/ },
        {
          name: 'probe',
          container: 'readinessProbe: {httpGet: {path: /nothing, port: 8265}, periodSeconds: 2}',
          timeout: 45,
          says: /asks for an address that its Ray does not have/,
        },
      ].map(tried),
    );
  });

  test('an operator that does not look, and a kind that is not there', async () => {
    const [operator] = bed.kube.host.processes().filter(({ command }) => command[0]?.endsWith('kuberay-operator'));
    await bed.kube.host.must(['kill', '-STOP', String(operator!.hostPid)], { user: 'root' });
    try {
      await tried({ name: 'unseen', timeout: 3, says: /operator has not looked at it yet/ });
    } finally {
      await bed.kube.host.must(['kill', '-CONT', String(operator!.hostPid)], { user: 'root' });
    }
    await bed.kube.kubectl(['delete', 'crd', 'raycronjobs.ray.io']);
    bed.bed.write(
      'cron.yaml',
      'apiVersion: ray.io/v1\nkind: RayCronJob\nmetadata: {name: c}\nspec: {schedule: "@daily"}\n',
    );
    const { code, stderr } = await bed.run(['kube', 'apply', '--yes', 'cron.yaml']);
    assert.match(stderr, /no kind 'RayCronJob'[\s\S]*manta kube install/);
    assert.equal(code, 3);
  });
});
