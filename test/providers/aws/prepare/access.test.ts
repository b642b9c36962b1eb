// needs: botocore

/** Keys, roles and logins of a cluster file. */
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { labAccount } from '../../../../lab/aws/open.ts';
import { cluster, fails, isChange, keys, minimal, preparationBed } from './prepare-bed.ts';

const trust = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: { Service: 'ec2.amazonaws.com' }, Action: 'sts:AssumeRole' }],
});

/** A profile with a role of another name in it. */
const rolesOf = ({ cloud }: Awaited<ReturnType<typeof preparationBed>>): readonly string[] =>
  cloud.has.roles
    .of(labAccount)
    .map(({ name }) => name)
    .toSorted();

async function addProfile(
  { iam }: Awaited<ReturnType<typeof preparationBed>>,
  profile: string,
  role: string,
  ...policies: readonly string[]
): Promise<void> {
  await iam.createRole({ RoleName: role, AssumeRolePolicyDocument: trust });
  await iam.createInstanceProfile({ InstanceProfileName: profile });
  await iam.addRoleToInstanceProfile({ InstanceProfileName: profile, RoleName: role });
  for (const policy of policies)
    await iam.attachRolePolicy({ RoleName: role, PolicyArn: `arn:aws:iam::aws:policy/${policy}` });
}

test('a key pair of the file is used as it is, with its private key here', async (t) => {
  const { up, plan, ec2 } = await preparationBed(t);
  const home = mkdtempSync(join(tmpdir(), 'manta-test-'));
  writeFileSync(join(home, 'lab.pem'), 'a key');
  const text = (file: string): string =>
    cluster({ head: 'KeyName: lab', worker: 'KeyName: lab' }).replace('ssh_user: ubuntu', `ssh_user: ubuntu${file}`);
  await fails(plan({ text: text('') }), 'MANTA_AWS_NO_PRIVATE_KEY', 2, /head\.node_config\.KeyName.*'lab'/);
  const missing = text(', ssh_private_key: ~/gone.pem');
  await fails(plan({ text: missing, env: { HOME: home } }), 'MANTA_AWS_NO_PRIVATE_KEY', 2, /is not at ~\/gone\.pem/);
  const right = { text: text(', ssh_private_key: ~/lab.pem'), env: { HOME: home } };
  await fails(plan(right), 'MANTA_AWS_NO_KEY_PAIR', 2, /'lab' in us-west-2/);
  await ec2.createKeyPair({ KeyName: 'lab' });
  const { types } = await up(right);
  assert.equal(types['head']?.keyName, undefined);
});

test('two clusters of one name in one account have keys, groups and roles of their own', async (t) => {
  const { up, plan, cloud } = await preparationBed(t);
  const one = await up({ text: cluster() });
  const other = { text: cluster(), clusterId: 'ffff00001111', publicKey: keys[1] };
  const planned = await plan(other);
  assert.match(
    planned.steps.map(({ id, note }) => `${id} ${note}`).join('\n'),
    /ray-autoscaler-demo-ffff0000 ray-autoscaler-demo belongs to another cluster/,
  );
  const two = await up(other);
  const ids = ({ types: { head }, headProfile }: typeof one): readonly unknown[] => [
    ...[head?.keyName, head?.groups?.[0], headProfile?.Name],
  ];
  assert.equal(new Set([...ids(one), ...ids(two)]).size, 6);
  assert.deepEqual(
    [one, two].map(({ types }) => types['head']?.keyName),
    ['ray-autoscaler-demo', 'ray-autoscaler-demo-ffff0000'],
  );
  assert.deepEqual(await up(other).then(ids), ids(two));
  assert.deepEqual(await up({ text: cluster() }).then(ids), ids(one));
  assert.equal(cloud.has.keys.of(labAccount).length, 2);
});

test('a cluster with the key of another one does not share its key pair, which goes with that one', async (t) => {
  const { up } = await preparationBed(t);
  const one = await up({ text: cluster() });
  const two = await up({ text: cluster(), clusterId: 'ffff00001111' });
  assert.notEqual(one.types['head']?.keyName, two.types['head']?.keyName);
});

test('a new key of the same cluster gets another key pair', async (t) => {
  const { up } = await preparationBed(t);
  await up({ text: cluster() });
  const keyOf = async (publicKey: string) => (await up({ text: cluster(), publicKey })).types['head']?.keyName;
  const [changed, same] = [await keyOf(keys[1]), await keyOf(keys[0])];
  assert.equal(same, 'ray-autoscaler-demo');
  assert.match(changed!, /^ray-autoscaler-demo-0123abcd/);
});

