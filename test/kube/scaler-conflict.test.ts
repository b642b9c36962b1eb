/** Manta's planner owns `replicas` to the API server, and with it the list of all groups; applying again is not a conflict. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { KubeClient } from '../../src/base/kube/client.ts';
import { wallClock } from '../../src/base/time/wall-clock.ts';
import { readManifests } from '../../src/core/kube/manifest.ts';
import { planApply } from '../../src/kube/apply.ts';
import { KubePaths } from '../../src/kube/paths.ts';
import { never } from '../contract/waiting.ts';

/** An API server on which somebody owns fields of every object. */
async function ownedBy(t: TestContext, owner: string): Promise<{ client: KubeClient; forced: (string | null)[] }> {
  const forced: (string | null)[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://server');
    const say = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    request.resume();
    if (pathname === '/apis/ray.io/v1')
      return say(200, { resources: [{ kind: 'RayCluster', name: 'rayclusters', namespaced: true }] });
    const live = { metadata: { name: 'demo' }, spec: { workerGroupSpecs: [] } };
    if (request.method !== 'PATCH') return say(200, live);
    forced.push(searchParams.get('force'));
    if (searchParams.get('force') === 'true') return say(200, live);
    const message = `Apply failed with 1 conflict: conflict with "${owner}" using ray.io/v1: .spec.workerGroupSpecs`;
    say(409, { kind: 'Status', code: 409, message });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const access = { server: url, context: 'test', namespace: 'ray', options: async () => ({}) };
  return { client: new KubeClient(access, wallClock), forced };
}

const text = '{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: demo}, spec: {workerGroupSpecs: []}}';
const [manifest] = readManifests('demo.yaml', text).manifests;

test("what Manta's planner owns is taken over, what others own is not", async (t) => {
  const plan = async (owner: string): Promise<(string | null)[]> => {
    const { client, forced } = await ownedBy(t, owner);
    const applying = { client, resources: new KubePaths(client), force: false, signal: never };
    await planApply(manifest!, applying).catch((error: { code: string }) => forced.push(error.code));
    return forced;
  };
  assert.deepEqual(await plan('manta-scaler'), ['false', 'true']);
  assert.deepEqual(await plan('argocd-controller'), ['false', 'MANTA_KUBE_OWNED']);
});
