// needs: botocore

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Aws, labAccount } from '../../../lab/aws/open.ts';
import { clustersOf } from '../../../src/providers/aws/provider.ts';
import type { CloudClient } from '../../../src/providers/clouds.ts';
import { providerErrors } from '../../../src/providers/errors.ts';
import { never } from '../../contract/waiting.ts';
import { clientsOf } from '../../lab/aws-bed.ts';
import { ask, clusterText, fastClock, preparedOf, providerOf, region, specOf, standInAws } from './aws-bed.ts';

/** As preparing names it. */
const role = 'manta-bed-c1';
const tags = { 'ray-cluster-name': 'bed', 'manta-cluster-id': 'c-1' };

/** What preparing makes in an account where nothing is. */
async function prepareByHand(aws: Aws) {
  aws.world.network(labAccount, region);
  const clients = clientsOf(aws.localEndpoint, aws.credentials);
  const { ec2, iam } = clients;
  const written = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
  const { GroupId: group = '' } = await ec2.createSecurityGroup({
    GroupName: 'ray-autoscaler-bed',
    Description: 'bed',
    TagSpecifications: [{ ResourceType: 'security-group', Tags: written }],
  });
  await ec2.createKeyPair({ KeyName: 'bed', TagSpecifications: [{ ResourceType: 'key-pair', Tags: written }] });
  const statement = { Effect: 'Allow' as const, Action: 'sts:AssumeRole', Principal: { Service: 'ec2.amazonaws.com' } };
  const AssumeRolePolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
  await iam.createRole({ RoleName: role, AssumeRolePolicyDocument, Tags: written });
  const allowed = { Effect: 'Allow', Action: 'ec2:DescribeInstances', Resource: '*' };
  const PolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement: [allowed] });
  await iam.putRolePolicy({ RoleName: role, PolicyName: 'own', PolicyDocument });
  await iam.attachRolePolicy({ RoleName: role, PolicyArn: 'arn:aws:iam::aws:policy/AmazonS3FullAccess' });
  await iam.createInstanceProfile({ InstanceProfileName: role, Tags: written });
  await iam.addRoleToInstanceProfile({ InstanceProfileName: role, RoleName: role });
  clients.destroy();
  return (given: Aws) => preparedOf(given, { headProfile: { Name: role } }, { groups: [group] });
}

const kinds = (remains: readonly { readonly kind: string }[]): string[] => remains.map(({ kind }) => kind).sort();

test('what was made for a cluster is named while it is there, goes with a release, and a second release is fine', async (t) => {
  const aws = await standInAws(t);
  const provider = providerOf(aws, { prepared: await prepareByHand(aws) });
  assert.deepEqual(kinds(await provider.remains(never)), ['instance profile', 'key pair', 'role', 'security group']);
  await provider.release(never);
  assert.deepEqual(await provider.remains(never), []);
  await provider.release(never);
  const left = (await aws.admin.belongings(labAccount)).filter(({ kind }) => /key|role|profile/.test(kind));
  assert.deepEqual(left, []);
});

/** As a machine that has the file alone knows the cluster. */
const elsewhere = { client: { prepared: () => undefined } };

