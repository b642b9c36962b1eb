// needs: botocore

/** What lab/aws/behaviour.md says of everything but instances and access, through the official clients. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { paginateDescribeInstanceTypes } from '@aws-sdk/client-ec2';
import { labAccount } from '../../lab/aws/open.ts';
import { operationsOf } from '../../lab/aws/server.ts';
import { type FaultRule, faultNames } from '../../lab/cloud/faults.ts';
import { defaultSettings } from '../../lab/cloud/settings.ts';
import { awsServices } from '../../scripts/botocore-models.ts';
import { awsBed, refused } from './aws-bed.ts';

const trust = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: { Service: 'ec2.amazonaws.com' }, Action: 'sts:AssumeRole' }],
});
const read = JSON.stringify({ Statement: [{ Effect: 'Allow', Action: 'ec2:Describe*', Resource: '*' }] });

test('an account finds a network with a public subnet in every zone of a region', async (t) => {
  const { ec2, world } = await awsBed(t);
  const [vpc] = (await ec2.describeVpcs({ Filters: [{ Name: 'is-default', Values: ['true'] }] })).Vpcs!;
  const subnets = (await ec2.describeSubnets({ Filters: [{ Name: 'vpc-id', Values: [vpc!.VpcId!] }] })).Subnets!;
  const zones = (await ec2.describeAvailabilityZones({})).AvailabilityZones!;
  assert.deepEqual(
    subnets.map(({ AvailabilityZone }) => AvailabilityZone),
    zones.map(({ ZoneName }) => ZoneName),
  );
  assert.ok(subnets.every(({ MapPublicIpOnLaunch, State }) => MapPublicIpOnLaunch && State === 'available'));
  const [table] = (await ec2.describeRouteTables({})).RouteTables!;
  const [gateway] = (await ec2.describeInternetGateways({})).InternetGateways!;
  assert.equal(table!.Routes?.at(-1)?.GatewayId, gateway!.InternetGatewayId);
  const closed = world.addSubnet(world.vpcs.all()[0]!, { zone: 'us-west-2a', mapsPublic: false, routed: false });
  const own = (await ec2.describeRouteTables({ Filters: [{ Name: 'association.subnet-id', Values: [closed.id] }] }))
    .RouteTables!;
  assert.deepEqual(
    own[0]?.Routes?.map(({ GatewayId }) => GatewayId),
    ['local'],
  );
  assert.ok((await ec2.describeRegions({})).Regions!.some(({ RegionName }) => RegionName === 'eu-west-1'));
});

test('without a default network a launch must name its subnet', async (t) => {
  const { ec2, world, run } = await awsBed(t);
  world.removeNetwork(labAccount, 'us-west-2');
  assert.deepEqual((await ec2.describeSubnets({})).Subnets, []);
  await refused(run(), 'VPCIdNotSpecified');
  await refused(ec2.createSecurityGroup({ GroupName: 'g', Description: 'd' }), 'VPCIdNotSpecified');
  const vpc = world.addVpc(labAccount, 'us-west-2');
  const subnet = world.addSubnet(vpc, { zone: 'us-west-2b', mapsPublic: false });
  const [made] = await run({ SubnetId: subnet.id });
  assert.deepEqual([made!.VpcId, made!.PublicIpAddress], [vpc.id, undefined]);
  const other = world.addVpc(labAccount, 'us-west-2', '10.30.0.0/16');
  const { GroupId: group } = await ec2.createSecurityGroup({ GroupName: 'g', Description: 'd', VpcId: other.id });
  await refused(run({ SubnetId: subnet.id, SecurityGroupIds: [group!] }), 'InvalidParameter', /different networks/);
});

test('groups have rules, each once, and stay while something uses them', async (t) => {
  const { ec2, run, reaches } = await awsBed(t);
  const { GroupId: id = '' } = await ec2.createSecurityGroup({
    GroupName: 'ray-autoscaler-c',
    Description: 'd',
    TagSpecifications: [{ ResourceType: 'security-group', Tags: [{ Key: 'c', Value: '1' }] }],
  });
  await refused(ec2.createSecurityGroup({ GroupName: 'ray-autoscaler-c', Description: 'd' }), 'InvalidGroup.Duplicate');
  const IpPermissions = [
    { IpProtocol: '-1', UserIdGroupPairs: [{ GroupId: id }] },
    { IpProtocol: 'tcp', FromPort: 22, ToPort: 22, IpRanges: [{ CidrIp: '1.2.3.4/32', Description: 'me' }] },
  ];
  const made = await ec2.authorizeSecurityGroupIngress({ GroupId: id, IpPermissions });
  assert.equal(made.SecurityGroupRules?.length, 2);
  await refused(
    ec2.authorizeSecurityGroupIngress({ GroupId: id, IpPermissions: [IpPermissions[1]!] }),
    'InvalidPermission.Duplicate',
    /1\.2\.3\.4\/32/,
  );
  const [shown] = (await ec2.describeSecurityGroups({ Filters: [{ Name: 'tag:c', Values: ['1'] }] })).SecurityGroups!;
  assert.deepEqual(
    shown!.IpPermissions?.map((each) => [
      each.IpProtocol,
      each.FromPort,
      each.IpRanges?.[0]?.CidrIp,
      each.UserIdGroupPairs?.[0]?.GroupId,
    ]),
    [
      ['-1', undefined, undefined, id],
      ['tcp', 22, '1.2.3.4/32', undefined],
    ],
  );
  assert.equal(shown!.IpPermissionsEgress?.[0]?.IpRanges?.[0]?.CidrIp, '0.0.0.0/0');
  const rules = await ec2.describeSecurityGroupRules({ Filters: [{ Name: 'group-id', Values: [id] }] });
  assert.equal(rules.SecurityGroupRules?.length, 3);
  await ec2.revokeSecurityGroupIngress({ GroupId: id, IpPermissions: [IpPermissions[1]!] });
  await refused(
    ec2.revokeSecurityGroupIngress({ GroupId: id, IpPermissions: [IpPermissions[1]!] }),
    'InvalidPermission.NotFound',
  );
  await ec2.revokeSecurityGroupEgress({
    GroupId: id,
    IpPermissions: [{ IpProtocol: '-1', IpRanges: [{ CidrIp: '0.0.0.0/0' }] }],
  });
  await ec2.authorizeSecurityGroupEgress({
    GroupId: id,
    IpPermissions: [{ IpProtocol: '-1', IpRanges: [{ CidrIp: '10.0.0.0/8' }] }],
  });
  for (const [permission, code] of [
    [{ IpProtocol: 'tcp', FromPort: 22, ToPort: 22, IpRanges: [{ CidrIp: '1.2.3.999/32' }] }, 'InvalidParameterValue'],
    [{ IpProtocol: 'tcp', IpRanges: [{ CidrIp: '1.2.3.4/32' }] }, 'InvalidParameterValue'],
    [{ IpProtocol: 'smoke', IpRanges: [{ CidrIp: '1.2.3.4/32' }] }, 'InvalidParameterValue'],
    [
      { IpProtocol: 'tcp', FromPort: 1, ToPort: 2, UserIdGroupPairs: [{ GroupId: 'sg-0123456789abcdef0' }] },
      'InvalidGroup.NotFound',
    ],
  ] as const)
    await refused(ec2.authorizeSecurityGroupIngress({ GroupId: id, IpPermissions: [permission as object] }), code);
  const [instance] = await run({ SecurityGroupIds: [id] });
  await refused(ec2.deleteSecurityGroup({ GroupId: id }), 'DependencyViolation', /dependent object/);
  await ec2.terminateInstances({ InstanceIds: [instance!.InstanceId!] });
  await reaches(instance!.InstanceId!, 'terminated');
  await ec2.deleteSecurityGroup({ GroupId: id });
  await refused(ec2.deleteSecurityGroup({ GroupId: id }), 'InvalidGroup.NotFound');
});

test('keys are created, imported, found and deleted', async (t) => {
  const { ec2, run, hypervisor } = await awsBed(t);
  const created = await ec2.createKeyPair({ KeyName: 'rsa' });
  assert.match(created.KeyMaterial!, /^-----BEGIN RSA PRIVATE KEY-----/);
  await refused(ec2.createKeyPair({ KeyName: 'rsa' }), 'InvalidKeyPair.Duplicate');
  assert.match(
    (await ec2.createKeyPair({ KeyName: 'ed', KeyType: 'ed25519' })).KeyMaterial!,
    /BEGIN OPENSSH PRIVATE KEY/,
  );
  const line = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGPcGmCJ9nCqd7+cW0Q6uFAEs6ZCYhzV7Ew3c5bXJjiN me';
  const tags = [{ ResourceType: 'key-pair' as const, Tags: [{ Key: 'c', Value: '1' }] }];
  await ec2.importKeyPair({ KeyName: 'mine', PublicKeyMaterial: Buffer.from(line), TagSpecifications: tags });
  await refused(ec2.importKeyPair({ KeyName: 'bad', PublicKeyMaterial: Buffer.from('nonsense') }), 'InvalidKey.Format');
  const found = await ec2.describeKeyPairs({ Filters: [{ Name: 'tag:c', Values: ['1'] }], IncludePublicKey: true });
  assert.deepEqual(
    found.KeyPairs?.map(({ KeyName, PublicKey }) => [KeyName, PublicKey]),
    [['mine', line]],
  );
  await refused(ec2.describeKeyPairs({ KeyNames: ['none'] }), 'InvalidKeyPair.NotFound');
  await run({ KeyName: 'mine' });
  assert.deepEqual(hypervisor.orders.at(-1)?.login, { user: 'ubuntu', public_key: line });
  await ec2.deleteKeyPair({ KeyName: 'mine' });
  await ec2.deleteKeyPair({ KeyName: 'mine' });
  assert.equal((await ec2.describeKeyPairs({})).KeyPairs?.length, 2);
});

test('a launch overrides its template member by member', async (t) => {
  const { ec2, run, image } = await awsBed(t);
  const LaunchTemplateData = {
    ImageId: image,
    InstanceType: 'c5.xlarge' as const,
    UserData: Buffer.from('#!/bin/sh\ntrue').toString('base64'),
    TagSpecifications: [
      {
        ResourceType: 'instance' as const,
        Tags: [
          { Key: 'a', Value: '1' },
          { Key: 'b', Value: '2' },
        ],
      },
    ],
    BlockDeviceMappings: [{ DeviceName: '/dev/sda1', Ebs: { VolumeSize: 100 } }],
  };
  const { LaunchTemplate: made } = await ec2.createLaunchTemplate({ LaunchTemplateName: 'team', LaunchTemplateData });
  await refused(
    ec2.createLaunchTemplate({ LaunchTemplateName: 'team', LaunchTemplateData }),
    'InvalidLaunchTemplateName.AlreadyExistsException',
  );
  await ec2.createLaunchTemplateVersion({
    LaunchTemplateName: 'team',
    SourceVersion: '1',
    LaunchTemplateData: { InstanceType: 'c5.2xlarge' },
  });
  const versions = await ec2.describeLaunchTemplateVersions({
    LaunchTemplateId: made!.LaunchTemplateId!,
    Versions: ['$Latest'],
  });
  assert.deepEqual(
    versions.LaunchTemplateVersions?.map(({ VersionNumber, LaunchTemplateData: data }) => [
      VersionNumber,
      data?.InstanceType,
      data?.ImageId,
    ]),
    [[2, 'c5.2xlarge', image]],
  );
  const [instance] = await run({
    ImageId: undefined,
    InstanceType: 'm5.large',
    LaunchTemplate: { LaunchTemplateName: 'team', Version: '$Default' },
    TagSpecifications: [{ ResourceType: 'instance', Tags: [{ Key: 'b', Value: '3' }] }],
  });
  assert.deepEqual([instance!.InstanceType, instance!.ImageId], ['m5.large', image]);
  assert.deepEqual(Object.fromEntries(instance!.Tags!.map(({ Key, Value }) => [Key, Value])), { a: '1', b: '3' });
  assert.equal((await ec2.describeVolumes({})).Volumes?.[0]?.Size, 100);
  await refused(
    run({ LaunchTemplate: { LaunchTemplateName: 'team', Version: '9' } }),
    'InvalidLaunchTemplateId.VersionNotFound',
  );
  assert.equal((await ec2.describeLaunchTemplates({})).LaunchTemplates?.length, 1);
  await ec2.deleteLaunchTemplate({ LaunchTemplateName: 'team' });
  await refused(
    ec2.describeLaunchTemplateVersions({ LaunchTemplateName: 'team' }),
    'InvalidLaunchTemplateName.NotFoundException',
  );
});

test('types are described by name and in pages, and retired ones are sold on request', async (t) => {
  const { ec2, run, world } = await awsBed(t);
  const { InstanceTypes: [g5, arm] = [] } = await ec2.describeInstanceTypes({
    InstanceTypes: ['g5.12xlarge', 'c7g.xlarge'],
  });
  const sorted = [g5, arm].sort((a, b) => (a!.InstanceType! < b!.InstanceType! ? 1 : -1));
  assert.deepEqual(
    [
      sorted[0]!.VCpuInfo?.DefaultVCpus,
      sorted[0]!.MemoryInfo?.SizeInMiB,
      sorted[0]!.GpuInfo?.Gpus?.[0]?.Name,
      sorted[0]!.GpuInfo?.Gpus?.[0]?.Count,
    ],
    [48, 192 * 1024, 'A10G', 4],
  );
  assert.deepEqual(sorted[1]!.ProcessorInfo?.SupportedArchitectures, ['arm64']);
  await refused(
    ec2.describeInstanceTypes({ InstanceTypes: ['p3.2xlarge', 'm5.large'] }),
    'InvalidInstanceType',
    /\[p3\.2xlarge\]/,
  );
  let count = 0;
  for await (const page of paginateDescribeInstanceTypes({ client: ec2 }, {})) count += page.InstanceTypes!.length;
  assert.equal(count, world.types().length);
  world.sellsRetired = true;
  assert.equal((await run({ InstanceType: 'p3.2xlarge' })).length, 1);
  const offered = await ec2.describeInstanceTypeOfferings({
    LocationType: 'availability-zone',
    Filters: [{ Name: 'instance-type', Values: ['trn1.32xlarge'] }],
  });
  assert.deepEqual(
    offered.InstanceTypeOfferings?.map(({ Location }) => Location),
    ['us-west-2a', 'us-west-2b', 'us-west-2c'],
  );
});

test('images are found by parameter, id, owner and name', async (t) => {
  const { ec2, ssm, world } = await awsBed(t);
  const name = '/aws/service/deeplearning/ami/x86_64/oss-nvidia-driver-gpu-pytorch-2.8-ubuntu-24.04/latest/ami-id';
  const { Parameter: parameter } = await ssm.getParameter({ Name: name });
  const [image] = (await ec2.describeImages({ ImageIds: [parameter!.Value!] })).Images!;
  assert.deepEqual([image!.Architecture, image!.RootDeviceName, image!.Public], ['x86_64', '/dev/sda1', true]);
  await refused(ssm.getParameter({ Name: '/aws/service/none' }), 'ParameterNotFound');
  const several = await ssm.getParameters({ Names: [name, '/none'] });
  assert.deepEqual([several.Parameters?.length, several.InvalidParameters], [1, ['/none']]);
  const path = await ssm.getParametersByPath({ Path: '/aws/service/deeplearning/ami/arm64', Recursive: true });
  assert.ok(path.Parameters!.length > 3);
  await refused(ec2.describeImages({ ImageIds: ['ami-00000000'] }), 'InvalidAMIID.NotFound');
  await refused(ec2.describeImages({ ImageIds: ['latest_dlami'] }), 'InvalidAMIID.Malformed');
  const own = world.addImage({ account: labAccount, region: 'us-west-2', name: 'ours' });
  const mine = await ec2.describeImages({ Owners: ['self'], Filters: [{ Name: 'name', Values: ['our*'] }] });
  assert.deepEqual(
    mine.Images?.map(({ ImageId }) => ImageId),
    [own.id],
  );
  assert.ok((await ec2.describeImages({ Owners: ['amazon'] })).Images!.length > 5);
});

test('prices are those of the catalogue until a rule changes them', async (t) => {
  const { ec2, pricing, admin, as, credentials } = await awsBed(t);
  const price = async (region: string): Promise<string> => {
    const fields = {
      instanceType: 'm5.large',
      regionCode: region,
      operatingSystem: 'Linux',
      tenancy: 'Shared',
      preInstalledSw: 'NA',
      capacitystatus: 'Used',
    };
    const { PriceList: list } = await pricing.getProducts({
      ServiceCode: 'AmazonEC2',
      Filters: Object.entries(fields).map(([Field, Value]) => ({ Type: 'TERM_MATCH' as const, Field, Value })),
    });
    assert.equal(list?.length, 1);
    const product = JSON.parse(String(list[0])) as {
      terms: { OnDemand: Record<string, { priceDimensions: Record<string, { pricePerUnit: { USD: string } }> }> };
    };
    return Object.values(Object.values(product.terms.OnDemand)[0]!.priceDimensions)[0]!.pricePerUnit.USD;
  };
  const spot = async () =>
    (
      await ec2.describeSpotPriceHistory({
        InstanceTypes: ['m5.large'],
        AvailabilityZone: 'us-west-2a',
        ProductDescriptions: ['Linux/UNIX'],
      })
    ).SpotPriceHistory!.map(({ SpotPrice }) => SpotPrice);
  assert.equal(Number(await price('us-west-2')), 0.096);
  assert.deepEqual((await spot()).map(Number), [0.0298]);
  await admin.set({
    prices: [
      { type: 'm5.large', market: 'spot', price: 0.5 },
      { type: 'm5.large', market: 'on-demand', price: 1 },
    ],
  });
  assert.equal(Number(await price('us-west-2')), 1);
  assert.deepEqual((await spot()).map(Number), [0.5]);
  await refused(
    pricing.getProducts({ ServiceCode: 'AmazonEC2', Filters: [{ Type: 'TERM_MATCH', Field: 'colour', Value: 'red' }] }),
    'InvalidParameterException',
  );
  const { sts } = as(credentials, 'us-west-2');
  assert.equal((await sts.getCallerIdentity({})).Account, labAccount);
});

test('roles and profiles are made, filled, found and taken apart in order', async (t) => {
  const { iam } = await awsBed(t);
  const { Role: role } = await iam.createRole({
    RoleName: 'r',
    AssumeRolePolicyDocument: trust,
    Tags: [{ Key: 'c', Value: '1' }],
  });
  assert.equal(role!.Arn, 'arn:aws:iam::123456789012:role/r');
  await refused(
    iam.createRole({ RoleName: 'r', AssumeRolePolicyDocument: trust }),
    'EntityAlreadyExistsException',
    undefined,
    409,
  );
  await refused(iam.createRole({ RoleName: 's', AssumeRolePolicyDocument: '{' }), 'MalformedPolicyDocumentException');
  await refused(iam.getRole({ RoleName: 'none' }), 'NoSuchEntityException', undefined, 404);
  const arn = 'arn:aws:iam::aws:policy/AmazonEC2FullAccess';
  await iam.attachRolePolicy({ RoleName: 'r', PolicyArn: arn });
  await refused(
    iam.attachRolePolicy({ RoleName: 'r', PolicyArn: 'arn:aws:iam::aws:policy/MadeUpAccess' }),
    'NoSuchEntityException',
  );
  assert.deepEqual(
    (await iam.listAttachedRolePolicies({ RoleName: 'r' })).AttachedPolicies?.map(({ PolicyName }) => PolicyName),
    ['AmazonEC2FullAccess'],
  );
  await iam.putRolePolicy({ RoleName: 'r', PolicyName: 'own', PolicyDocument: read });
  assert.equal(
    decodeURIComponent((await iam.getRolePolicy({ RoleName: 'r', PolicyName: 'own' })).PolicyDocument!),
    read,
  );
  assert.deepEqual((await iam.listRolePolicies({ RoleName: 'r' })).PolicyNames, ['own']);
  const verdicts = await iam.simulatePrincipalPolicy({
    PolicySourceArn: role!.Arn,
    ActionNames: ['ec2:RunInstances', 's3:GetObject'],
  });
  assert.deepEqual(
    verdicts.EvaluationResults?.map(({ EvalDecision }) => EvalDecision),
    ['allowed', 'implicitDeny'],
  );
  await iam.createInstanceProfile({ InstanceProfileName: 'p' });
  await iam.addRoleToInstanceProfile({ InstanceProfileName: 'p', RoleName: 'r' });
  await refused(iam.addRoleToInstanceProfile({ InstanceProfileName: 'p', RoleName: 'r' }), 'LimitExceededException');
  const shown = (await iam.getInstanceProfile({ InstanceProfileName: 'p' })).InstanceProfile!;
  assert.deepEqual(
    shown.Roles?.map(({ RoleName }) => RoleName),
    ['r'],
  );
  assert.equal((await iam.listInstanceProfilesForRole({ RoleName: 'r' })).InstanceProfiles?.length, 1);
  await refused(iam.deleteInstanceProfile({ InstanceProfileName: 'p' }), 'DeleteConflictException', undefined, 409);
  await refused(iam.deleteRole({ RoleName: 'r' }), 'DeleteConflictException', /detach/);
  await iam.detachRolePolicy({ RoleName: 'r', PolicyArn: arn });
  await refused(iam.deleteRole({ RoleName: 'r' }), 'DeleteConflictException', /delete policies/);
  await iam.deleteRolePolicy({ RoleName: 'r', PolicyName: 'own' });
  await refused(iam.deleteRole({ RoleName: 'r' }), 'DeleteConflictException', /instance profile/);
  await iam.removeRoleFromInstanceProfile({ InstanceProfileName: 'p', RoleName: 'r' });
  await iam.deleteInstanceProfile({ InstanceProfileName: 'p' });
  await iam.tagRole({ RoleName: 'r', Tags: [{ Key: 'd', Value: '2' }] });
  assert.equal((await iam.listRoleTags({ RoleName: 'r' })).Tags?.length, 2);
  await iam.deleteRole({ RoleName: 'r' });
  assert.deepEqual((await iam.listRoles({})).Roles, []);
});

test('a launch does not know a profile or a role for a while after IAM made it', async (t) => {
  const { iam, run, admin } = await awsBed(t, { settings: { role_lag_s: 1000 } });
  await iam.createRole({ RoleName: 'r', AssumeRolePolicyDocument: trust });
  const { InstanceProfile: made } = await iam.createInstanceProfile({ InstanceProfileName: 'p' });
  await iam.addRoleToInstanceProfile({ InstanceProfileName: 'p', RoleName: 'r' });
  const profile = { IamInstanceProfile: { Arn: made!.Arn! } };
  await refused(run(profile), 'InvalidParameterValue', /Invalid IAM Instance Profile ARN/);
  await admin.set({ role_lag_s: 0 });
  assert.equal((await run(profile))[0]!.IamInstanceProfile?.Arn, made!.Arn);
  await iam.createInstanceProfile({ InstanceProfileName: 'empty' });
  await refused(run({ IamInstanceProfile: { Name: 'empty' } }), 'InvalidParameterValue', /no associated IAM Roles/);
});

test('too many calls are throttled, in the words of each service', async (t) => {
  const { ec2, iam, ssm, admin } = await awsBed(t);
  await admin.set({ rate_limit: { per_s: 0, burst: 1 } });
  await ec2.describeRegions({});
  await refused(ec2.describeRegions({}), 'RequestLimitExceeded', undefined, 503);
  await refused(iam.getRole({ RoleName: 'a' }), 'Throttling', undefined, 400);
  await refused(ssm.getParameter({ Name: 'a' }), 'ThrottlingException', undefined, 400);
});

test('every fault of the cloud happens through EC2 too', async (t) => {
  const { ec2, run, describe, admin, cloud } = await awsBed(t);
  const once = (rule: FaultRule) => admin.fault({ ...rule, times: 1 });
  await once({ fault: 'throttle', call: 'RunInstances' });
  await ec2.describeRegions({});
  await refused(run(), 'RequestLimitExceeded');
  for (const code of ['OptInRequired', 'PendingVerification', 'InvalidInstanceID.NotFound', 'DependencyViolation']) {
    await once({ fault: 'refuse', call: 'RunInstances', code, message: 'as asked' });
    await refused(run(), code, /as asked/);
  }
  await once({ fault: 'server-error', call: 'launch', after: true });
  await refused(run(), 'InternalError', undefined, 500);
  assert.equal(cloud.existing().length, 1, 'it took effect');
  await once({ fault: 'lost-answer', call: 'launch' });
  await assert.rejects(run(), /ECONNRESET|hang up/);
  assert.equal(cloud.existing().length, 2);
  await once({ fault: 'lost-request', call: 'launch' });
  await assert.rejects(run(), /ECONNRESET|hang up/);
  await once({ fault: 'duplicate-call', call: 'launch' });
  await run({ ClientToken: 'once' });
  assert.equal(cloud.existing().length, 3);
  await once({ fault: 'denied', type: 'm5.large' });
  await refused(run(), 'UnauthorizedOperation');
  await once({ fault: 'quota', market: 'spot' });
  await run();
  await refused(run({ InstanceMarketOptions: { MarketType: 'spot' } }), 'VcpuLimitExceeded');
  await once({ fault: 'no-capacity', zone: 'us-west-2b' });
  await refused(run({ Placement: { AvailabilityZone: 'us-west-2b' } }), 'InsufficientInstanceCapacity');
  await once({ fault: 'partial-fill', count: 2 });
  assert.equal((await run({ MaxCount: 5 })).length, 2);
  const before = (await describe()).length;
  await once({ fault: 'duplicate-entry' });
  assert.equal((await describe()).length, before + 1);
  await once({ fault: 'stale-list', seconds: 1000 });
  assert.deepEqual(await describe(), []);
  await once({ fault: 'half-list' });
  await assert.rejects(describe());
  await once({ fault: 'half-list', silent: true });
  await assert.rejects(describe());
  const log = await admin.calls({ call: 'RunInstances' });
  assert.deepEqual([log[0]?.error, log[0]?.status, log[0]?.asked?.type], ['RequestLimitExceeded', 503, 'm5.large']);
  assert.ok(log.some(({ instances }) => instances?.length === 2));
});

test('the page of its behaviour names every operation, fault and setting', () => {
  const page = readFileSync(new URL('../../lab/aws/behaviour.md', import.meta.url), 'utf8');
  const world = readFileSync(new URL('../../lab/cloud/behaviour.md', import.meta.url), 'utf8');
  for (const name of awsServices.flatMap(operationsOf)) assert.ok(page.includes(name), name);
  for (const name of [...faultNames, ...Object.keys(defaultSettings)]) assert.ok(world.includes(`\`${name}\``), name);
});
