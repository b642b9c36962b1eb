// needs: openssl, google-discovery

/** What lab/google/behaviour.md says of who may call, through the official library and the proxy where it is about tokens. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { labProject } from '../../lab/google/open.ts';
import { until } from '../contract/waiting.ts';
import { type Answer, asker, compute, googleBed, machine, refused, slice, tpu, zone } from './google-bed.ts';

const instances = `${compute}/zones/${zone}/instances`;

/** Runs the official library with the environment that it needs; the answer is what it printed. */
async function run(
  what: 'list' | 'signed' | 'documents',
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const program = fileURLToPath(new URL('./google-client.ts', import.meta.url));
  const child = spawn(process.execPath, [program, what], {
    env: { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [said, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const code = await new Promise((resolve) => child.on('close', resolve));
  assert.equal(code, 0, errors);
  return said.trim();
}

test('the official library gets tokens and calls by the names of Google, through the proxy', async (t) => {
  const { insert, environment, addUser, addAccount, project, admin } = await googleBed(t);
  await insert('one');
  assert.equal(await run('list', environment()), `${labProject} one`);
  const user = addUser('ada@example.com', 'roles/compute.viewer');
  assert.equal(await run('list', environment(user)), `${labProject} one`);
  const own = environment(addAccount('watcher', 'roles/compute.viewer'));
  assert.equal(await run('signed', own), `${labProject} one`, 'a token that the account signed itself');
  const calls = await admin.calls({ call: 'instances.list' });
  assert.deepEqual(
    calls.map(({ account, status }) => [account, status]),
    Array.from({ length: 3 }, () => [project.id, 200]),
  );
  const { hostname, port } = new URL(environment()['HTTPS_PROXY']!);
  const elsewhere = httpRequest({ method: 'CONNECT', hostname, port, path: 'example.com:443', agent: false }).end();
  const [answer] = (await once(elsewhere, 'connect')) as [IncomingMessage];
  assert.equal(answer.statusCode, 502, 'other names lead nowhere');
});

test('a key of another, a token that has expired and none at all are refused', async (t) => {
  const { environment, credentials, localEndpoint, world, token } = await googleBed(t);
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  assert.match(
    await run('list', environment({ ...credentials, private_key: other as string })),
    /Invalid JWT Signature/,
  );
  const as = (given: string) => asker(localEndpoint, () => given)('GET', instances);
  await refused(as('nonsense'), 401, /invalid authentication credentials/);
  await refused(as(world.tokens.give(credentials.client_email, undefined, -1)), 401);
  const bare = await fetch(`${localEndpoint}${instances}`);
  assert.equal(bare.status, 401);
  const info = await fetch(`${localEndpoint}/tokeninfo?access_token=${token()}`);
  assert.equal(((await info.json()) as { email: string }).email, credentials.client_email);
});

test('who may not is told which permission is missing, by each API in its own way', async (t) => {
  const { addAccount, world, localEndpoint, ask } = await googleBed(t);
  const who = addAccount('viewer', 'roles/viewer').client_email;
  const as = asker(localEndpoint, () => world.tokens.give(who));
  await as('GET', instances);
  const denied = await refused(
    as('POST', instances, machine('one')),
    403,
    /^Required 'compute\.instances\.create' permission for 'projects\/lab-project\/zones\/us-west1-a\/instances\/one'$/,
  );
  assert.equal(denied.reason, 'forbidden');
  const node = await refused(
    as('POST', `${tpu}/us-central2-b/nodes?nodeId=n`, slice()),
    403,
    /'tpu\.nodes\.create' denied/,
  );
  assert.equal(node.answer.error.status, 'PERMISSION_DENIED');
  assert.equal(node.answer.error.details[0].metadata.permission, 'tpu.nodes.create');
  await refused(
    as('POST', `/v1/projects/${labProject}/serviceAccounts`, { accountId: 'another' }),
    403,
    /iam\.serviceAccounts\.create/,
  );
  await refused(as('POST', `/v1/projects/${labProject}:setIamPolicy`, { policy: {} }), 403, /does not have permission/);
  const wanted = { permissions: ['compute.instances.list', 'compute.instances.create'] };
  const tested = await as('POST', `/v1/projects/${labProject}:testIamPermissions`, wanted);
  assert.deepEqual(tested.permissions, ['compute.instances.list']);
  const narrow = asker(localEndpoint, () =>
    world.tokens.give(who, ['https://www.googleapis.com/auth/devstorage.read_only']),
  );
  const scope = await refused(narrow('GET', instances), 403, /insufficient authentication scopes/);
  assert.equal(scope.answer.error.details[0].reason, 'ACCESS_TOKEN_SCOPE_INSUFFICIENT');
  const writer = addAccount('writer', 'roles/compute.admin').client_email;
  const actor = asker(localEndpoint, () => world.tokens.give(writer));
  const account = { serviceAccounts: [{ email: 'default', scopes: [] }] };
  await refused(actor('POST', instances, machine('one', account)), 403, /iam\.serviceAccounts\.actAs/);
  await refused(ask('GET', '/v1/projects/no-such-project'), 403);
  await refused(ask('GET', '/compute/v1/projects/no-such-project'), 404);
});

test('an API that is switched off says so, with where it is switched on', async (t) => {
  const { ask, project } = await googleBed(t);
  project.disabled.add('tpu').add('compute');
  const error = await refused(
    ask('GET', `${tpu}/us-central2-b/nodes`),
    403,
    /Cloud TPU API has not been used in project \d+ before or it is disabled/,
  );
  const info = error.answer.error.details.find((each: { reason?: string }) => each.reason === 'SERVICE_DISABLED');
  assert.deepEqual(info.metadata, { service: 'tpu.googleapis.com', consumer: `projects/${project.number}` });
  assert.equal((await refused(ask('GET', instances), 403)).reason, 'accessNotConfigured');
});

test('service accounts, roles and policies are made and bound, and a stale policy is refused', async (t) => {
  const { ask, project, world, localEndpoint, admin } = await googleBed(t);
  const accounts = `/v1/projects/${labProject}/serviceAccounts`;
  const email = `ray-autoscaler-sa-v1@${labProject}.iam.gserviceaccount.com`;
  await refused(ask('GET', `${accounts}/${email}`), 404);
  const body = { accountId: 'ray-autoscaler-sa-v1', serviceAccount: { displayName: 'Ray' } };
  assert.equal((await ask('POST', accounts, body)).email, email);
  await refused(ask('POST', accounts, body), 409);
  assert.equal((await ask('GET', `${accounts}/${email}`)).projectId, labProject);
  const roles = `/v1/projects/${labProject}/roles`;
  const includedPermissions = ['compute.instances.list', 'compute.instances.delete'];
  await ask('POST', roles, { roleId: 'manta', role: { title: 'Manta', includedPermissions } });
  await refused(ask('POST', roles, { roleId: 'manta', role: {} }), 409);
  await refused(
    ask('POST', roles, { roleId: 'other', role: { includedPermissions: ['compute.none'] } }),
    400,
    /compute\.none/,
  );
  assert.ok((await ask('GET', '/v1/roles/compute.admin')).includedPermissions.includes('compute.instances.create'));

  const at = `/v1/projects/${labProject}`;
  const policy = await ask('POST', `${at}:getIamPolicy`, { options: { requestedPolicyVersion: 3 } });
  const bound = [
    ...policy.bindings,
    { role: `projects/${labProject}/roles/manta`, members: [`serviceAccount:${email}`] },
  ];
  await ask('POST', `${at}:setIamPolicy`, { policy: { ...policy, bindings: bound } });
  await refused(ask('POST', `${at}:setIamPolicy`, { policy }), 409, /concurrent policy changes/);
  const missing = [{ role: 'roles/viewer', members: ['serviceAccount:none@x.iam.gserviceaccount.com'] }];
  await refused(ask('POST', `${at}:setIamPolicy`, { policy: { bindings: missing } }), 400, /does not exist/);
  const as = asker(localEndpoint, () => world.tokens.give(email));
  await as('GET', instances);
  await refused(as('GET', `${compute}/zones/${zone}/disks`), 403);
  await admin.set({ role_lag_s: 1000 });
  project.bind(bound);
  project.bind([]);
  await as('GET', instances);
  await admin.set({ role_lag_s: 0 });
  await refused(as('GET', instances), 403);
  assert.ok((await admin.belongings()).some((each) => each.kind === 'custom-role'));
});

test('people keep their keys at Google for OS Login', async (t) => {
  const { addUser, world, localEndpoint } = await googleBed(t);
  addUser('ada@example.com', 'roles/compute.osLogin');
  const as = asker(localEndpoint, () => world.tokens.give('ada@example.com'));
  const path = '/v1/users/ada@example.com';
  const { loginProfile } = await as('POST', `${path}:importSshPublicKey`, { key: 'ssh-ed25519 AAAA ada' });
  assert.equal(loginProfile.posixAccounts[0].username, 'ada_example_com');
  const shown = await as('GET', `${path}/loginProfile`);
  assert.deepEqual(
    Object.values(shown.sshPublicKeys as Record<string, { key: string }>).map(({ key }) => key),
    ['ssh-ed25519 AAAA ada'],
  );
  await refused(as('GET', '/v1/users/bob@example.com/loginProfile'), 403);
});

test('a machine is told about itself, and gets tokens that do what its account and scopes allow', async (t) => {
  const { insert, metadata, cloud, idOf, admin, localEndpoint, ask, ended, project } = await googleBed(t);
  const items = [{ key: 'startup-script', value: 'echo hello' }];
  const serviceAccounts = [{ email: 'default', scopes: ['https://www.googleapis.com/auth/compute'] }];
  const scheduling = { preemptible: true };
  await insert('one', { metadata: { items }, serviceAccounts, scheduling });
  await insert('bare');
  const read = (name: string, path: string): string =>
    metadata.read(cloud.instance(idOf(name))!, new URL(`/computeMetadata/v1/${path}`, 'http://metadata'));
  assert.equal(read('one', 'instance/attributes/startup-script'), 'echo hello');
  assert.equal(read('one', 'instance/name'), 'one');
  assert.equal(read('one', 'project/project-id'), labProject);
  assert.equal(read('one', 'instance/zone'), `projects/${project.number}/zones/${zone}`);
  assert.equal(read('one', 'instance/preempted'), 'FALSE');
  assert.match(read('one', 'instance/'), /^attributes\/\n/);
  assert.equal(JSON.parse(read('one', 'instance/?recursive=true')).attributes['startup-script'], 'echo hello');
  assert.throws(() => read('one', 'instance/attributes/none'), { status: 404 });
  assert.throws(() => read('bare', 'instance/service-accounts/default/token'), { status: 404 });
  const { access_token: token } = JSON.parse(read('one', 'instance/service-accounts/default/token')) as {
    access_token: string;
  };
  const as = asker(localEndpoint, () => token);
  await refused(as('GET', `${tpu}/us-central2-b/nodes`), 403, /scopes/);
  await as('DELETE', `${instances}/bare`);
  const identity = read('one', 'instance/service-accounts/default/identity?audience=https://manta&format=full');
  const claims: Answer = JSON.parse(Buffer.from(identity.split('.')[1]!, 'base64url').toString());
  assert.deepEqual([claims.aud, claims.google.compute_engine.instance_name], ['https://manta', 'one']);
  await admin.rebalance(idOf('one'));
  assert.equal(read('one', 'instance/maintenance-event'), 'TERMINATE_ON_HOST_MAINTENANCE');
  await admin.preempt(idOf('one'), 600);
  assert.equal(read('one', 'instance/preempted'), 'TRUE');

  await ended(await ask('POST', `${tpu}/us-central2-b/nodes?nodeId=n`, slice({ metadata: { k: 'v' } })));
  assert.deepEqual(
    ['accelerator-type', 'agent-worker-number', 'instance-id', 'k'].map((key) =>
      read('n/1', `instance/attributes/${key}`),
    ),
    ['v4-16', '1', 'n', 'v'],
  );
  assert.match(read('n/1', 'instance/attributes/tpu-env'), /^TOPOLOGY: '2x2x2'$/m);
  await until('it is stopped', async () => (await ask('GET', `${instances}/one`)).status === 'STOPPING');
});

test('Ray finds the documents and boundaries that its clients ask for', async (t) => {
  const { localEndpoint, environment } = await googleBed(t);
  assert.equal(await run('documents', environment()), 'v2alpha1 0x0 compute:v1');
  assert.equal((await fetch(`${localEndpoint}/nothing`)).status, 404);
});
