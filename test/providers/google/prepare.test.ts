// needs: openssl, google-discovery

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cluster, fails, isChange, preparationBed } from './prepare-bed.ts';

const ownAccount = /^ray-demo-[a-z2-7]{8}@lab-project\.iam\.gserviceaccount\.com$/;

test('a fresh project gets a service account with a role of its own, and the rest is found', async (t) => {
  const { up, plan, calls, project } = await preparationBed(t);
  const planned = await plan();
  assert.deepEqual((await calls()).filter(isChange), []);
  assert.deepEqual(
    planned.steps.filter(({ action }) => action === 'create').map(({ what }) => what),
    ['service account of the head'],
  );
  const prepared = await up();
  assert.equal(prepared.project, 'lab-project');
  assert.deepEqual(prepared.zones, ['us-central1-a']);
  assert.match(prepared.serviceAccount!.email, ownAccount);
  assert.deepEqual(prepared.types['worker'], {
    kind: 'compute',
    machine: 'n2-standard-4',
    resources: { CPU: 4, memory: Math.floor(16 * 2 ** 30 * 0.7) },
    zones: ['us-central1-a'],
    diskGb: 10,
  });
  assert.deepEqual(prepared.network, {
    network: 'projects/lab-project/global/networks/default',
    subnetwork: 'projects/lab-project/regions/us-central1/subnetworks/default',
    external: true,
  });
  assert.deepEqual(
    prepared.made.map(({ kind }) => kind),
    ['service account', 'role'],
  );
  const member = `serviceAccount:${prepared.serviceAccount!.email}`;
  const [binding] = project.bindings.filter(({ members }) => members.includes(member));
  assert.equal(binding?.role, prepared.made[1]!.id);
  const permissions = project.permissionsOf(binding.role)!;
  assert.ok(permissions.includes('compute.instances.create'));
  assert.ok(!permissions.some((each) => /^tpu\.|setIamPolicy|actAs/.test(each)), 'nothing that the file does not need');
  assert.deepEqual([...project.metadata.keys()], [], 'no key in the metadata of the project');
});

test('what is there is found again, and nothing is made twice', async (t) => {
  const { up, admin, calls } = await preparationBed(t);
  const first = await up();
  const before = (await calls()).at(-1)!.number;
  const second = await up();
  assert.deepEqual({ ...second, prices: first.prices }, first);
  assert.deepEqual((await admin.calls({ since: before })).filter(isChange), []);
});

test('a file without a project uses that of the credentials, and the plan says so', async (t) => {
  const { plan } = await preparationBed(t);
  const { steps } = await plan({ text: cluster().replace('project_id: lab-project', 'project_id: null') });
  const [project] = steps.filter(({ what }) => what === 'project');
  assert.equal(project?.id, 'lab-project');
  assert.match(project.note ?? '', /your credentials/);
});

test('a project that does not exist is refused, and none is created', async (t) => {
  const { up, changes } = await preparationBed(t);
  const text = cluster().replace('lab-project', 'somebody-elses');
  await fails(up({ text }), 'MANTA_GOOGLE_NO_PROJECT', 2, /never creates projects/);
  await fails(up({ text: cluster().replace('lab-project', 'TODO') }), 'MANTA_GOOGLE_NO_PROJECT', 2);
  assert.deepEqual(await changes(), []);
});

test("Ray's own service account is used where it exists, and what it lacks is said", async (t) => {
  const { addAccount, up, plan, changes } = await preparationBed(t);
  addAccount('ray-autoscaler-sa-v1', 'roles/compute.admin', 'roles/iam.serviceAccountUser');
  const prepared = await up();
  assert.equal(prepared.serviceAccount?.email, 'ray-autoscaler-sa-v1@lab-project.iam.gserviceaccount.com');
  assert.deepEqual(prepared.made, []);
  assert.deepEqual(await changes(), []);
  const text = cluster({ machine: 'acceleratorType: v5litepod-16' });
  const { warnings } = await plan({ text });
  assert.match(warnings.join('\n'), /lacks roles\/tpu\.admin.*gcloud projects add-iam-policy-binding/);
});

test('an account that the file gives the head is left as it is', async (t) => {
  const { up, changes, world, project } = await preparationBed(t);
  const email = 'own@lab-project.iam.gserviceaccount.com';
  world.addAccount(project, email, 'ours', []);
  const head = `serviceAccounts: [{email: ${email}, scopes: [cloud-platform]}]`;
  const prepared = await up({ text: cluster({ head }) });
  assert.equal(prepared.serviceAccount, undefined);
  assert.deepEqual(await changes(), []);
});

test('an account that the file names and that does not exist is refused before anything is made', async (t) => {
  const { up, changes } = await preparationBed(t);
  const email = 'ray-autoscaler-sa-v1@lab-project.iam.gserviceaccount.com';
  const worker = `serviceAccounts: [{email: ${email}, scopes: [cloud-platform]}]`;
  await fails(
    up({ text: cluster({ worker }) }),
    'MANTA_GOOGLE_NO_ACCOUNT',
    2,
    /worker\.node_config\.serviceAccounts: there is no service account 'ray-autoscaler-sa-v1@[^]*service-accounts create ray-autoscaler-sa-v1 --project lab-project/,
  );
  assert.deepEqual(await changes(), []);
});

test('a policy that somebody else changes meanwhile is written again, and nobody loses a role', async (t) => {
  const { up, project, admin } = await preparationBed(t);
  await admin.fault({ fault: 'refuse', call: 'projects.setIamPolicy', code: 'ABORTED', times: 2 });
  const prepared = await up();
  const roles = project.bindings.flatMap(({ role, members }) => members.map((member) => `${role} ${member}`));
  assert.ok(roles.some((each) => each.endsWith(prepared.serviceAccount!.email)));
  assert.ok(roles.includes('roles/owner serviceAccount:lab-owner@lab-project.iam.gserviceaccount.com'));
});

test('an API that is switched off is named with the command that enables it', async (t) => {
  const { up, project } = await preparationBed(t);
  project.disabled.add('compute');
  await fails(
    up(),
    'MANTA_GOOGLE_SERVICE_DISABLED',
    5,
    /gcloud services enable compute\.googleapis\.com --project lab-project/,
  );
  project.disabled.delete('compute');
  project.disabled.add('tpu');
  await up();
  const text = cluster({ machine: 'acceleratorType: v5litepod-16' });
  await fails(up({ text }), 'MANTA_GOOGLE_SERVICE_DISABLED', 5, /enable tpu\.googleapis\.com/);
});

test('a permission that is missing is named', async (t) => {
  const { up, addAccount, changes } = await preparationBed(t);
  const as = addAccount('reader', 'roles/compute.viewer');
  await fails(up({ as }), 'MANTA_GOOGLE_MISSING_PERMISSION', 5, /iam\.serviceAccounts\.get/);
  const weak = addAccount('weak', 'roles/viewer');
  await fails(up({ as: weak }), 'MANTA_GOOGLE_MISSING_PERMISSION', 5, /iam\.(?:serviceAccounts|roles)\.create/);
  assert.deepEqual(
    [...new Set(await changes())].toSorted(),
    ['roles.create', 'serviceAccounts.create'],
    'both refused',
  );
});
