// needs: openssl, google-discovery

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labProject } from '../../../lab/google/open.ts';
import { mantaTags, rayTags } from '../../../src/core/ray-tags.ts';
import { providerErrors } from '../../../src/providers/errors.ts';
import { never, until } from '../../contract/waiting.ts';
import { asker, compute } from '../../lab/google-bed.ts';
import { ask, clusterText, preparedOf, providerOf, standInGoogle, zone } from './google-bed.ts';

const nameOf = (id: string): string => id.slice(id.indexOf('/') + 1);

test('workers of one launch are asked for by one call, a head by itself', async (t) => {
  const google = await standInGoogle(t);
  const provider = providerOf(google);
  await provider.launch(ask('three', { count: 3 }), never);
  await provider.launch(ask('head', { type: 'head', tags: { [rayTags.kind]: 'head' } }), never);
  const made = (await google.admin.calls()).map(({ operation = '' }) => operation).filter((name) => /nsert/.test(name));
  assert.deepEqual(made, ['instances.bulkInsert', 'instances.insert']);
});

test('a spot worker that is preempted leaves neither instance nor disk', async (t) => {
  const google = await standInGoogle(t);
  const text = clusterText({ worker: ['scheduling: [{preemptible: true}]'] });
  const provider = providerOf(google, { text });
  const [made] = await provider.launch(ask('spot', { market: 'spot' }), never);
  await until('it runs', async () => (await provider.list(never))[0]?.state === 'running');
  assert.equal((await provider.list(never))[0]?.market, 'spot');
  await google.admin.preempt(google.idOf(nameOf(made!.id)));
  await until('it is gone', async () => (await provider.list(never)).length === 0);
  assert.deepEqual(await provider.remains(never), []);
  assert.equal((await provider.lastKnown(made!.id, never))?.ended, true);
});

test('links of the file are those of the zone that is tried', async (t) => {
  const google = await standInGoogle(t);
  const link = `https://www.googleapis.com/compute/v1/projects/x/zones/${zone}/machineTypes/n1-standard-4`;
  const text = clusterText({ worker: [`machineType: ${link}`] }).replace(
    '      machineType: n1-standard-2\n      machineType: h',
    '      machineType: h',
  );
  const provider = providerOf(google, { text, prepared: preparedOf({}, { zones: [zone, 'us-west1-b'] }) });
  const [made] = await provider.launch(ask('later', { zone: 'us-west1-b' }), never);
  assert.equal(made?.zone, 'us-west1-b');
  const shown = await asker(google.localEndpoint, google.token)(
    'GET',
    `${compute}/zones/us-west1-b/instances/${nameOf(made.id)}`,
  );
  assert.match(shown.machineType, /us-west1-b\/machineTypes\/n1-standard-4$/);
});

test('an instance lets in the key of the cluster beside those of the file, and runs both start-up scripts', async (t) => {
  const google = await standInGoogle(t);
  const text = clusterText({
    worker: [
      'metadata: {items: [{key: startup-script, value: "echo mine"}, {key: ssh-keys, value: "me:ssh-rsa AAA"}]}',
    ],
  });
  const provider = providerOf(google, { text, client: { bootProgram: () => 'echo watchdog' } });
  const [made] = await provider.launch(ask('boots'), never);
  const shown = await asker(google.localEndpoint, google.token)(
    'GET',
    `${compute}/zones/${zone}/instances/${nameOf(made!.id)}`,
  );
  const items = new Map(
    (shown.metadata.items as { key: string; value: string }[]).map(({ key, value }) => [key, value]),
  );
  assert.equal(items.get('ssh-keys'), 'me:ssh-rsa AAA\nubuntu:ssh-ed25519 AAAA head');
  assert.equal(items.get('enable-oslogin'), 'FALSE');
  assert.match(items.get('startup-script') ?? '', /echo watchdog[^]*echo mine/);
});

test('an instance whose operation never ends is answered as pending, and is the same for the same token', async (t) => {
  const google = await standInGoogle(t, { settings: { boot_s: [60, 60] } });
  google.cloud.faults.add({ fault: 'stuck-operation', call: 'instances.bulkInsert' });
  const provider = providerOf(google, { launchWait: 50 });
  const made = await provider.launch(ask('stuck', { count: 2 }), never);
  assert.deepEqual(
    made.map(({ state }) => state),
    ['pending', 'pending'],
  );
  const again = await providerOf(google, { launchWait: 50 }).launch(ask('stuck', { count: 2 }), never);
  assert.deepEqual(again.map(({ id }) => id).sort(), made.map(({ id }) => id).sort());
});

test('a launch that Google takes back has no capacity', async (t) => {
  const google = await standInGoogle(t);
  google.cloud.faults.add({ fault: 'rollback', count: 2, times: 1 });
  const provider = providerOf(google);
  await assert.rejects(provider.launch(ask('back', { count: 3 }), never), { code: providerErrors.NoCapacity.code });
  await until('nothing is left', async () => (await provider.list(never)).length === 0);
});

test('a launch that Google made and answered with an error is not made again', async (t) => {
  const google = await standInGoogle(t);
  google.cloud.faults.add({ fault: 'server-error', call: 'instances.bulkInsert', after: true, times: 1 });
  const provider = providerOf(google);
  const made = await provider.launch(ask('after', { count: 2 }), never);
  assert.equal(made.length, 2);
  await until('both are listed', async () => (await provider.list(never)).length === 2);
});

