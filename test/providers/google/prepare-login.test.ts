// needs: openssl, google-discovery

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cluster, fails, preparationBed, publicKey } from './prepare-bed.ts';

test('the key goes into the metadata of instances, never into those of the project', async (t) => {
  const { up, plan, changes, project } = await preparationBed(t);
  project.metadata = new Map([['enable-oslogin', 'TRUE']]);
  const prepared = await up();
  assert.deepEqual(prepared.sshKeys, { user: 'ubuntu', publicKey });
  assert.equal(prepared.osLogin, undefined);
  assert.ok(!(await changes()).includes('projects.setCommonInstanceMetadata'));
  const { steps } = await plan();
  assert.match(steps.find(({ what }) => what === 'SSH key')?.note ?? '', /OS Login of the project does not apply/);
});

test('where OS Login is required the key is imported there, and its user name is used', async (t) => {
  const { up, plan, changes, project, world, addUser } = await preparationBed(t);
  project.policies.set('compute.requireOsLogin', []);
  const as = addUser('ada@example.com', 'roles/owner');
  const { steps } = await plan({ as });
  assert.match(steps.find(({ what }) => what === 'SSH key')?.note ?? '', /log in as ada_example_com/);
  assert.deepEqual(await changes(), []);
  const prepared = await up({ as });
  assert.deepEqual(prepared.osLogin, { user: 'ada_example_com' });
  assert.deepEqual([...world.osLogin.get('ada@example.com')!.keys.values()], [publicKey]);
  const [key] = prepared.made.filter(({ kind }) => kind === 'ssh key');
  assert.match(key!.id, /^users\/ada@example\.com\/sshPublicKeys\/[0-9a-f]+$/);
  const again = await up({ as });
  assert.deepEqual(again.made, prepared.made);
  assert.equal((await changes()).filter((each) => each === 'users.importSshPublicKey').length, 1);
});

test('a file that asks for OS Login gets it', async (t) => {
  const { up } = await preparationBed(t);
  const own = 'metadata: {items: [{key: enable-oslogin, value: "TRUE"}]}';
  const prepared = await up({ text: cluster({ head: own, worker: own }) });
  assert.match(prepared.osLogin?.user ?? '', /^sa_/);
});

test('somebody who may not log in where OS Login is required is told what is missing', async (t) => {
  const { up, project, addAccount, changes, admin } = await preparationBed(t);
  project.policies.set('compute.requireOsLogin', []);
  const as = addAccount('poor', 'roles/viewer', 'roles/compute.osLogin');
  await fails(up({ as }), 'MANTA_GOOGLE_OS_LOGIN_REQUIRED', 5, /osAdminLogin/);
  await admin.fault({ fault: 'refuse', call: 'users.getLoginProfile', code: 'SERVICE_DISABLED' });
  await fails(up(), 'MANTA_GOOGLE_OS_LOGIN_REQUIRED', 5, /gcloud services enable oslogin/);
  assert.deepEqual(await changes(), []);
});

test('a program elsewhere comes in by workload identity, as the account that it may take on', async (t) => {
  const { up, addWorkload, project } = await preparationBed(t);
  const as = addWorkload('build', 'roles/owner');
  const { serviceAccount } = await up({ as });
  assert.ok(project.account(serviceAccount!.email) !== undefined, 'it made the account of the head');
  const url = as.service_account_impersonation_url.replace('build', 'lab-owner');
  await fails(
    up({ as: { ...as, service_account_impersonation_url: url } }),
    'MANTA_GOOGLE_NO_LOGIN',
    5,
    /getAccessToken/,
  );
});