test('the profile of the file is taken by name, by ARN, and as an ARN written as a name', async (t) => {
  const bed = await preparationBed(t);
  await addProfile(bed, 'own', 'own-role');
  const arn = `arn:aws:iam::${labAccount}:instance-profile/own`;
  for (const [given, wanted] of [
    ['Name: own', { Name: 'own' }],
    [`Arn: "${arn}"`, { Arn: arn }],
    [`Name: "${arn}"`, { Arn: arn }],
  ] as const) {
    const { headProfile } = await bed.up({ text: cluster({ head: `IamInstanceProfile: {${given}}` }) });
    assert.deepEqual(headProfile, wanted);
    assert.deepEqual(rolesOf(bed), ['own-role']);
  }
  const gone = cluster({ head: 'IamInstanceProfile: {Name: gone}' });
  await fails(bed.plan({ text: gone }), 'MANTA_AWS_NO_PROFILE', 2, /head.*'gone'/);
});

test('a profile that workers cannot get is told before anything is made', async (t) => {
  const bed = await preparationBed(t);
  const text = (profile: string) => cluster({ worker: `IamInstanceProfile: {${profile}}` });
  await fails(bed.plan({ text: text('Name: gone') }), 'MANTA_AWS_NO_PROFILE', 2, /worker.*'gone'/);
  await fails(bed.plan({ text: text('Name: "your profile"') }), 'MANTA_AWS_NO_PROFILE', 2, /worker.*'your profile'/);
  const foreign = text('Arn: "arn:aws:iam::210987654321:instance-profile/theirs"');
  assert.match((await bed.plan({ text: foreign })).warnings.join(), /worker.*'theirs' is in account 210987654321/);
  await fails(bed.up({ text: foreign }), 'MANTA_AWS_FOREIGN_PROFILE', 2, /logged in to 123456789012\n.*AWS_PROFILE/);
  assert.deepEqual(await bed.changes(), []);
});

test('in China the role of the head is one of the EC2 there', async (t) => {
  const bed = await preparationBed(t);
  await bed.up({ text: cluster().replace('us-west-2', 'cn-north-1') });
  const { trust } = bed.world.role(labAccount, 'manta-demo-0123abcd')!;
  assert.match(trust, /"ec2\.amazonaws\.com\.cn"/);
});

test('the role that Ray made is used where it is, and warned of where workers need more', async (t) => {
  const bed = await preparationBed(t);
  await addProfile(bed, 'ray-autoscaler-v1', 'ray-autoscaler-v1', 'AmazonEC2FullAccess', 'AmazonS3FullAccess');
  await addProfile(bed, 'for-workers', 'for-workers');
  const { headProfile } = await bed.up({ text: cluster() });
  assert.deepEqual(headProfile, { Name: 'ray-autoscaler-v1' });
  assert.deepEqual(rolesOf(bed), ['for-workers', 'ray-autoscaler-v1']);
  const { warnings } = await bed.plan({ text: cluster({ worker: 'IamInstanceProfile: {Name: for-workers}' }) });
  assert.match(warnings.join(), /ray-autoscaler-v1 lacks the permission iam:PassRole.*for-workers/);
  assert.deepEqual((await bed.plan({ text: cluster() })).warnings, []);
});

test('the role of the head may only do what mantad does, and pass on the roles of workers', async (t) => {
  const bed = await preparationBed(t);
  await addProfile(bed, 'for-workers', 'role-for-workers');
  const { steps } = await bed.plan({ text: cluster() });
  assert.match(steps.find(({ what }) => what === 'role of the head')!.note!, /no access to S3.*head_policies/);
  await bed.up({ text: cluster() });
  const name = 'manta-demo-0123abcd';
  const policy = (): string => bed.world.role(labAccount, name)!.own.get('manta')!;
  assert.ok(!policy().includes('PassRole'));
  const text = cluster({ worker: 'IamInstanceProfile: {Name: for-workers}' });
  const change = (await bed.plan({ text })).steps.find(({ what }) => what === 'role of the head');
  assert.equal(change?.action, 'change');
  await bed.up({ text });
  assert.ok(policy().includes(`arn:aws:iam::${labAccount}:role/role-for-workers`));
  assert.deepEqual(
    (JSON.parse(policy()) as { Statement: { Action: string[] }[] }).Statement.flatMap(
      ({ Action }) => Action,
    ).toSorted(),
    [
      'ec2:CancelSpotInstanceRequests',
      'ec2:CreateTags',
      'ec2:CreateTags',
      'ec2:DescribeInstances',
      'ec2:DescribeSpotInstanceRequests',
      'ec2:DescribeSpotPriceHistory',
      'ec2:RunInstances',
      'ec2:RunInstances',
      'ec2:StartInstances',
      'ec2:StopInstances',
      'ec2:TerminateInstances',
      'iam:PassRole',
      'pricing:GetProducts',
      'sts:DecodeAuthorizationMessage',
    ],
  );
});