test('names and values that labels cannot hold come back as they were', async (t) => {
  const google = await standInGoogle(t);
  const provider = providerOf(google);
  const tags = { 'Owner/Team': 'Jörg Müller', [mantaTags.launchHash]: 'x__y', long: 'A'.repeat(15) };
  const [made] = await provider.launch(ask('First One', { tags }), never);
  await until('it is listed', async () => (await provider.list(never)).length === 1);
  const [shown] = await provider.list(never);
  assert.equal(shown?.launchToken, 'First One');
  for (const [key, value] of Object.entries(tags)) assert.equal(shown?.tags[key], value);
  assert.equal(shown?.id, made?.id);
});

test('tags that two heads set at once are both there', async (t) => {
  const google = await standInGoogle(t);
  const [made] = await providerOf(google).launch(ask('tagged'), never);
  await Promise.all(
    Array.from({ length: 5 }, (_, head) => providerOf(google).tag(made!.id, { [`tag-${head}`]: 'x' }, never)),
  );
  const [shown] = await providerOf(google).list(never);
  assert.equal(Object.keys(shown?.tags ?? {}).filter((key) => key.startsWith('tag-')).length, 5);
});

test('a list that misses a zone is no list', async (t) => {
  const google = await standInGoogle(t);
  google.cloud.faults.add({ fault: 'unreachable', zone: 'us-east1-b', times: 1 });
  await assert.rejects(providerOf(google).list(never), { code: providerErrors.Unreachable.code });
});

test('an instance that is protected does not hold up the end of others', async (t) => {
  const google = await standInGoogle(t);
  const held = providerOf(google, { text: clusterText({ worker: ['deletionProtection: true'] }) });
  const provider = providerOf(google);
  const made = [
    ...(await held.launch(ask('held'), never)),
    ...(await provider.launch(ask('free', { count: 2 }), never)),
  ];
  await assert.rejects(
    provider.terminate(
      made.map(({ id }) => id),
      never,
    ),
    { code: 'MANTA_GOOGLE_PROTECTED' },
  );
  await until('the others are gone', async () => (await provider.list(never)).length === 1);
});

test('other clusters of the project are left alone, and clusters of the name are told apart', async (t) => {
  const google = await standInGoogle(t);
  const one = providerOf(google);
  const two = providerOf(google, { clusterId: 'c-2' });
  await one.launch(ask('same'), never);
  const [other] = await two.launch(ask('same'), never);
  assert.deepEqual(
    (await two.list(never)).map(({ id }) => id),
    [other?.id],
  );
  assert.equal((await one.list(never)).length, 1);
});

test('a disabled API is named with the command that enables it', async (t) => {
  const google = await standInGoogle(t);
  google.project.disabled.add('compute');
  const { number } = google.project;
  await assert.rejects(providerOf(google).list(never), (error: Error) => {
    assert.equal((error as { code?: string }).code, providerErrors.Denied.code);
    assert.match(error.message, new RegExp(`gcloud services enable compute.googleapis.com --project ${number}`));
    return true;
  });
});

test('who may not is told the permission', async (t) => {
  const google = await standInGoogle(t);
  const credentials = google.addAccount('viewer', 'roles/compute.viewer');
  const provider = providerOf(google, { credentials });
  await assert.rejects(provider.launch(ask('no'), never), (error: Error) => {
    assert.equal((error as { code?: string }).code, providerErrors.Denied.code);
    assert.match(error.message, /compute\.instances\.create/);
    return true;
  });
});

test('an organisation policy that forbids a launch is named', async (t) => {
  const google = await standInGoogle(t);
  google.project.policies.set('compute.vmExternalIpAccess', []);
  await assert.rejects(providerOf(google).launch(ask('policy'), never), (error: Error) => {
    assert.equal((error as { code?: string }).code, providerErrors.Denied.code);
    assert.match(error.message, /constraints\/compute\.vmExternalIpAccess/);
    return true;
  });
});

test('what was made for a cluster goes with it', async (t) => {
  const google = await standInGoogle(t);
  const call = asker(google.localEndpoint, google.token);
  await call('POST', `${compute}/global/firewalls`, {
    name: 'ray-bed-ssh',
    network: `projects/${labProject}/global/networks/default`,
    allowed: [{ IPProtocol: 'tcp', ports: ['22'] }],
  });
  const prepared = preparedOf({ made: [{ kind: 'firewall rule', id: 'ray-bed-ssh' }] });
  const provider = providerOf(google, { prepared });
  assert.deepEqual(await provider.remains(never), [{ kind: 'firewall rule', id: 'ray-bed-ssh' }]);
  await provider.release(never);
  await provider.release(never);
  assert.deepEqual(await provider.remains(never), []);
});

test('an account of the cluster goes, and grants of others keep their conditions', async (t) => {
  const google = await standInGoogle(t);
  const { project, world } = google;
  const email = `ray-bed@${labProject}.iam.gserviceaccount.com`;
  world.addAccount(project, email, 'Head', ['roles/compute.admin']);
  const condition = { title: 'until spring', expression: 'request.time < timestamp("2027-03-20T00:00:00Z")' };
  const granted = { role: 'roles/viewer', members: ['user:ada@example.com'], condition };
  project.bind([...project.bindings, granted]);
  await providerOf(google, { prepared: preparedOf({ made: [{ kind: 'service account', id: email }] }) }).release(never);
  assert.ok(!project.bindings.some(({ members }) => members.includes(`serviceAccount:${email}`)));
  assert.deepEqual(
    project.bindings.find(({ role }) => role === 'roles/viewer'),
    granted,
  );
});
