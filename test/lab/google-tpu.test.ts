// needs: openssl, google-discovery

/** What lab/google/behaviour.md says of slices and queued resources, on machines that are none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labProject } from '../../lab/google/open.ts';
import { until } from '../contract/waiting.ts';
import { type Answer, compute, googleBed, refused, slice, tpu } from './google-bed.ts';

const zone = 'us-central2-b';
const nodes = `${tpu}/${zone}/nodes`;
const queued = `${tpu}/${zone}/queuedResources`;

test('a slice is made whole: a machine for each host, and one node', async (t) => {
  const { ask, ended, cloud, admin } = await googleBed(t);
  const operation = await ask('POST', `${nodes}?nodeId=n`, slice({ labels: { c: '1' }, metadata: { k: 'v' } }));
  assert.equal(operation.done, false);
  const { response } = await ended(operation);
  assert.equal(response.state, 'READY');
  const node = await ask('GET', `${nodes}/n`);
  assert.equal(node.name, `projects/${labProject}/locations/${zone}/nodes/n`);
  assert.deepEqual([node.acceleratorType, node.acceleratorConfig], ['v4-16', { type: 'V4', topology: '2x2x2' }]);
  assert.equal(node.networkEndpoints.length, 2);
  assert.ok(node.networkEndpoints.every((each: Answer) => each.ipAddress && each.accessConfig.externalIp));
  assert.deepEqual(node.labels, { c: '1' });
  assert.deepEqual(
    (await admin.instances()).map((each) => [each.name, each.machine_type]),
    [
      ['n/0', 'v4-16'],
      ['n/1', 'v4-16'],
    ],
  );
  await refused(ask('POST', `${nodes}?nodeId=n`, slice()), 409, /already exists/);
  assert.equal((await ask('GET', `${compute}/zones/${zone}/instances`)).items, undefined, 'hosts are no instances');
  const rules = async () => (await ask('GET', `${compute}/global/firewalls?filter=name:tpu-pod`)).items?.length ?? 0;
  assert.equal(await rules(), 1);
  await ended(await ask('PATCH', `${nodes}/n?updateMask=labels`, { labels: { c: '2' } }));
  assert.deepEqual((await ask('GET', `/v2alpha1/projects/${labProject}/locations/-/nodes`)).nodes[0].labels, {
    c: '2',
  });
  await ended(await ask('DELETE', `${nodes}/n`));
  await refused(ask('GET', `${nodes}/n`), 404);
  assert.deepEqual([cloud.existing().length, await rules()], [0, 0]);
});

test('what a zone does not have is refused, and so is a name that is none', async (t) => {
  const { ask } = await googleBed(t);
  for (const [body, id, status, words] of [
    [slice({ acceleratorType: 'v4-24' }), 'n', 400, /"v4-24" is not found/],
    [slice({ acceleratorType: 'v5p-8' }), 'n', 400, /"v5p-8" is not found in zone/],
    [slice({ acceleratorType: undefined, acceleratorConfig: { type: 'V4', topology: '3x3x3' } }), 'n', 400, /3x3x3/],
    [slice({ acceleratorConfig: { type: 'V4', topology: '2x2x2' } }), 'n', 400, /Only one of/],
    [slice({ runtimeVersion: 'tpu-none' }), 'n', 400, /"tpu-none"/],
    [slice({ colour: 'red' }), 'n', 400, /Unknown name "colour" at 'node'/],
    [slice(), 'N', 400, /node ID/],
  ] as const)
    await refused(ask('POST', `${nodes}?nodeId=${id}`, body), status, words);
  await refused(ask('POST', `${tpu}/us-west1-a/nodes?nodeId=n`, slice()), 404, /Location us-west1-a/);
  const types = (await ask('GET', `${tpu}/europe-west4-b/acceleratorTypes`)).acceleratorTypes;
  assert.ok(types.some(({ type }: Answer) => type === 'v5p-8') && !types.some(({ type }: Answer) => type === 'v4-8'));
  const versions = (await ask('GET', `${tpu}/${zone}/runtimeVersions`)).runtimeVersions;
  assert.ok(versions.some(({ version }: Answer) => version === 'tpu-ubuntu2204-base'));
  assert.ok((await ask('GET', tpu)).locations.some(({ locationId }: Answer) => locationId === zone));
});

test('slices have the hosts that Google gives them, by type and by topology', async (t) => {
  const { ask, ended } = await googleBed(t);
  const hosts = async (where: string, id: string, more: object): Promise<number> => {
    const body = slice({ acceleratorType: undefined, ...more });
    return (await ended(await ask('POST', `${tpu}/${where}/nodes?nodeId=${id}`, body))).response.networkEndpoints
      .length;
  };
  assert.equal(await hosts(zone, 'a', { acceleratorType: 'v4-8' }), 1);
  assert.equal(await hosts(zone, 'b', { acceleratorConfig: { type: 'V4', topology: '2x2x4' } }), 4);
  assert.equal(await hosts('us-west4-a', 'c', { acceleratorType: 'v5litepod-8' }), 1);
  assert.equal(await hosts('us-west4-a', 'd', { acceleratorType: 'v5litepod-16' }), 4);
  assert.equal(await hosts('us-central1-b', 'e', { acceleratorType: 'v2-8' }), 1);
  assert.equal(await hosts('us-east1-d', 'f', { acceleratorType: 'v6e-4' }), 1);
});

test('capacity is told by the operation, a quota at once', async (t) => {
  const { ask, ended, admin, project, cloud } = await googleBed(t);
  await admin.set({ capacity: [{ type: 'v4-32', limit: 3 }] });
  const none = await ended(await ask('POST', `${nodes}?nodeId=n`, slice({ acceleratorType: 'v4-32' })));
  assert.equal(none.error.code, 8);
  assert.match(none.error.message, /There is no more capacity in the zone "us-central2-b"/);
  assert.equal(cloud.existing().length, 0, 'three hosts of four are no slice');
  await refused(ask('GET', `${nodes}/n`), 404);
  const reserved = slice({ schedulingConfig: { reserved: true } });
  assert.match(
    (await ended(await ask('POST', `${nodes}?nodeId=r`, reserved))).error.message,
    /Insufficient reserved capacity/,
  );
  project.quotas.push({ metric: 'TPUV4sPreemptiblePerProjectPerZoneForTPUAPI', limit: 8, zone });
  const spot = slice({ schedulingConfig: { spot: true } });
  await ended(await ask('POST', `${nodes}?nodeId=a`, spot));
  const words =
    /^Quota limit 'TPUV4sPreemptiblePerProjectPerZoneForTPUAPI' has been exceeded\. Limit: 8 in zone us-central2-b\.$/;
  const error = await refused(ask('POST', `${nodes}?nodeId=b`, spot), 429, words);
  assert.equal(error.answer.error.status, 'RESOURCE_EXHAUSTED');
  project.policies.set('compute.vmExternalIpAccess', []);
  const denied = await ended(await ask('POST', `${nodes}?nodeId=p`, slice()));
  assert.deepEqual([denied.error.code, cloud.existing().length], [9, 2]);
  assert.match(denied.error.message, /constraints\/compute\.vmExternalIpAccess/);
  project.policies.clear();
  await admin.fault({ fault: 'late-refusal', code: 'no-capacity', message: 'gone by then', times: 1 });
  assert.equal((await ended(await ask('POST', `${nodes}?nodeId=l`, slice()))).error.code, 8);
  await until('nothing of it is left', () => cloud.existing().length === 2);
});

test('a slice goes as a whole when one of its hosts is preempted, and stays where a host switches itself off', async (t) => {
  const { ask, ended, admin, idOf, hypervisor, cloud } = await googleBed(t);
  const state = async (id: string) => (await ask('GET', `${nodes}/${id}`)).state;
  await ended(await ask('POST', `${nodes}?nodeId=n`, slice({ schedulingConfig: { preemptible: true } })));
  await ended(await ask('POST', `${nodes}?nodeId=m`, slice()));
  hypervisor.orders.find(({ instance }) => instance === idOf('m/1'))!.poweredOff();
  assert.equal(await state('m'), 'READY');
  await admin.preempt(idOf('n/1'));
  await until('it is preempted', async () => (await state('n')) === 'PREEMPTED');
  await until('its hosts are gone', () => cloud.existing().length === 2);
  assert.equal((await admin.costs()).length, 2, 'what switched itself off is still paid for');
  await admin.vanish(idOf('m/0'));
  assert.equal(await state('m'), 'REPAIRING');
  await ended(await ask('DELETE', `${nodes}/n`));
  await refused(ask('GET', `${nodes}/n`), 404);
});

test('a slice of one host is stopped and started; a larger one is not', async (t) => {
  const { ask, ended } = await googleBed(t);
  await ended(await ask('POST', `${nodes}?nodeId=n`, slice({ acceleratorType: 'v4-8' })));
  assert.equal((await ended(await ask('POST', `${nodes}/n:stop`, {}))).response.state, 'STOPPED');
  assert.equal((await ended(await ask('POST', `${nodes}/n:start`, {}))).response.state, 'READY');
  await ended(await ask('POST', `${nodes}?nodeId=m`, slice()));
  await refused(ask('POST', `${nodes}/m:stop`, {}), 400, /Pod slices cannot be stopped/);
});

test('lists of slices have pages and name the zones that they leave out; operations may never end', async (t) => {
  const { ask, admin } = await googleBed(t, { settings: { page_size: 2 } });
  for (const id of ['a', 'b', 'c']) await ask('POST', `${nodes}?nodeId=${id}`, slice({ acceleratorType: 'v4-8' }));
  const first = await ask('GET', nodes);
  const second = await ask('GET', `${nodes}?pageToken=${first.nextPageToken}`);
  assert.deepEqual([first.nodes.length, second.nodes.length, second.nextPageToken], [2, 1, undefined]);
  await admin.fault({ fault: 'unreachable', zone });
  const part = await ask('GET', `${tpu}/-/nodes`);
  assert.deepEqual([part.nodes, part.unreachable], [[], [`projects/${labProject}/locations/${zone}`]]);
  await admin.fault({ fault: 'stuck-operation', call: 'nodes.create', times: 1 });
  const { name } = await ask('POST', `${nodes}?nodeId=s`, slice({ acceleratorType: 'v4-8' }));
  await until('it is ready', async () => (await ask('GET', `${nodes}/s`)).state === 'READY');
  assert.equal((await ask('GET', `/v2/${name}`)).done, false);
});

test('a queued resource waits for room, gives its slices together, and goes with them where it is forced', async (t) => {
  const { ask, ended, admin, idOf, cloud } = await googleBed(t);
  await admin.set({ capacity: [{ type: 'v4-16', limit: 3 }] });
  const body = {
    tpu: {
      nodeSpec: [
        {
          parent: `projects/${labProject}/locations/${zone}`,
          multisliceParams: { nodeCount: 2, nodeIdPrefix: 's' },
          node: slice({ labels: { c: '1' } }),
        },
      ],
    },
    spot: {},
  };
  await ended(await ask('POST', `${queued}?queuedResourceId=q`, body));
  const state = async () => (await ask('GET', `${queued}/q`)).state.state;
  assert.equal(await state(), 'WAITING_FOR_RESOURCES');
  assert.equal(cloud.existing().length, 0);
  await admin.set({ capacity: [] });
  await until('it is active', async () => (await state()) === 'ACTIVE');
  const made = (await ask('GET', nodes)).nodes;
  assert.deepEqual(
    made.map((node: Answer) => [node.name.split('/').at(-1), node.queuedResource.split('/').at(-1)]),
    [
      ['s-0', 'q'],
      ['s-1', 'q'],
    ],
  );
  assert.equal((await ask('GET', queued)).queuedResources[0].tpu.nodeSpec[0].node.labels.c, '1');
  await refused(ask('DELETE', `${queued}/q`), 400, /use force/);
  await admin.preempt(idOf('s-0/0'));
  await until('it is suspended', async () => (await state()) === 'SUSPENDED');
  await ended(await ask('DELETE', `${queued}/q?force=true`));
  await refused(ask('GET', `${queued}/q`), 404);
  assert.equal(cloud.existing().length, 0);
  assert.deepEqual((await ask('GET', nodes)).nodes, []);
});

test('reserved machines come out of a reservation, and a request that is too late fails', async (t) => {
  const { ask, ended, world } = await googleBed(t);
  world.addReservation({ id: 'r', account: labProject, type: 'v4-16', zone, total: 2 });
  const spec = (id: string) => ({ tpu: { nodeSpec: [{ nodeId: id, node: slice() }] }, guaranteed: {} });
  await ended(await ask('POST', `${queued}?queuedResourceId=a`, spec('a')));
  await until('it is active', async () => (await ask('GET', `${queued}/a`)).state.state === 'ACTIVE');
  const policy = { queueingPolicy: { validUntilDuration: '0s' } };
  await ended(await ask('POST', `${queued}?queuedResourceId=b`, { ...spec('b'), ...policy }));
  const { state } = await ask('GET', `${queued}/b`);
  assert.deepEqual([state.state, state.failedData.error.code], ['FAILED', 4]);
});
