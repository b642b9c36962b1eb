import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { kubeTargetErrors } from '../../src/kube/errors.ts';
import { clusterNow, findKubeTarget, headPod, mantadAnnotation, mantadOf, rayToken } from '../../src/kube/target.ts';
import { clientOf, say } from '../base/kube/api-server.ts';
import { never } from '../contract/waiting.ts';

/** A server that has these objects, by their paths; lists are maps of names. */
const serverWith = (t: TestContext, objects: Readonly<Record<string, object>>) =>
  clientOf(t, (request, response) => {
    const { pathname } = new URL(request.url!, 'http://x');
    const found = objects[pathname];
    if (found === undefined) return say(response, 404, { message: `no ${pathname}` });
    say(response, 200, found);
  });

const ray = '/apis/ray.io/v1/namespaces/of-one';
const service = {
  metadata: { name: 's' },
  status: { activeServiceStatus: { rayClusterName: 's-1' }, pendingServiceStatus: { rayClusterName: 's-2' } },
};

test('a RayService means its active cluster, and --pending the other', async (t) => {
  const client = await serverWith(t, { [`${ray}/rayservices/s`]: service });
  assert.equal(await clusterNow(await findKubeTarget(client, { word: 'kube:s' }, never), never), 's-1');
  assert.equal(await clusterNow(await findKubeTarget(client, { word: 'kube:s', pending: true }, never), never), 's-2');
});

test('a service that has no cluster yet says so, with the one that is coming up', async (t) => {
  const status = { activeServiceStatus: {}, pendingServiceStatus: { rayClusterName: 's-1' } };
  const client = await serverWith(t, { [`${ray}/rayservices/s`]: { metadata: { name: 's' }, status } });
  const target = await findKubeTarget(client, { word: 'kube:s' }, never);
  await assert.rejects(
    clusterNow(target, never),
    (error) => kubeTargetErrors.NoActive.is(error) && error.hint?.includes('s-1') === true,
  );
});

test('several objects of one name are an error that lists them, and a kind says which is meant', async (t) => {
  const client = await serverWith(t, {
    [`${ray}/rayservices/s`]: service,
    [`${ray}/rayclusters/s`]: { metadata: { name: 's' } },
  });
  await assert.rejects(
    findKubeTarget(client, { word: 'kube:s' }, never),
    (error) =>
      kubeTargetErrors.Several.is(error) &&
      error.exit === 2 &&
      /kube:raycluster\/s, kube:rayservice\/s/.test(error.hint!),
  );
  assert.equal((await findKubeTarget(client, { word: 'kube:raycluster/s' }, never)).kind, 'RayCluster');
});

test('a name that nobody has is told with those that are there', async (t) => {
  const client = await serverWith(t, { [`${ray}/rayclusters`]: { items: [{ metadata: { name: 'other' } }] } });
  await assert.rejects(
    findKubeTarget(client, { word: 'kube:s' }, never),
    (error) => kubeTargetErrors.NoneNamed.is(error) && error.exit === 4 && /other/.test(error.hint!),
  );
});

test('the head pod is the one that runs, with the container that is Ray', async (t) => {
  const pod = (name: string, phase: string, more: object = {}) => ({
    metadata: { name, labels: { 'ray.io/node-type': 'head' }, ...more },
    spec: { containers: [{ name: 'ray-head' }, { name: 'autoscaler' }] },
    status: { phase },
  });
  const pods = [pod('old', 'Running', { deletionTimestamp: 'x' }), pod('dead', 'Failed'), pod('new', 'Running')];
  const client = await serverWith(t, {
    [`${ray}/rayclusters/c`]: { metadata: { name: 'c' } },
    '/api/v1/namespaces/of-one/pods': { items: pods },
  });
  const target = await findKubeTarget(client, { word: 'kube:c' }, never);
  assert.deepEqual(await headPod(target, never), { namespace: 'of-one', pod: 'new', container: 'ray-head' });
  pods.pop();
  await assert.rejects(headPod(target, never), (error) => kubeTargetErrors.NoHead.is(error));
});

test("tokens are those of Ray's Secret, or of the one that mantad's annotation names", async (t) => {
  const secret = (key: string, value: string) => ({ data: { [key]: Buffer.from(`${value}\n`).toString('base64') } });
  const name = `a${'b'.repeat(51)}`;
  const cluster = {
    metadata: { name, annotations: {} as Record<string, string> },
    spec: { authOptions: { mode: 'token' } },
  };
  const secrets = '/api/v1/namespaces/of-one/secrets';
  const client = await serverWith(t, {
    [`${ray}/rayclusters/${name}`]: cluster,
    [`${secrets}/${name.slice(-50)}`]: secret('auth_token', 'of-ray'),
    [`${secrets}/mine`]: secret('token', 'of-manta'),
  });
  const target = await findKubeTarget(client, { word: `kube:${name}` }, never);
  assert.equal(await rayToken(target, never), 'of-ray');
  assert.equal(await mantadOf(target, never), undefined);
  cluster.metadata.annotations[mantadAnnotation] = 'mine';
  const again = await findKubeTarget(client, { word: `kube:${name}` }, never);
  assert.deepEqual(await mantadOf(again, never), { port: 8266, token: 'of-manta' });
});
