// needs: botocore

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labAccount } from '../../../../lab/aws/open.ts';
import { cluster, isChange, preparationBed } from './prepare-bed.ts';

test('an empty account gets a key, a group and a role, and the rest is found', async (t) => {
  const { up, plan, calls, world, cloud } = await preparationBed(t);
  const planned = await plan();
  assert.deepEqual((await calls()).filter(isChange), []);
  const prepared = await up();
  assert.equal(prepared.account, labAccount);
  assert.equal(prepared.region, 'us-west-2');
  const head = prepared.types['ray.head.default']!;
  assert.equal(head.instanceType, 'm5.large');
  assert.deepEqual(head.resources, { CPU: 2, memory: Math.floor(8 * 2 ** 30 * 0.7) });
  assert.equal(
    head.image,
    world.parameters.get(
      'us-west-2/aws/service/deeplearning/ami/x86_64/base-with-single-cuda-ubuntu-24.04/latest/ami-id',
    ),
  );
  assert.equal(head.rootDevice, '/dev/sda1');
  assert.deepEqual(
    head.subnets?.map(({ zone }) => zone),
    ['us-west-2a', 'us-west-2b', 'us-west-2c', 'us-west-2d'],
  );
  assert.equal(head.keyName, 'ray-autoscaler-demo');
  const [key] = cloud.has.keys.of(labAccount);
  assert.equal(key?.name, 'ray-autoscaler-demo');
  assert.equal(key.tags['manta-cluster-id'], '0123abcd4567');
  const group = cloud.has.groups.of(labAccount).find(({ name }) => name === 'ray-autoscaler-demo')!;
  assert.deepEqual(head.groups, [group.id]);
  assert.deepEqual(
    group.rules
      .filter(({ outwards }) => !outwards)
      .map(({ protocol, from, cidr, group: of }) => [protocol, from, cidr ?? of]),
    [
      ['-1', undefined, group.id],
      ['tcp', 22, '203.0.113.7/32'],
    ],
  );
  assert.deepEqual(prepared.headProfile, { Name: 'manta-demo-0123abcd' });
  assert.equal(world.profile(labAccount, 'manta-demo-0123abcd')?.role, 'manta-demo-0123abcd');
  assert.ok(world.role(labAccount, 'AWSServiceRoleForEC2Spot'), 'workers are spot by default');
  assert.deepEqual(
    planned.steps.filter(({ action }) => action === 'create').map(({ what }) => what),
    ['key pair', 'security group', 'role of the head', 'role for spot instances'],
  );
});

test('what is there is found again, and nothing is made twice', async (t) => {
  const { up, changes, admin, calls } = await preparationBed(t);
  const first = await up({ text: cluster() });
  const before = (await calls()).at(-1)!.number;
  const second = await up({ text: cluster() });
  assert.deepEqual({ ...second, prices: first.prices, profileMadeAt: first.profileMadeAt }, first);
  assert.deepEqual((await admin.calls({ since: before })).filter(isChange), []);
  assert.equal((await changes()).filter((each) => each === 'CreateSecurityGroup').length, 1);
});

test('a first preparation takes 18 calls', async (t) => {
  const { up, calls } = await preparationBed(t);
  await up({ text: cluster() });
  assert.deepEqual((await calls()).map(({ operation = '' }) => operation).toSorted(), [
    'AddRoleToInstanceProfile',
    'AuthorizeSecurityGroupIngress',
    'CreateInstanceProfile',
    'CreateRole',
    'CreateSecurityGroup',
    'DescribeImages',
    'DescribeInstanceTypes',
    'DescribeKeyPairs',
    'DescribeSecurityGroups',
    'DescribeSubnets',
    'GetCallerIdentity',
    'GetInstanceProfile',
    'GetInstanceProfile',
    'GetParameters',
    'GetProducts',
    'GetRolePolicy',
    'ImportKeyPair',
    'PutRolePolicy',
  ]);
});
