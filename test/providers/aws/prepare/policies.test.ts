// needs: botocore

/** The policies that are printed suffice, and each action that is taken away is named. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Policy, Statement } from '../../../../lab/aws/policy.ts';
import type { MantaError } from '../../../../src/base/errors.ts';
import { policies } from '../../../../src/providers/aws/prepare/policies.ts';
import { specOf } from '../../../core/spec/cluster-text.ts';
import { imageOf } from '../../../lab/aws-bed.ts';
import { cluster, minimal, preparationBed } from './prepare-bed.ts';

const text = cluster({
  worker: 'InstanceMarketOptions: {MarketType: spot}',
  provider: 'manta: {head_policies: ["arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"]}',
});
const actionsIn = ({ Statement: statements }: Policy): readonly string[] =>
  [...new Set((statements as Statement[]).flatMap(({ Action: action }) => action as string[]))].toSorted();

const without = ({ Statement: statements }: Policy, action: string): Policy => ({
  Statement: (statements as Statement[]).map((statement) => ({
    ...statement,
    Action: (statement.Action as string[]).filter((each) => each !== action),
  })),
});

/** What preparing this file calls, as policies name it; some are asked for by a call of another name. */
const needed = [
  ...['DescribeImages', 'DescribeInstanceTypes', 'DescribeKeyPairs', 'DescribeSecurityGroups', 'DescribeSubnets'],
  ...['ImportKeyPair', 'CreateSecurityGroup', 'AuthorizeSecurityGroupIngress', 'CreateTags'],
]
  .map((action) => `ec2:${action}`)
  .concat(
    ['GetInstanceProfile', 'GetRolePolicy', 'ListAttachedRolePolicies', 'GetRole', 'CreateServiceLinkedRole'].map(
      (action) => `iam:${action}`,
    ),
    [
      'CreateRole',
      'CreateInstanceProfile',
      'AddRoleToInstanceProfile',
      'PutRolePolicy',
      'AttachRolePolicy',
      'PassRole',
    ].map((action) => `iam:${action}`),
    'ssm:GetParameters',
    'pricing:GetProducts',
    'ec2:DescribeSpotPriceHistory',
  );

test("the user's policy suffices to prepare, and each action that it lacks is named", async (t) => {
  const policy = JSON.parse(policies(specOf(text)).user) as Policy;
  const bed = await preparationBed(t);
  await bed.up({ text, as: bed.addUser('enough', policy) });
  const called = new Set((await bed.calls()).map(({ operation }) => operation));
  const missed = needed.filter((action) => !/CreateTags|PassRole/.test(action) && !called.has(action.split(':')[1]));
  assert.deepEqual(missed, []);
  for (const [index, action] of needed.entries()) {
    assert.ok(actionsIn(policy).includes(action), action);
    const as = bed.addUser('poor', without(policy, action), String(500_000_000_000 + index));
    // What `up` can do without is told by the plan alone.
    const planned = async (): Promise<string> => (await bed.plan({ text, as })).warnings.join('\n');
    const told = await bed.up({ text, as }).then(planned, (error: MantaError) => {
      assert.equal(error.exit, 5, error.stack);
      return error.message;
    });
    assert.ok(told.includes(action), `${action}: ${told}`);
  }
});

test('a user with the policy of one cluster touches nothing of another', async (t) => {
  const bed = await preparationBed(t);
  const as = bed.addUser('other', JSON.parse(policies(specOf(minimal.replace('demo', 'else'))).user) as Policy);
  await assert.rejects(bed.up({ text, as }), (error: MantaError) => error.exit === 5);
  assert.deepEqual(bed.cloud.has.keys.all(), []);
});

test("the head's policy suffices for what a head does to its own instances, and for nothing else", async (t) => {
  const bed = await preparationBed(t);
  const prepared = await bed.up({ text });
  const { Name: name = '' } = prepared.headProfile!;
  const role = bed.world.role(prepared.account, name)!;
  const head = bed.as(bed.world.session(role, 'i-1', 3600).credentials);
  const worker = prepared.types['worker']!;
  const tags = [
    { Key: 'ray-cluster-name', Value: 'demo' },
    { Key: 'manta-cluster-id', Value: '0123abcd4567' },
  ];
  const kinds = ['instance', 'volume', 'network-interface', 'spot-instances-request'] as const;
  const launch = (Tags: typeof tags) => ({
    ...{ MinCount: 1, MaxCount: 1, ImageId: worker.image, InstanceType: 'm5.large' as const, KeyName: worker.keyName },
    ...{ SubnetId: worker.subnets![0]!.id, SecurityGroupIds: worker.groups },
    InstanceMarketOptions: { MarketType: 'spot' as const, SpotOptions: { SpotInstanceType: 'persistent' as const } },
    TagSpecifications: kinds.map((ResourceType) => ({ ResourceType, Tags })),
  });
  const { Instances: [made] = [] } = await head.ec2.runInstances(launch(tags));
  const InstanceIds = [made!.InstanceId!];
  await head.ec2.describeInstances({ InstanceIds });
  await head.ec2.createTags({ Resources: InstanceIds, Tags: [{ Key: 'ray-node-status', Value: 'up-to-date' }] });
  await head.ec2.describeSpotInstanceRequests({});
  await head.ec2.describeSpotPriceHistory({ InstanceTypes: ['m5.large'] });
  await head.pricing.getProducts({ ServiceCode: 'AmazonEC2' });
  await head.ec2.cancelSpotInstanceRequests({ SpotInstanceRequestIds: [made!.SpotInstanceRequestId!] });
  await head.ec2.terminateInstances({ InstanceIds });
  const [other] = await bed.run();
  const denied = { name: 'UnauthorizedOperation' };
  await assert.rejects(head.ec2.terminateInstances({ InstanceIds: [other!.InstanceId!] }), denied);
  await assert.rejects(head.ec2.stopInstances({ InstanceIds: [other!.InstanceId!] }), denied);
  await assert.rejects(head.ec2.runInstances(launch([{ Key: 'manta-cluster-id', Value: 'another' }])), denied);
  await assert.rejects(head.ec2.describeImages({ ImageIds: [imageOf(bed)] }), denied);
  await assert.rejects(head.iam.getRole({ RoleName: name }), { name: 'AccessDenied' });
});
