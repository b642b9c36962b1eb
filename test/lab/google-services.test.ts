// needs: openssl, google-discovery

/** What lab/google/behaviour.md says of everything but instances, slices and access. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type FaultRule, faultNames } from '../../lab/cloud/faults.ts';
import { labProject } from '../../lab/google/open.ts';
import { methodsOf } from '../../lab/google/server.ts';
import { type Answer, compute, googleBed, machine, refused, zone } from './google-bed.ts';

const instances = `${compute}/zones/${zone}/instances`;
const names = (list: Answer): string[] => (list.items ?? []).map(({ name }: Answer) => name);

test('a project finds a network with a subnet in every region, and rules that let SSH in', async (t) => {
  const { ask, world, project } = await googleBed(t);
  assert.deepEqual(names(await ask('GET', `${compute}/global/networks`)), ['default']);
  const [subnet] = (await ask('GET', `${compute}/regions/us-west1/subnetworks`)).items;
  assert.match(subnet.selfLink, /regions\/us-west1\/subnetworks\/default$/);
  const rules = (await ask('GET', `${compute}/global/firewalls`)).items;
  const ssh = rules.find(({ name }: Answer) => name === 'default-allow-ssh');
  assert.deepEqual([ssh.allowed, ssh.sourceRanges], [[{ IPProtocol: 'tcp', ports: ['22'] }], ['0.0.0.0/0']]);
  world.removeNetwork(project);
  assert.deepEqual(names(await ask('GET', `${compute}/regions/us-west1/subnetworks`)), []);
  await refused(ask('POST', instances, machine('one', { networkInterfaces: [{}] })), 404, /networks\/default/);
  world.addNetwork(project, 'own', []);
  world.addSubnetwork(project, 'own', 'us-west1', 'inner');
  const own = { networkInterfaces: [{ subnetwork: 'regions/us-west1/subnetworks/inner' }] };
  await ask('POST', instances, machine('one', own));
  const [card] = (await ask('GET', `${instances}/one`)).networkInterfaces;
  assert.match(card.network, /networks\/own$/);
});

test('rules of the firewall are made, found by a filter and deleted, and are among what a project has', async (t) => {
  const { ask, wait, admin } = await googleBed(t);
  const rules = `${compute}/global/firewalls`;
  const rule = {
    name: 'manta-c',
    network: 'global/networks/default',
    sourceRanges: ['1.2.3.4/32'],
    allowed: [{ IPProtocol: 'tcp', ports: ['22'] }],
  };
  const made = await wait(await ask('POST', rules, rule));
  assert.deepEqual([made.status, made.operationType], ['DONE', 'insert']);
  await refused(ask('POST', rules, rule), 409);
  await refused(ask('POST', rules, { ...rule, name: 'x', network: 'global/networks/none' }), 404);
  assert.deepEqual(names(await ask('GET', `${rules}?filter=name:manta-`)), ['manta-c']);
  assert.equal((await ask('GET', `${rules}/manta-c`)).direction, 'INGRESS');
  const kinds = async () => (await admin.belongings()).filter(({ kind }) => kind === 'firewall').length;
  const before = await kinds();
  await wait(await ask('DELETE', `${rules}/manta-c`));
  assert.equal(await kinds(), before - 1);
  await refused(ask('GET', `${rules}/manta-c`), 404);
});

test('types are sold where they are sold', async (t) => {
  const { ask } = await googleBed(t);
  const type = await ask('GET', `${compute}/zones/us-central1-a/machineTypes/a2-highgpu-8g`);
  assert.deepEqual(type.accelerators, [{ guestAcceleratorType: 'nvidia-tesla-a100', guestAcceleratorCount: 8 }]);
  await refused(ask('GET', `${compute}/zones/us-west1-c/machineTypes/a2-highgpu-8g`), 404);
  await refused(ask('GET', `${compute}/zones/nowhere/machineTypes`), 400, /Unknown zone/);
  const listed = await ask(
    'GET',
    `${compute}/zones/${zone}/machineTypes?filter=${encodeURIComponent('guestCpus = 8')}`,
  );
  assert.ok(names(listed).includes('n2-standard-8') && !names(listed).includes('n2-standard-4'));
  assert.ok(names(await ask('GET', `${compute}/zones/${zone}/acceleratorTypes`)).includes('nvidia-tesla-t4'));
  const all = (await ask('GET', `${compute}/aggregated/acceleratorTypes`)).items;
  assert.ok(all['zones/us-central1-a'].acceleratorTypes.length > 0);
  assert.ok(names(await ask('GET', `${compute}/zones`)).includes('us-central2-b'));
  assert.ok(names(await ask('GET', `${compute}/regions`)).includes('europe-west4'));
});

test('images are found by name and by family, and a project has its own', async (t) => {
  const { ask, world } = await googleBed(t);
  const newest = await ask('GET', '/compute/v1/projects/deeplearning-platform-release/global/images/family/common-cpu');
  assert.equal(newest.name, 'common-cpu-v20261001');
  world.addImage({ project: labProject, name: 'mine-1', family: 'mine', createdAt: 1 });
  world.addImage({ project: labProject, name: 'mine-2', family: 'mine', createdAt: 2, gib: 30 });
  const own = await ask('GET', `${compute}/global/images/family/mine`);
  assert.deepEqual([own.name, own.diskSizeGb], ['mine-2', '30']);
  await refused(ask('GET', '/compute/v1/projects/no-such/global/images/x'), 404);
});

test('disks are made and deleted by themselves, but not while they are in use', async (t) => {
  const { ask, insert, wait, admin } = await googleBed(t);
  const disks = `${compute}/zones/${zone}/disks`;
  await wait(await ask('POST', disks, { name: 'data', sizeGb: '100', type: `zones/${zone}/diskTypes/pd-ssd` }));
  await insert('one', {
    disks: [
      {
        boot: true,
        autoDelete: false,
        initializeParams: { sourceImage: 'projects/debian-cloud/global/images/family/debian-12' },
      },
    ],
  });
  await refused(ask('DELETE', `${disks}/one`), 400, /already being used by/);
  await wait(await ask('DELETE', `${instances}/one`));
  assert.deepEqual(
    names(await ask('GET', disks)).sort(),
    ['data', 'one'],
    'one that does not go with its machine stays',
  );
  for (const name of ['data', 'one']) await wait(await ask('DELETE', `${disks}/${name}`));
  assert.deepEqual(await admin.costs(), []);
});

test('every fault of the cloud happens through Google too', async (t) => {
  const { ask, insert, admin, cloud } = await googleBed(t);
  const once = (rule: FaultRule) => admin.fault({ ...rule, times: 1 });
  const make = (name: string) => ask('POST', instances, machine(name));
  await once({ fault: 'throttle', call: 'instances.insert' });
  const slow = await refused(make('a'), 403, /Quota exceeded for quota metric 'Queries'/);
  assert.equal(slow.reason, 'rateLimitExceeded');
  await once({ fault: 'throttle', call: 'nodes.list' });
  const tpus = `/v2/projects/${labProject}/locations/us-central2-b/nodes`;
  assert.equal((await refused(ask('GET', tpus), 429)).answer.error.status, 'RESOURCE_EXHAUSTED');
  for (const [code, status] of [
    ['rateLimitExceeded', 403],
    ['quotaExceeded', 403],
    ['conditionNotMet', 412],
    ['alreadyExists', 409],
    ['backendError', 503],
    ['SERVICE_DISABLED', 403],
    ['RESOURCE_OPERATION_RATE_EXCEEDED', 403],
  ] as const) {
    await once({ fault: 'refuse', call: 'instances.insert', code, message: 'as asked' });
    await refused(make('a'), status);
  }
  await once({ fault: 'server-error', call: 'launch', after: true });
  await refused(make('a'), 503);
  assert.equal(cloud.existing().length, 1, 'it took effect');
  await once({ fault: 'lost-answer', call: 'launch' });
  await assert.rejects(make('b'), /fetch failed/);
  assert.equal(cloud.existing().length, 2);
  await once({ fault: 'lost-request', call: 'launch' });
  await assert.rejects(make('c'), /fetch failed/);
  await once({ fault: 'duplicate-call', call: 'launch' });
  await make('c');
  assert.equal(cloud.existing().length, 3);
  await once({ fault: 'denied', type: 'n1-standard-2' });
  await refused(make('d'), 403);
  await once({ fault: 'quota' });
  assert.equal((await insert('d')).error.errors[0].code, 'QUOTA_EXCEEDED');
  const list = () =>
    ask('GET', `${compute}/aggregated/instances`).then(({ items }) => items[`zones/${zone}`].instances?.length ?? 0);
  await once({ fault: 'duplicate-entry' });
  assert.equal(await list(), 4);
  await once({ fault: 'stale-list', seconds: 1000 });
  assert.equal(await list(), 0);
  await once({ fault: 'half-list' });
  await assert.rejects(list());
  await once({ fault: 'half-list', silent: true });
  await assert.rejects(list());
  const log = await admin.calls({ call: 'instances.insert' });
  assert.deepEqual([log[0]?.error, log[0]?.status, log[0]?.asked?.type], ['rateLimitExceeded', 403, 'n1-standard-2']);
  assert.ok(log.some(({ instances: made }) => made?.length === 1));
});

test('the page of its behaviour names every method, and that of the cloud every fault', () => {
  const read = (name: string): string =>
    readFileSync(new URL(`../../lab/${name}/behaviour.md`, import.meta.url), 'utf8');
  const page = read('google');
  for (const name of ['compute', 'tpu', 'iam', 'cloudresourcemanager', 'oslogin'].flatMap(methodsOf)) {
    const [noun = '', verb = ''] = name.split('.');
    const line = page
      .split('\n')
      .find((each) => each.includes(`${noun}: `) && new RegExp(`${noun}: [^;|]*\\b${verb}\\b`).test(each));
    assert.ok(line, name);
  }
  for (const name of faultNames) assert.ok(read('cloud').includes(`\`${name}\``), name);
});
