// needs: openssl, google-discovery

/** What lab/google/behaviour.md says of Compute Engine's instances, on machines that are none. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { labProject } from '../../lab/google/open.ts';
import { until } from '../contract/waiting.ts';
import { type Answer, compute, googleBed, machine, refused, zone } from './google-bed.ts';

const instances = `${compute}/zones/${zone}/instances`;
const codes = (operation: Answer): string[] => (operation.error?.errors ?? []).map((each: Answer) => each.code);
const spot = { provisioningModel: 'SPOT', instanceTerminationAction: 'DELETE', onHostMaintenance: 'TERMINATE' };

/** As a bulk insert has it: without a name, and with that of its type alone. */
const unlinked = { name: undefined, machineType: 'n1-standard-2' };

test('an instance is inserted, runs, is stopped, started and deleted, each by an operation', async (t) => {
  const { ask, wait, get, reaches, admin } = await googleBed(t);
  const operation = await ask('POST', instances, machine('one', { labels: { team: 'a' } }));
  assert.deepEqual([operation.status, operation.operationType], ['RUNNING', 'insert']);
  const done = await wait(operation);
  assert.deepEqual([done.status, done.error], ['DONE', undefined]);
  const shown = await get('one');
  assert.equal(shown.status, 'RUNNING');
  assert.equal(shown.id, done.targetId);
  assert.match(shown.machineType, /zones\/us-west1-a\/machineTypes\/n1-standard-2$/);
  assert.deepEqual(shown.labels, { team: 'a' });
  const [card] = shown.networkInterfaces;
  assert.ok(card.networkIP && card.accessConfigs[0].natIP);
  assert.equal((await ask('GET', instances)).items.length, 1);

  await wait(await ask('POST', `${instances}/one/stop`));
  assert.equal((await get('one')).status, 'TERMINATED');
  assert.equal((await get('one')).networkInterfaces[0].accessConfigs[0].natIP, undefined);
  const disks = `${compute}/zones/${zone}/disks`;
  assert.deepEqual(
    (await ask('GET', disks)).items.map((disk: Answer) => [disk.name, disk.sizeGb]),
    [['one', '50']],
    'its disk stays',
  );
  await wait(await ask('POST', `${instances}/one/start`));
  await reaches('one', 'RUNNING');
  assert.notEqual((await get('one')).networkInterfaces[0].accessConfigs[0].natIP, card.accessConfigs[0].natIP);
  await wait(await ask('DELETE', `${instances}/one`));
  await refused(get('one'), 404, /instances\/one' was not found/);
  assert.equal((await ask('GET', instances)).items, undefined);
  assert.equal((await ask('GET', disks)).items, undefined);
  await refused(ask('DELETE', `${instances}/one`), 404);
  assert.deepEqual(
    (await admin.instances()).map(({ name, exists }) => [name, exists]),
    [['one', false]],
  );
});

test('what a request lacks, misspells or cannot have is refused in the words of Compute Engine', async (t) => {
  const { ask } = await googleBed(t);
  const disk = (more: object) => ({ disks: [{ boot: true, initializeParams: more }] });
  const image = 'projects/ubuntu-os-cloud/global/images/family/ubuntu-2204-lts';
  for (const [more, status, words] of [
    [{ name: undefined }, 400, /Required field 'resource\.name'/],
    [{ name: 'Not_A_Name' }, 400, /Must be a match of regex/],
    [{ colour: 'red' }, 400, /Unknown name "colour" at 'resource': Cannot find field/],
    [{ disks: [{ boot: true, size: 1 }] }, 400, /Unknown name "size" at 'resource\.disks\[0\]'/],
    [{ canIpForward: 'yes' }, 400, /resource\.canIpForward/],
    [{ scheduling: { provisioningModel: 'CHEAP' } }, 400, /'resource\.scheduling\.provisioningModel': 'CHEAP'/],
    [{ machineType: 'n1-standard-2' }, 400, /The URL is malformed/],
    [{ machineType: `zones/${zone}/machineTypes/n1-huge-2` }, 400, /does not exist in zone 'us-west1-a'/],
    [{ machineType: 'zones/us-west1-b/machineTypes/n1-standard-2' }, 400, /in zone 'us-west1-b'/],
    [{ disks: [] }, 400, /No disks/],
    [disk({ sourceImage: 'projects/ubuntu-os-cloud/global/images/family/none' }), 404, /family\/none' was not found/],
    [disk({ sourceImage: image, diskSizeGb: 5 }), 400, /cannot be smaller/],
    [disk({ sourceImage: image, diskType: 'zones/z/diskTypes/pd-fast' }), 400, /diskType/],
    [{ networkInterfaces: [{ network: 'global/networks/other' }] }, 404, /networks\/other/],
    [{ serviceAccounts: [{ email: 'nobody@x.iam.gserviceaccount.com' }] }, 404, /nobody@x/],
    [{ labels: { Team: 'a' } }, 400, /'Team' is not a valid label key/],
    [{ labels: { team: 'A' } }, 400, /'A' is not a valid value/],
    [{ metadata: { items: [{ key: 'a', value: 'x'.repeat(300_000) }] } }, 413, /maximum size 262144/],
    [{ scheduling: { instanceTerminationAction: 'DELETE' } }, 400, /standard provisioning model/],
    [
      {
        guestAccelerators: [{ acceleratorType: `zones/${zone}/acceleratorTypes/nvidia-tesla-t4`, acceleratorCount: 1 }],
      },
      400,
      /live migration/,
    ],
    [
      { guestAccelerators: [{ acceleratorType: `zones/${zone}/acceleratorTypes/nvidia-none`, acceleratorCount: 1 }] },
      404,
      /nvidia-none/,
    ],
  ] as const)
    await refused(ask('POST', instances, machine('one', more)), status, words);
  await refused(ask('POST', `${instances}?requestId=7`, machine('one')), 400, /requestId/);
  await refused(ask('GET', `${instances}?colour=red`), 400, /Unknown name "colour": Cannot bind query parameter/);
  await refused(ask('GET', `${instances}?filter=${encodeURIComponent('name =')}`), 400, /list filter/);
  await refused(ask('GET', `${compute}/global/urlMaps`), 501, /does not have the method compute\.urlMaps\.list/);
});

test('scheduling as a list, types made to measure and templates are taken', async (t) => {
  const { ask, insert, get, world, project } = await googleBed(t);
  await insert('listed', { scheduling: [{ preemptible: true }, { onHostMaintenance: 'TERMINATE' }] });
  assert.deepEqual((await get('listed')).scheduling, {
    onHostMaintenance: 'TERMINATE',
    automaticRestart: false,
    preemptible: true,
    provisioningModel: 'STANDARD',
  });
  await insert('custom', { machineType: `zones/${zone}/machineTypes/custom-6-16384` });
  const type = await ask('GET', `${compute}/zones/${zone}/machineTypes/custom-6-16384`);
  assert.deepEqual([type.guestCpus, type.memoryMb], [6, 16384]);
  world.addTemplate(project, 'worker', machine('x', { labels: { from: 'template' } }));
  const template = encodeURIComponent('global/instanceTemplates/worker');
  await ask('POST', `${instances}?sourceInstanceTemplate=${template}`, { name: 'templated' });
  assert.deepEqual((await get('templated')).labels, { from: 'template' });
  await refused(
    ask('POST', `${instances}?sourceInstanceTemplate=none`, { name: 'no' }),
    404,
    /instanceTemplates\/none/,
  );
});

test('a name is there once, and can be used again when its instance is gone; a request may come twice', async (t) => {
  const { ask, insert, wait } = await googleBed(t);
  await insert('one');
  const error = await refused(ask('POST', instances, machine('one')), 409, /already exists/);
  assert.equal(error.reason, 'alreadyExists');
  await wait(await ask('DELETE', `${instances}/one`));
  assert.equal((await insert('one')).error, undefined);
  const id = randomUUID();
  const first = await ask('POST', `${instances}?requestId=${id}`, machine('two'));
  const again = await ask('POST', `${instances}?requestId=${id}`, machine('two'));
  assert.equal(again.name, first.name);
});

test('a failed insert leaves its operation and no instance', async (t) => {
  const { insert, admin, ask, get, project } = await googleBed(t);
  await admin.fault({ fault: 'no-capacity', zone, times: 1 });
  const none = await insert('one');
  assert.deepEqual(codes(none), ['ZONE_RESOURCE_POOL_EXHAUSTED']);
  assert.deepEqual([none.httpErrorStatusCode, none.status], [503, 'DONE']);
  await refused(get('one'), 404);
  await admin.fault({ fault: 'late-refusal', code: 'no-capacity', times: 1 });
  assert.deepEqual(codes(await insert('two')), ['ZONE_RESOURCE_POOL_EXHAUSTED']);
  await admin.fault({ fault: 'late-refusal', code: 'RESOURCE_OPERATION_RATE_EXCEEDED', message: 'slow', times: 1 });
  assert.deepEqual(codes(await insert('two')), ['RESOURCE_OPERATION_RATE_EXCEEDED']);
  await until('nothing is listed', async () => (await ask('GET', instances)).items === undefined);
  project.policies.set('compute.vmExternalIpAccess', []);
  const denied = await insert('three');
  assert.deepEqual(codes(denied), ['CONDITION_NOT_MET']);
  assert.match(denied.error.errors[0].message, /constraints\/compute\.vmExternalIpAccess violated for project \d+/);
  assert.equal((await insert('four', { networkInterfaces: [{}] })).error, undefined);
});

test('organisation policies that are looked at first refuse the call', async (t) => {
  const { ask, project } = await googleBed(t);
  project.policies.set('compute.requireOsLogin', []);
  const metadata = { items: [{ key: 'enable-oslogin', value: 'FALSE' }] };
  const error = await refused(ask('POST', instances, machine('one', { metadata })), 412, /compute\.requireOsLogin/);
  assert.equal(error.reason, 'conditionNotMet');
  project.policies.set('compute.trustedImageProjects', ['projects/ubuntu-os-cloud']);
  await refused(ask('POST', instances, machine('one')), 412, /compute\.trustedImageProjects.*deeplearning-platform/);
});

test('quotas are those of a region, of the whole project, and of the cloud', async (t) => {
  const { insert, project, ask, admin } = await googleBed(t);
  project.quotas.push({ metric: 'CPUS', limit: 4, region: 'us-west1' }, { metric: 'GPUS_ALL_REGIONS', limit: 1 });
  const gpu = (count: number) => ({
    scheduling: { onHostMaintenance: 'TERMINATE' },
    guestAccelerators: [{ acceleratorType: `zones/${zone}/acceleratorTypes/nvidia-tesla-t4`, acceleratorCount: count }],
  });
  const global = await insert('g', gpu(2));
  assert.equal(global.error.errors[0].message, "Quota 'GPUS_ALL_REGIONS' exceeded.  Limit: 1.0 globally.");
  await insert('a');
  assert.equal((await insert('b', gpu(1))).error, undefined);
  const region = await insert('c');
  assert.deepEqual(codes(region), ['QUOTA_EXCEEDED']);
  assert.equal(region.error.errors[0].message, "Quota 'CPUS' exceeded.  Limit: 4.0 in region us-west1.");
  assert.deepEqual(region.error.errors[0].errorDetails[0].quotaInfo.dimensions, { region: 'us-west1' });
  const shown = (await ask('GET', `${compute}/regions/us-west1`)).quotas.find((each: Answer) => each.metric === 'CPUS');
  assert.deepEqual([shown.limit, shown.usage], [4, 4]);
  assert.equal((await insert('d', {}, 'us-central1-a')).error, undefined, 'elsewhere there is room');
  await admin.set({ quotas: { cpus_spot: 0 } });
  assert.match((await insert('e', { scheduling: spot })).error.errors[0].message, /'PREEMPTIBLE_CPUS' exceeded/);
});

test('several at once are of one group, and may be fewer than were asked for', async (t) => {
  const { ask, wait, admin } = await googleBed(t);
  await admin.set({ capacity: [{ zone, limit: 3 }] });
  const properties = machine('x', unlinked);
  const bulk = (more: object) =>
    ask('POST', `${instances}/bulkInsert`, { count: '5', minCount: '1', instanceProperties: properties, ...more });
  const names = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [`w-${name}`, {}]));
  const whole = await wait(await bulk({ perInstanceProperties: names }));
  assert.equal(whole.error, undefined);
  assert.deepEqual(whole.instancesBulkInsertOperationMetadata.perLocationStatus[`zones/${zone}`], {
    status: 'DONE',
    targetVmCount: 5,
    createdVmCount: 3,
    failedToCreateVmCount: 2,
    deletedVmCount: 0,
  });
  const filter = encodeURIComponent(`operationGroupId = "${whole.operationGroupId}" AND operationType = insert`);
  const each = (await ask('GET', `${compute}/zones/${zone}/operations?filter=${filter}`)).items;
  assert.deepEqual(each.map((one: Answer) => [one.targetLink.split('/').at(-1), ...codes(one)]).sort(), [
    ['w-a'],
    ['w-b'],
    ['w-c'],
    ['w-d', 'ZONE_RESOURCE_POOL_EXHAUSTED'],
    ['w-e', 'ZONE_RESOURCE_POOL_EXHAUSTED'],
  ]);
  await refused(bulk({ perInstanceProperties: names }), 409, /w-a' already exists/);
  const less = await wait(await bulk({ namePattern: 'n-##', minCount: '5' }));
  assert.deepEqual(codes(less), ['ZONE_RESOURCE_POOL_EXHAUSTED']);
  await refused(bulk({ minCount: '9', namePattern: 'n-#' }), 400, /minCount/);
  assert.equal((await ask('GET', instances)).items.length, 3);
});

test('several at once may be taken back', async (t) => {
  const { ask, wait, admin } = await googleBed(t);
  await admin.fault({ fault: 'rollback', count: 2, times: 1 });
  const body = { count: '3', namePattern: 'w-#', instanceProperties: machine('x', unlinked) };
  const whole = await wait(await ask('POST', `${instances}/bulkInsert`, body));
  assert.deepEqual(codes(whole), ['ZONE_RESOURCE_POOL_EXHAUSTED']);
  const { status, deletedVmCount } = whole.instancesBulkInsertOperationMetadata.perLocationStatus[`zones/${zone}`];
  assert.deepEqual([status, deletedVmCount], ['DONE', 2]);
  assert.equal((await ask('GET', instances)).items, undefined);
  assert.equal((await admin.instances()).length, 2);
});

test('while it is taken back an operation says so, and one may never end', async (t) => {
  const { ask, admin, get } = await googleBed(t, { settings: { terminate_s: [3, 3] } });
  await admin.fault({ fault: 'rollback', count: 1, times: 1 });
  const body = { count: '2', namePattern: 'w-#', instanceProperties: machine('x', unlinked) };
  const { name } = await ask('POST', `${instances}/bulkInsert`, body);
  const look = () => ask('GET', `${compute}/zones/${zone}/operations/${name}`);
  await until('it is rolled back', async () => {
    const { instancesBulkInsertOperationMetadata: now } = await look();
    return now.perLocationStatus[`zones/${zone}`].status === 'ROLLING_BACK';
  });
  await admin.fault({ fault: 'stuck-operation', call: 'instances.insert', times: 1 });
  const stuck = await ask('POST', instances, machine('stuck'));
  await until('it runs', async () => (await get('stuck')).status === 'RUNNING');
  assert.equal((await ask('GET', new URL(stuck.selfLink).pathname)).status, 'RUNNING');
});

test('labels and metadata change by their fingerprints, and a stale one is refused', async (t) => {
  const { ask, insert, get, wait, project } = await googleBed(t);
  await insert('one', { labels: { a: '1' }, metadata: { items: [{ key: 'k', value: 'v' }] } });
  const { labelFingerprint, metadata } = await get('one');
  const set = (labels: object, fingerprint: string) =>
    ask('POST', `${instances}/one/setLabels`, { labels, labelFingerprint: fingerprint });
  await wait(await set({ b: '2' }, labelFingerprint));
  assert.deepEqual((await get('one')).labels, { b: '2' });
  const error = await refused(set({ c: '3' }, labelFingerprint), 412, /Labels fingerprint/);
  assert.equal(error.reason, 'conditionNotMet');
  const items = [{ key: 'k', value: 'w' }];
  await refused(ask('POST', `${instances}/one/setMetadata`, { items, fingerprint: metadata.fingerprint }), 412);
  const { fingerprint } = (await get('one')).metadata;
  await ask('POST', `${instances}/one/setMetadata`, { items, fingerprint });
  assert.deepEqual((await get('one')).metadata.items, items);

  const whole = (await ask('GET', compute)).commonInstanceMetadata;
  const common = (value: string, of: string) =>
    ask('POST', `${compute}/setCommonInstanceMetadata`, { items: [{ key: 'ssh-keys', value }], fingerprint: of });
  await wait(await common('u:ssh-rsa A u', whole.fingerprint));
  await refused(common('u:ssh-rsa B u', whole.fingerprint), 412);
  assert.equal(project.metadata.get('ssh-keys'), 'u:ssh-rsa A u');
  const now = (await ask('GET', compute)).commonInstanceMetadata.fingerprint;
  await refused(common('x'.repeat(530_000), now), 413, /too large/);
});

test('a preempted machine is deleted with its disk, or stopped with it, as it was asked for', async (t) => {
  const { insert, admin, reaches, idOf, ask, get } = await googleBed(t);
  await insert('goes', { scheduling: spot });
  await insert('stays', { scheduling: { preemptible: true } });
  await admin.preempt(idOf('goes'));
  await admin.preempt(idOf('stays'));
  await reaches('stays', 'TERMINATED');
  await until('it is gone', () => refused(get('goes'), 404).then(() => true));
  const disks = (await ask('GET', `${compute}/aggregated/disks`)).items[`zones/${zone}`].disks;
  assert.deepEqual(
    disks.map((disk: Answer) => disk.name),
    ['stays'],
  );
  const filter = encodeURIComponent('operationType = "compute.instances.preempted"');
  const told = (await ask('GET', `${compute}/zones/${zone}/operations?filter=${filter}`)).items;
  assert.equal(told.length, 2);
  assert.equal((await admin.costs()).length, 1, 'a stopped machine costs its disk');
});

test('a machine that switches itself off is TERMINATED, and holds no quota', async (t) => {
  const { insert, hypervisor, reaches, project, idOf } = await googleBed(t);
  project.quotas.push({ metric: 'CPUS', limit: 2, region: 'us-west1' });
  await insert('one');
  hypervisor.orders.find(({ instance }) => instance === idOf('one'))!.poweredOff();
  await reaches('one', 'TERMINATED');
  assert.equal((await insert('two')).error, undefined);
});

test('lists have pages, filters, and name the zones that they leave out', async (t) => {
  const { ask, admin, wait } = await googleBed(t, { settings: { page_size: 100 } });
  const properties = machine('x', { ...unlinked, labels: { cluster: 'c' } });
  await wait(
    await ask('POST', `${instances}/bulkInsert`, {
      count: '120',
      namePattern: 'w-###',
      instanceProperties: properties,
    }),
  );
  const other = machine('other', { labels: { tpu_cores: '8' } }, 'us-central1-b');
  await wait(await ask('POST', `${compute}/zones/us-central1-b/instances`, other));
  const first = await ask('GET', `${compute}/aggregated/instances`);
  const second = await ask('GET', `${compute}/aggregated/instances?pageToken=${first.nextPageToken}`);
  const names = [first, second].flatMap((page) =>
    Object.values(page.items as Record<string, Answer>).flatMap(({ instances: each = [] }) =>
      each.map((one: Answer) => one.name),
    ),
  );
  assert.deepEqual([names.length, new Set(names).size, second.nextPageToken], [121, 121, undefined]);
  assert.equal(first.items['zones/us-east1-b'].warning.code, 'NO_RESULTS_ON_PAGE');

  const ray = '((labels.cluster = c)) AND ((status = RUNNING) OR (status = STAGING)) AND (NOT labels.tpu_cores:*)';
  const some = (filter: string, where = instances) =>
    ask('GET', `${where}?maxResults=500&filter=${encodeURIComponent(filter)}`).then(({ items = [] }) => items.length);
  assert.equal(await some(ray), 100);
  assert.equal(await some('labels.cluster = d'), 0);
  assert.equal(await some('name eq w-00.'), 9);
  assert.equal(await some('name != w-001 name != w-002 (name = w-001 OR name = w-003)'), 1);
  assert.equal(await some('(NOT labels.tpu_cores:*)', `${compute}/zones/us-central1-b/instances`), 0);

  await admin.fault({ fault: 'unreachable', zone: 'us-central1-b' });
  const part = await ask('GET', `${compute}/aggregated/instances`);
  assert.equal(part.items['zones/us-central1-b'].warning.code, 'UNREACHABLE');
  assert.deepEqual(part.unreachables, [`projects/${labProject}/zones/us-central1-b`]);
  await refused(ask('GET', `${compute}/zones/us-central1-b/instances`), 503);
});

test('deletion protection holds, and what a machine said at its console is told', async (t) => {
  const { ask, insert } = await googleBed(t);
  await insert('one', { deletionProtection: true });
  await refused(ask('DELETE', `${instances}/one`), 400, /protected against deletion/);
  assert.match((await ask('GET', `${instances}/one/serialPort`)).contents, /booted/);
});
