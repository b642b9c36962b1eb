import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { configWith } from '../base/kube/api-server.ts';
import { runManta } from './run-manta.ts';

const ray = '/apis/ray.io/v1/namespaces/of-one';
const ready = { conditions: [{ type: 'HeadPodReady', status: 'True', reason: 'HeadPodRunningAndReady' }] };
const cluster = (name: string): object => ({
  metadata: { name, namespace: 'of-one', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { rayVersion: '2.60.0' },
  status: ready,
});
const service = {
  metadata: { name: 's', namespace: 'of-one', generation: 1 },
  status: {
    observedGeneration: 1,
    conditions: [{ type: 'Ready', status: 'False', reason: 'Initializing' }],
    pendingServiceStatus: { rayClusterName: 's-1' },
  },
};
const pod = {
  metadata: {
    name: 's-1-head-x',
    labels: { 'ray.io/cluster': 's-1', 'ray.io/node-type': 'head', 'ray.io/group': 'headgroup' },
  },
  spec: { containers: [{ name: 'ray-head' }] },
  status: {
    phase: 'Pending',
    conditions: [
      {
        type: 'PodScheduled',
        status: 'False',
        reason: 'Unschedulable',
        message: '0/1 nodes are available: 1 Insufficient cpu.',
      },
    ],
  },
};

async function mantaOn(t: TestContext, objects: Readonly<Record<string, object>>) {
  const home = mkdtempSync(join(tmpdir(), 'manta-home-'));
  t.after(() => rmSync(home, { recursive: true }));
  const KUBECONFIG = await configWith(t, objects);
  return (...words: readonly string[]) => runManta(words, { KUBECONFIG, HOME: home, MANTA_HOME: home });
}

test('objects of KubeRay are listed with the name that other commands take, and clusters of a service with it', async (t) => {
  const manta = await mantaOn(t, {
    [`${ray}/rayclusters`]: { items: [cluster('c'), cluster('s-1')] },
    [`${ray}/rayservices`]: { items: [service] },
    [`${ray}/rayjobs`]: { items: [] },
  });
  const { stdout, stderr } = await manta('list', '--kube');
  assert.match(stdout, /^kube:c +RayCluster +ready/m, stderr);
  assert.match(stdout, /^kube:s +RayService +not serving \(Initializing\).* s-1/m);
  assert.doesNotMatch(stdout, /^kube:s-1/m);
});

test('a service that comes up tells what stands in the way, and --pending means that cluster', async (t) => {
  const manta = await mantaOn(t, {
    [`${ray}/rayservices/s`]: service,
    [`${ray}/rayclusters/s-1`]: cluster('s-1'),
    [`${ray}/rayclusters`]: { items: [cluster('s-1')] },
    '/api/v1/nodes': { items: [] },
    '/api/v1/namespaces/of-one/pods': { items: [pod] },
    '/api/v1/namespaces/of-one/events': { items: [] },
  });
  const why = await manta('why', 'kube:s');
  assert.match(why.stdout, /RayService of-one\/s[\s\S]*cpu[\s\S]*what you can do/i, why.stderr);
  const exec = await manta('exec', 'kube:s', 'true');
  assert.deepEqual([exec.exit, /NO_ACTIVE_CLUSTER[\s\S]*--pending/.test(exec.stderr)], [4, true], exec.stderr);
  const pending = await manta('exec', '--pending', 'kube:s', 'true');
  assert.deepEqual([pending.exit, /\(Pending\).*NO_HEAD/.test(pending.stderr)], [4, true], pending.stderr);
});

test('what does not belong to such a cluster is refused with what to do', async (t) => {
  const manta = await mantaOn(t, {
    [`${ray}/rayclusters/s`]: cluster('s'),
    [`${ray}/rayservices/s`]: service,
  });
  for (const [words, code] of [
    [['status', 'kube:s'], 'MANTA_KUBE_SEVERAL'],
    [['status', 'kube:A/B/C'], 'MANTA_KUBE_BAD_CLUSTER_NAME'],
    [['up', 'kube:s'], 'MANTA_CLI_NOT_ON_KUBE'],
    [['sessions', 'kube:s'], 'MANTA_CLI_NOT_ON_KUBE'],
    [['status', '--pending'], 'MANTA_CLI_ONLY_ON_KUBE'],
    [['exec', 'kube:s', '--tmux', 'true'], 'MANTA_CLI_NOT_FOR_KUBE'],
    [['rsync-up', 'kube:s'], 'MANTA_CLI_PATHS_FOR_KUBE'],
    [['list', 'nodes'], 'MANTA_CLI_BELONGS_TO_RAY'],
    [['list', '--context', 'x'], 'MANTA_CLI_OPTION_NEEDED'],
  ] as const) {
    const { exit, stderr } = await manta(...words);
    assert.deepEqual([exit, stderr.includes(code)], [2, true], `${words.join(' ')}: ${stderr}`);
  }
});
