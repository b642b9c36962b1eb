// needs: openssl, ray, hosts, podman, kube

/** What Manta says and does while parts of Kubernetes fail: killed programs, evicted pods, lost nodes. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { KubePart } from '../../lab/kube/open.ts';
import { inSoak } from '../soak.ts';
import { eventually } from './cluster-bed.ts';
import { KubeBed, kubeProblem } from './kube-bed.ts';

interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName?: string };
  readonly status: { readonly phase: string; readonly reason?: string; readonly podIP?: string };
}

const rounds = inSoak('kube') ? 4 : 1;
const parts: readonly KubePart[] = ['etcd', 'kube-apiserver', 'kuberay-operator'];

describe('while Kubernetes fails', { skip: kubeProblem() ?? false }, () => {
  let bed: KubeBed;
  before(async () => {
    bed = await KubeBed.open({ nodes: inSoak('kube') ? 3 : 2 });
  });
  after(() => bed?.close());

  /** A cluster whose head stays on the first node, and whose workers stay off it. */
  const manifest = (name: string, workers = 0): string => `
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: ${name}}
spec:
  rayVersion: 2.60.0
  headGroupSpec:
    rayStartParams: {num-cpus: "1"}
    template: ${template('ray-head', '{key: kubernetes.io/hostname, operator: In, values: [h1]}')}
  workerGroupSpecs:
    - groupName: w
      replicas: ${workers}
      minReplicas: 0
      maxReplicas: 3
      rayStartParams: {num-cpus: "1"}
      template: ${template('ray-worker', '{key: kubernetes.io/hostname, operator: NotIn, values: [h1]}')}
`;
  const template = (container: string, where: string): string =>
    `{spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [${where}]}]}}}, containers: [{name: ${container}, image: "${bed.rayImage}", resources: {limits: {memory: 3Gi}, requests: {cpu: 200m, memory: 1Gi}}}]}}`;

  const start = (text: string, ...words: readonly string[]) => {
    bed.bed.write('cluster.yaml', text);
    return bed.run(['kube', 'apply', '--yes', '--timeout', '420', ...words, 'cluster.yaml']);
  };
  const pods = async (cluster: string): Promise<readonly Pod[]> =>
    (await bed.get<{ items: readonly Pod[] }>('pods', '-l', `ray.io/cluster=${cluster}`)).items;
  const ready = (cluster: string, count: number): Promise<readonly Pod[]> =>
    eventually(`${count} pods of '${cluster}' are ready`, async () => {
      const { items } = await bed.get<{
        items: readonly (Pod & { status: { conditions?: readonly { type: string; status: string }[] } })[];
      }>(...['pods', '-l', `ray.io/cluster=${cluster}`]);
      const good = items.filter(
        ({ status, metadata }) =>
          metadata.deletionTimestamp === undefined &&
          status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
      );
      return good.length === count && good;
    });

  test('an apply that is under way comes to its end though etcd, the API server and the operator are killed', async () => {
    for (let round = 0; round < rounds; round++) {
      const name = `killed-${round}`;
      const under = start(manifest(name));
      const created = (): Promise<boolean> =>
        bed.kube.kubectl(['get', 'raycluster', name, '-o', 'name']).then(
          (text) => text.includes(name),
          () => false,
        );
      await eventually(`the RayCluster '${name}' exists`, created);
      for (const part of parts) {
        await bed.kube.killPart(part);
        await eventually(`${part} is back`, () => bed.kube.kubectl(['get', '--raw', '/readyz']));
      }
      const { code, stderr } = await under;
      assert.equal(code, 0, stderr);
      assert.equal((await pods(name)).length, 1, 'no pod was made twice');
      await bed.kube.kubectl(['delete', 'raycluster', name, '--wait=true']);
    }
  });

  test('an evicted pod is replaced, and the cluster counts as up again when its successor is ready', async () => {
    const made = await start(manifest('evicted', 1));
    assert.equal(made.code, 0, made.stderr);
    const worker = (await ready('evicted', 2)).find(({ spec }) => spec.nodeName !== 'h1')!;
    const { name } = worker.metadata;
    const body = JSON.stringify({
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace: 'default' },
    });
    await bed.kube.kubectl(['create', '--raw', `/api/v1/namespaces/default/pods/${name}/eviction`, '-f', '-'], body);
    const again = await start(manifest('evicted', 1));
    assert.equal(again.code, 0, again.stderr);
    const now = (await ready('evicted', 2)).map(({ metadata }) => metadata.uid);
    assert.ok(!now.includes(worker.metadata.uid), 'it is another pod');
  });

  test('a node without power is told as such, and the cluster is whole again when it is back', async () => {
    const [, node] = bed.kube.nodes;
    await node!.kill();
    await eventually('the node is given up', async () => {
      const status = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}';
      return (await bed.kube.kubectl(['get', 'node', node!.name, '-o', status])) === 'Unknown';
    });
    const lost = await start(manifest('evicted', 1), '--timeout', '5');
    assert.equal(lost.code, 1, lost.stdout);
    assert.match(lost.stderr, new RegExp(`node '?${node!.name}'?`));
    await node!.boot();
    const back = await start(manifest('evicted', 1));
    assert.equal(back.code, 0, back.stderr);
    await ready('evicted', 2);
  });

  test('a node whose cable is cut is given up, and is a node again when it is mended', {
    skip: !inSoak('kube') && 'optional: npm run soak -- kube',
  }, async () => {
    const node = bed.kube.nodes[1]!;
    const isReady = async (): Promise<string> =>
      await bed.kube.kubectl([
        'get',
        'node',
        node.name,
        '-o',
        'jsonpath={.status.conditions[?(@.type=="Ready")].status}',
      ]);
    for (const [fault, repair] of [
      [() => node.cut(), () => node.mend()],
      [() => node.freeze(), () => node.thaw()],
    ] as const) {
      await fault();
      await eventually('the node is given up', async () => (await isReady()) === 'Unknown');
      await repair();
      await eventually('the node is ready', async () => (await isReady()) === 'True');
      const again = await start(manifest('evicted', 1));
      assert.equal(again.code, 0, again.stderr);
    }
  });
});