test('policies of the file are attached to the role of the head, once', async (t) => {
  const { up, world, admin, calls } = await preparationBed(t);
  const arn = 'arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess';
  const text = cluster({ provider: `manta: {head_policies: ["${arn}"]}` });
  await up({ text });
  assert.deepEqual(world.role(labAccount, 'manta-demo-0123abcd')?.attached, [arn]);
  const before = (await calls()).at(-1)!.number;
  await up({ text });
  assert.deepEqual((await admin.calls({ since: before })).filter(isChange), []);
  await fails(up({ text: text.replace('ReadOnly', 'No') }), 'MANTA_AWS_NO_POLICY', 2, /AmazonS3NoAccess/);
});

test('a head with keys of the file needs no role', async (t) => {
  const { up, credentials, world } = await preparationBed(t);
  const { accessKeyId: id, secretAccessKey: secret } = credentials;
  const given = `aws_credentials: {aws_access_key_id: "${id}", aws_secret_access_key: "${secret}"}`;
  const { headProfile } = await up({ text: cluster({ provider: given }) });
  assert.equal(headProfile, undefined);
  assert.deepEqual(world.cloud.has.roles.of(labAccount), []);
});

test('who may not create roles is told the policy to hand to an administrator', async (t) => {
  const { up, addUser } = await preparationBed(t);
  const as = addUser('poor', {
    Statement: [
      { Effect: 'Allow', Action: '*', Resource: '*' },
      { Effect: 'Deny', Action: 'iam:CreateRole', Resource: '*' },
    ],
  });
  const error = await fails(up({ text: cluster(), as }), 'MANTA_AWS_ROLE_DENIED', 5, /iam:CreateRole/);
  const policy = error.hint!.slice(error.hint!.indexOf('\n') + 1);
  assert.ok((JSON.parse(policy) as { Statement: unknown[] }).Statement.length > 3);
});

test('the role for spot instances is made where spot is used and it is missing', async (t) => {
  const { up, plan, world, addUser } = await preparationBed(t);
  await up({ text: cluster() });
  assert.equal(world.role(labAccount, 'AWSServiceRoleForEC2Spot'), undefined);
  const as = addUser('poor', {
    Statement: [
      { Effect: 'Allow', Action: '*', Resource: '*' },
      { Effect: 'Deny', Action: 'iam:CreateServiceLinkedRole', Resource: '*' },
    ],
  });
  await fails(up({ as }), 'MANTA_AWS_ACCOUNT_NOT_READY', 5, /aws iam create-service-linked-role/);
  await up();
  assert.ok(world.role(labAccount, 'AWSServiceRoleForEC2Spot'));
  await up({ as });
  const blind = addUser('blind', {
    Statement: [
      { Effect: 'Allow', Action: '*', Resource: '*' },
      { Effect: 'Deny', Action: 'iam:GetRole', Resource: '*' },
    ],
  });
  assert.match((await plan({ as: blind })).warnings.join(), /iam:GetRole/);
});

test('an account that is not ready, and a login that is not valid, are told with the step to take', async (t) => {
  const { plan, admin, world, iam } = await preparationBed(t);
  for (const [code, words] of [
    ['OptInRequired', /sign(?:ing)? up/],
    ['PendingVerification', /verifying/],
  ] as const) {
    await admin.fault({ fault: 'refuse', call: 'DescribeSubnets', code, message: code, times: 1 });
    await fails(plan({ text: minimal }), 'MANTA_AWS_ACCOUNT_NOT_READY', 5, words);
  }
  const unknown = { accessKeyId: 'AKIAUNKNOWN', secretAccessKey: 'secret' };
  await fails(plan({ as: unknown }), 'MANTA_AWS_LOGIN_REFUSED', 5);
  await iam.createRole({ RoleName: 'short', AssumeRolePolicyDocument: trust });
  const { credentials } = world.session(world.role(labAccount, 'short')!, 'me', -1);
  await fails(plan({ as: credentials }), 'MANTA_AWS_LOGIN_EXPIRED', 5, /aws sso login/);
});