test('a machine that has only the file finds and deletes all that was made, by tag', async (t) => {
  const aws = await standInAws(t);
  const prepared = await prepareByHand(aws);
  const [kept] = await providerOf(aws, { prepared, clusterId: 'other' }).launch(ask('of another cluster'), never);
  const client = (clusterId: string): CloudClient => ({
    ...{ cluster: 'bed', clusterId, spec: () => specOf(clusterText()), login: () => ({ user: '', publicKey: '' }) },
    identity: () => ({ kind: 'user', env: aws.environment() }),
  });
  const found = async () => (await clustersOf(client(''), never)).map(({ id, instances }) => [id, instances.length]);
  assert.deepEqual(
    (await found()).sort(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
    [
      ['c-1', 0],
      ['other', 1],
    ],
  );
  await providerOf(aws, { clusterId: 'other' }).terminate([kept!.id], never);
  const provider = providerOf(aws, elsewhere);
  assert.equal((await provider.remains(never)).length, 4);
  await provider.release(never);
  assert.deepEqual(await provider.remains(never), []);
  assert.deepEqual(await found(), []);
  assert.deepEqual(aws.cloud.has.roles.of(labAccount), []);
});

test('a role of the same name that Manta did not make for this cluster stays', async (t) => {
  const aws = await standInAws(t);
  await prepareByHand(aws);
  const provider = providerOf(aws, { ...elsewhere, clusterId: 'c1' });
  assert.deepEqual(await provider.remains(never), []);
  await provider.release(never);
  assert.equal(aws.cloud.has.roles.of(labAccount).length, 1);
});

test('who names a profile for the head need not be allowed to look at roles', async (t) => {
  const aws = await standInAws(t);
  const statement = { Effect: 'Allow' as const, Action: 'ec2:*', Resource: '*' };
  const credentials = aws.addUser('no-iam', { Version: '2012-10-17', Statement: [statement] });
  const text = clusterText({ head: ['IamInstanceProfile: {Name: ours}'] });
  const provider = providerOf(aws, { ...elsewhere, credentials, text });
  await provider.release(never);
  assert.deepEqual(await provider.remains(never), []);
  await assert.rejects(
    providerOf(aws, { ...elsewhere, credentials }).remains(never),
    /iam:Get(?:Role|InstanceProfile)/,
  );
});

test('a group is deleted once the instances in it are gone', async (t) => {
  const aws = await standInAws(t, { settings: { terminate_s: [0.5, 0.5] } });
  const provider = providerOf(aws, { prepared: await prepareByHand(aws) });
  const [made] = await provider.launch(ask('grouped'), never);
  await provider.terminate([made!.id], never);
  await provider.release(never);
  assert.deepEqual(await provider.remains(never), []);
  const tries = await aws.admin.calls({ call: 'DeleteSecurityGroup' });
  assert.equal(tries[0]?.error, 'DependencyViolation');
});

test('a group that others use stays, and is told as shared', async (t) => {
  const aws = await standInAws(t);
  const prepared = await prepareByHand(aws);
  const provider = providerOf(aws, { prepared, clock: fastClock });
  const group = prepared(aws).types['worker']!.groups![0]!;
  const clients = clientsOf(aws.localEndpoint, aws.credentials);
  await clients.ec2.runInstances({
    ...{ MinCount: 1, MaxCount: 1, InstanceType: 'm5.large', ImageId: prepared(aws).types['worker']!.image },
    SecurityGroupIds: [group],
  });
  clients.destroy();
  await provider.release(never);
  assert.equal((await aws.admin.calls({ call: 'DeleteSecurityGroup' })).length, 1, 'nobody waits for others');
  const remains = await provider.remains(never);
  assert.deepEqual(
    remains.map(({ kind, id, keeps }) => [kind, id, keeps]),
    [['security group', group, 'shared']],
  );
});

test('what may not be deleted stays, and is named', async (t) => {
  const aws = await standInAws(t);
  const prepared = await prepareByHand(aws);
  const credentials = aws.addUser('reader', {
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Action: ['ec2:Describe*', 'iam:Get*', 'iam:List*'], Resource: '*' }],
  });
  const provider = providerOf(aws, { prepared, credentials });
  await provider.release(never);
  const why = new Map((await provider.remains(never)).map(({ kind, detail }) => [kind, detail]));
  assert.equal(why.size, 4);
  assert.match(why.get('key pair')!, /ec2:DeleteKeyPair/);
  assert.match(why.get('security group')!, /ec2:DeleteSecurityGroup/);
  assert.match(why.get('role')!, /iam:DeleteRolePolicy/);
  assert.match(why.get('instance profile')!, /iam:RemoveRoleFromInstanceProfile/);
});

test('a disk that the file keeps is named with what it costs, and one that should have gone without an excuse', async (t) => {
  const aws = await standInAws(t);
  const keeping = clusterText({
    worker: [
      'BlockDeviceMappings: [{DeviceName: /dev/sdf, Ebs: {VolumeSize: 200, VolumeType: gp3, DeleteOnTermination: false}}]',
    ],
  });
  const provider = providerOf(aws, { text: keeping });
  const [made] = await provider.launch(ask('kept'), never);
  await provider.terminate([made!.id], never);
  const [disk, ...more] = await provider.remains(never);
  assert.deepEqual(more, []);
  assert.deepEqual([disk?.kind, disk?.keeps], ['disk', 'by the file']);
  assert.equal(disk?.cost?.toFixed(2), '16.00');
  const [orphan] = await providerOf(aws).remains(never);
  assert.equal(orphan?.keeps, undefined);
  await aws.admin.fault({ fault: 'refuse', call: 'GetProducts', code: 'AccessDeniedException', message: 'no' });
  assert.equal((await provider.remains(never))[0]?.cost, undefined);
});

test('what remains is told as a whole or not at all', async (t) => {
  const aws = await standInAws(t);
  const provider = providerOf(aws, { prepared: await prepareByHand(aws), clock: fastClock });
  for (const call of ['DescribeVolumes', 'DescribeNetworkInterfaces', 'DescribeKeyPairs', 'GetRole']) {
    aws.cloud.faults.add({ fault: 'server-error', call });
    await assert.rejects(provider.remains(never), { code: providerErrors.Unreachable.code }, call);
    aws.cloud.faults.clear();
  }
});

test('a release goes on where answers are lost, and nothing stays', async (t) => {
  const aws = await standInAws(t);
  const provider = providerOf(aws, { prepared: await prepareByHand(aws), clock: fastClock });
  const calls = ['DeleteKeyPair', 'DeleteSecurityGroup', 'RemoveRoleFromInstanceProfile', 'DeleteInstanceProfile'];
  for (const call of [...calls, 'DeleteRolePolicy', 'DetachRolePolicy', 'DeleteRole'])
    for (const fault of ['lost-answer', 'lost-request'] as const) aws.cloud.faults.add({ fault, call, times: 1 });
  await provider.release(never);
  assert.deepEqual(await provider.remains(never), []);
});
