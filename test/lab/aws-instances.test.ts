// needs: botocore

/** What lab/aws/behaviour.md says of instances, through the official client, on machines that are none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paginateDescribeInstances } from '@aws-sdk/client-ec2';
import { labAccount } from '../../lab/aws/open.ts';
import { until } from '../contract/waiting.ts';
import { ManualClock } from '../jobs/manual-clock.ts';
import { awsBed, imageOf, refused } from './aws-bed.ts';

const ids = (instances: readonly { InstanceId?: string | undefined }[]): string[] =>
  instances.map(({ InstanceId: id }) => id!);
const tags = (given: Record<string, string>, ...kinds: string[]) => ({
  TagSpecifications: kinds.map((ResourceType) => ({
    ResourceType,
    Tags: Object.entries(given).map(([Key, Value]) => ({ Key, Value })),
  })),
});

test('an instance is launched, runs, is stopped, started and terminated, and shows it', async (t) => {
  const { ec2, run, describe, reaches } = await awsBed(t);
  const [made] = await run(tags({ team: 'a' }, 'instance', 'volume', 'network-interface'));
  const id = made!.InstanceId!;
  assert.match(id, /^i-[0-9a-f]{17}$/);
  assert.equal(made!.State?.Name, 'pending');
  await reaches(id, 'running');
  const [shown] = await describe({ InstanceIds: [id] });
  assert.equal(shown!.InstanceType, 'm5.large');
  assert.equal(shown!.Architecture, 'x86_64');
  assert.match(shown!.Placement!.AvailabilityZone!, /^us-west-2/);
  assert.match(shown!.PrivateIpAddress!, /^172\.31\./);
  assert.match(shown!.PublicIpAddress!, /^54\./);
  assert.deepEqual(shown!.Tags, [{ Key: 'team', Value: 'a' }]);
  assert.equal(shown!.BlockDeviceMappings?.[0]?.DeviceName, '/dev/sda1');
  assert.equal(shown!.NetworkInterfaces?.[0]?.Groups?.[0]?.GroupName, 'default');
  assert.equal(shown!.MetadataOptions?.HttpTokens, 'required');
  const statuses = await ec2.describeInstanceStatus({ InstanceIds: [id] });
  assert.equal(statuses.InstanceStatuses?.[0]?.InstanceStatus?.Status, 'ok');

  const stopped = await ec2.stopInstances({ InstanceIds: [id] });
  assert.deepEqual(stopped.StoppingInstances?.[0]?.PreviousState, { Code: 16, Name: 'running' });
  await reaches(id, 'stopped');
  const [down] = await describe({ InstanceIds: [id] });
  assert.equal(down!.StateReason?.Code, 'Client.UserInitiatedShutdown');
  assert.equal(down!.PublicIpAddress, undefined);
  await ec2.startInstances({ InstanceIds: [id] });
  await reaches(id, 'running');
  const [again] = await describe({ InstanceIds: [id] });
  assert.notEqual(again!.PublicIpAddress, shown!.PublicIpAddress, 'a public address is another one after a stop');
  assert.equal(again!.PrivateIpAddress, shown!.PrivateIpAddress);
  const console = await ec2.getConsoleOutput({ InstanceId: id });
  assert.match(Buffer.from(console.Output!, 'base64').toString(), /booted/);

  const ended = await ec2.terminateInstances({ InstanceIds: [id] });
  assert.equal(ended.TerminatingInstances?.[0]?.CurrentState?.Name, 'shutting-down');
  await reaches(id, 'terminated');
  const [gone] = await describe({ InstanceIds: [id] });
  assert.deepEqual([gone!.PrivateIpAddress, gone!.SubnetId], [undefined, undefined]);
  assert.deepEqual((await ec2.describeVolumes({})).Volumes, []);
  await ec2.terminateInstances({ InstanceIds: [id] });
});

test('what a request lacks, misspells or cannot have is refused in the words of EC2', async (t) => {
  const { ec2, run, world } = await awsBed(t);
  const arm = imageOf({ world } as never, 'us-west-2', 'arm64');
  for (const [more, code, words] of [
    [{ ImageId: undefined }, 'MissingParameter', /ImageId/],
    [{ ImageId: 'ami-xyz' }, 'InvalidAMIID.Malformed', /ami-xyz/],
    [{ ImageId: 'ami-00000000' }, 'InvalidAMIID.NotFound', /ami-00000000/],
    [{ InstanceType: 'm5.huge' }, 'InvalidParameterValue', /m5\.huge/],
    [{ InstanceType: 'p3.2xlarge' }, 'InvalidParameterValue', /p3\.2xlarge/],
    [{ ImageId: arm }, 'InvalidParameterValue', /architecture 'x86_64' .* architecture 'arm64'/],
    [{ MinCount: 3, MaxCount: 2 }, 'InvalidParameterValue', /min instance count/],
    [{ KeyName: 'none' }, 'InvalidKeyPair.NotFound', /'none'/],
    [{ SubnetId: 'subnet-1' }, 'InvalidSubnetID.NotFound', /subnet-1/],
    [{ SecurityGroupIds: ['sg-1'] }, 'InvalidGroup.NotFound', /sg-1/],
    [{ IamInstanceProfile: { Name: 'none' } }, 'InvalidParameterValue', /Invalid IAM Instance Profile name/],
    [{ Placement: { AvailabilityZone: 'us-east-1a' } }, 'InvalidParameterValue', /us-east-1a/],
    [{ UserData: '***' }, 'InvalidUserData.Malformed', /BASE64/],
    [{ UserData: Buffer.alloc(20_000).toString('base64') }, 'InvalidParameterValue', /16384/],
    [{ ClientToken: 'x'.repeat(65) }, 'InvalidParameterValue', /64/],
    [{ BlockDeviceMappings: [{ DeviceName: '/dev/sdf', Ebs: {} }] }, 'MissingParameter', /size or snapshotId/],
    [
      { BlockDeviceMappings: [{ DeviceName: '/dev/sda1', Ebs: { VolumeSize: 1 } }] },
      'InvalidBlockDeviceMapping',
      /smaller/,
    ],
    [
      { BlockDeviceMappings: [{ DeviceName: '/dev/sdf', Ebs: { VolumeSize: 'big' } }] },
      'InvalidParameterValue',
      /BlockDeviceMapping\.1\.Ebs\.VolumeSize/,
    ],
    [
      { BlockDeviceMappings: [{ DeviceName: '/dev/sdf', Ebs: { VolumeSize: 1, VolumeType: 'gp9' } }] },
      'InvalidParameterValue',
      /gp9/,
    ],
    [{ NetworkInterfaces: [{ DeviceIndex: 0 }], SubnetId: 'subnet-1' }, 'InvalidParameterCombination', /subnet/],
    [{ NetworkInterfaces: [{ DeviceIndex: 0 }], SecurityGroupIds: ['sg-1'] }, 'InvalidParameterCombination', /groups/],
    [{ LaunchTemplate: { LaunchTemplateName: 'none' } }, 'InvalidLaunchTemplateName.NotFoundException', /none/],
    [tags({ 'aws:x': '1' }, 'instance'), 'InvalidParameterValue', /aws:/],
    [tags({ a: 'x'.repeat(257) }, 'instance'), 'InvalidParameterValue', /256/],
    [
      tags(Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, ''])), 'instance'),
      'TagLimitExceeded',
      /Tags/,
    ],
    [tags({ a: '1' }, 'route-table'), 'InvalidParameterValue', /route-table/],
    [{ MetadataOptions: { HttpTokens: 'maybe' } }, 'InvalidParameterValue', /HttpTokens/],
  ] as const)
    await refused(run(more), code, words);
  await refused(ec2.describeInstances({ InstanceIds: ['i-0123456789abcdef0'] }), 'InvalidInstanceID.NotFound');
  await refused(ec2.describeInstances({ InstanceIds: ['web-1'] }), 'InvalidInstanceID.Malformed');
  await refused(ec2.terminateInstances({ InstanceIds: ['i-0123456789abcdef0'] }), 'InvalidInstanceID.NotFound');
  await refused(
    ec2.describeInstances({ Filters: [{ Name: 'colour', Values: ['red'] }] }),
    'InvalidParameterValue',
    /'colour'/,
  );
  await refused(ec2.describeInstances({ MaxResults: 2 }), 'InvalidParameterValue', /maxResults/);
});

test('a client token gives the same set in one zone, and a second one in another', async (t) => {
  const { ec2, run, reaches, world } = await awsBed(t);
  const [a, b] = (await ec2.describeSubnets({})).Subnets!;
  const asked = { ClientToken: 'token-1', MinCount: 1, MaxCount: 2, SubnetId: a!.SubnetId };
  const first = ids(await run(asked));
  assert.equal(first.length, 2);
  assert.deepEqual(ids(await run(asked)), first);
  await refused(run({ ...asked, MaxCount: 3 }), 'IdempotentParameterMismatch');
  await refused(run({ ...asked, ...tags({ a: '1' }, 'instance') }), 'IdempotentParameterMismatch');
  const second = ids(await run({ ...asked, SubnetId: b!.SubnetId }));
  assert.equal(second.length, 2);
  assert.equal(new Set([...first, ...second]).size, 4);
  await ec2.terminateInstances({ InstanceIds: first });
  await reaches(first[0]!, 'terminated');
  await refused(run(asked), 'IdempotentInstanceTerminated');
  assert.equal(world.cloud.existing().length, 2);
});

test('capacity, quotas, prices and free addresses refuse a launch with the code of each', async (t) => {
  const { ec2, run, admin, world } = await awsBed(t);
  const subnets = (await ec2.describeSubnets({ Filters: [{ Name: 'availability-zone', Values: ['us-west-2a'] }] }))
    .Subnets!;
  const here = { SubnetId: subnets[0]!.SubnetId };
  await admin.set({ capacity: [{ zone: 'us-west-2a', limit: 1 }] });
  assert.equal((await run({ ...here, MaxCount: 5 })).length, 1, 'it gives what it has');
  await refused(run(here), 'InsufficientInstanceCapacity', /m5\.large capacity .*us-west-2a/, 500);
  const elsewhere = await run();
  assert.notEqual(elsewhere[0]!.Placement?.AvailabilityZone, 'us-west-2a');
  await admin.set({ capacity: [{ market: 'spot', limit: 0 }] });
  await refused(
    run({ InstanceMarketOptions: { MarketType: 'spot' } }),
    'InsufficientInstanceCapacity',
    /Spot capacity/,
  );
  await admin.set({ capacity: [], quotas: { cpus_on_demand: 4 } });
  await refused(run(), 'VcpuLimitExceeded');
  await admin.set({ quotas: { cpus_spot: 0 } });
  await refused(run({ InstanceMarketOptions: { MarketType: 'spot' } }), 'MaxSpotInstanceCountExceeded');
  await admin.set({ quotas: { instances: 2 } });
  await refused(run(), 'InstanceLimitExceeded');
  await admin.set({ quotas: { disk_gib: 100 } });
  await refused(
    run({ BlockDeviceMappings: [{ DeviceName: '/dev/sda1', Ebs: { VolumeSize: 200 } }] }),
    'VolumeLimitExceeded',
  );
  await admin.set({ quotas: {} });
  const spot = (MaxPrice: string) => run({ InstanceMarketOptions: { MarketType: 'spot', SpotOptions: { MaxPrice } } });
  await refused(spot('0.01'), 'SpotMaxPriceTooLow', /0\.01 .* 0\.0298/);
  assert.equal((await spot('0.04')).length, 1);
  const vpc = world.vpcs.all()[0]!;
  const tiny = world.addSubnet(vpc, { zone: 'us-west-2b', room: 1 });
  await run({ SubnetId: tiny.id });
  await refused(run({ SubnetId: tiny.id }), 'InsufficientFreeAddressesInSubnet');
  await refused(
    run({ InstanceType: 'trn1.32xlarge', Placement: { AvailabilityZone: 'us-west-2d' } }),
    'Unsupported',
    /us-west-2d/,
  );
});

test('spot instances have a request, notices, and are not stopped; a persistent request asks again', async (t) => {
  const { ec2, iam, run, describe, admin, reaches } = await awsBed(t);
  const [made] = await run({
    InstanceMarketOptions: { MarketType: 'spot' },
    ...tags({ cluster: 'c' }, 'instance', 'spot-instances-request'),
  });
  assert.equal(made!.InstanceLifecycle, 'spot');
  assert.equal(
    (await iam.getRole({ RoleName: 'AWSServiceRoleForEC2Spot' })).Role?.Path,
    '/aws-service-role/spot.amazonaws.com/',
  );
  const requests = async () =>
    (await ec2.describeSpotInstanceRequests({ Filters: [{ Name: 'tag:cluster', Values: ['c'] }] }))
      .SpotInstanceRequests!;
  assert.deepEqual(
    (await requests()).map(({ SpotInstanceRequestId: id, State: state }) => [id, state]),
    [[made!.SpotInstanceRequestId, 'active']],
  );
  await reaches(made!.InstanceId!, 'running');
  await refused(ec2.stopInstances({ InstanceIds: [made!.InstanceId!] }), 'UnsupportedOperation', /one-time/);
  await admin.preempt(made!.InstanceId!);
  await reaches(made!.InstanceId!, 'terminated');
  const [ended] = await describe({ InstanceIds: [made!.InstanceId!] });
  assert.equal(ended!.StateReason?.Code, 'Server.SpotInstanceTermination');
  assert.equal((await requests())[0]?.State, 'closed');

  const [kept] = await run({
    InstanceMarketOptions: { MarketType: 'spot', SpotOptions: { SpotInstanceType: 'persistent' } },
  });
  await ec2.terminateInstances({ InstanceIds: [kept!.InstanceId!] });
  const again = await until('the request asked again', async () => {
    const [request] = (
      await ec2.describeSpotInstanceRequests({ SpotInstanceRequestIds: [kept!.SpotInstanceRequestId!] })
    ).SpotInstanceRequests!;
    return request!.InstanceId !== kept!.InstanceId && request!.InstanceId;
  });
  await ec2.cancelSpotInstanceRequests({ SpotInstanceRequestIds: [kept!.SpotInstanceRequestId!] });
  await ec2.terminateInstances({ InstanceIds: [again] });
  await reaches(again, 'terminated');
  assert.deepEqual(await describe({ Filters: [{ Name: 'instance-state-name', Values: ['pending', 'running'] }] }), []);
});

test('machines of a reservation come out of it alone, and those of a block end with it', async (t) => {
  const { ec2, run, world, state } = await awsBed(t);
  const has = { account: labAccount, type: 'm5.large', zone: 'us-west-2a', total: 1 };
  const open = world.addReservation(has);
  const block = world.addReservation({ ...has, type: 'p4d.24xlarge', block: true, until: Date.now() + 300 });
  const from = (id: string) => ({
    CapacityReservationSpecification: { CapacityReservationTarget: { CapacityReservationId: id } },
  });
  const here = { Placement: { AvailabilityZone: 'us-west-2a' } };
  const [made] = await run({ ...here, ...from(open.id) });
  assert.equal(made!.CapacityReservationId, open.id);
  await refused(run({ ...here, ...from(open.id) }), 'ReservationCapacityExceeded');
  await refused(run({ ...here, ...from('cr-0') }), 'InvalidCapacityReservationId.NotFound');
  const shown = await ec2.describeCapacityReservations({});
  assert.deepEqual(
    shown.CapacityReservations?.map((each) => [each.AvailableInstanceCount, each.EndDateType, each.ReservationType]),
    [
      [0, 'unlimited', 'default'],
      [1, 'limited', 'capacity-block'],
    ],
  );
  const market = { InstanceMarketOptions: { MarketType: 'capacity-block' as const } };
  await refused(run({ ...here, ...market, InstanceType: 'p4d.24xlarge' }), 'MissingParameter');
  const [blocked] = await run({ ...here, ...market, ...from(block.id), InstanceType: 'p4d.24xlarge' });
  assert.equal(blocked!.InstanceLifecycle, 'capacity-block');
  await until('the block has ended', async () => (await state(blocked!.InstanceId!)) === 'terminated');
});

test('an instance that was accepted and ended before it ran says why', async (t) => {
  const { run, admin, describe, reaches } = await awsBed(t);
  for (const [code, wanted] of [
    ['no-capacity', 'Server.InsufficientInstanceCapacity'],
    ['quota', 'Client.VolumeLimitExceeded'],
    ['key', 'Client.InternalError'],
  ] as const) {
    await admin.fault({ fault: 'late-refusal', code, message: 'on request', times: 1 });
    const [made] = await run();
    await reaches(made!.InstanceId!, 'terminated');
    const [shown] = await describe({ InstanceIds: [made!.InstanceId!] });
    assert.equal(shown!.StateReason?.Code, wanted);
    assert.match(shown!.StateReason.Message!, /on request/);
  }
});

test('lists are filtered, come in pages of one instant, and lag; tags lag more', async (t) => {
  const { ec2, run, describe, admin } = await awsBed(t);
  const made = ids(await run({ MaxCount: 12, ...tags({ c: '1' }, 'instance') }));
  await run(tags({ c: '2' }, 'instance'));
  const mine = [{ Name: 'tag:c', Values: ['1'] }];
  await admin.set({ page_size: 5 });
  const pages: string[][] = [];
  for await (const page of paginateDescribeInstances({ client: ec2 }, { Filters: mine }))
    pages.push(ids(page.Reservations!.flatMap(({ Instances }) => Instances ?? [])));
  assert.deepEqual(
    pages.map(({ length }) => length),
    [5, 5, 2],
  );
  assert.deepEqual(pages.flat(), made);
  await admin.calm();
  for (const [name, value, count] of [
    ['tag-key', 'c', 13],
    ['tag:c', '*', 13],
    ['instance-type', 'm5.*', 13],
    ['instance-lifecycle', 'spot', 0],
    ['availability-zone', 'us-west-2a', 13],
  ] as const)
    assert.equal((await describe({ Filters: [{ Name: name, Values: [value] }] })).length, count, name);
  await admin.set({ list_lag_s: 1000 });
  assert.deepEqual(await describe(), []);
  await refused(ec2.describeInstances({ InstanceIds: [made[0]!] }), 'InvalidInstanceID.NotFound');
  await admin.set({ list_lag_s: 0, tag_lag_s: 1000 });
  assert.equal((await describe()).length, 13);
  assert.deepEqual(await describe({ Filters: mine }), []);
});

test('an instance is only in its region', async (t) => {
  const { run, as, credentials, describe } = await awsBed(t);
  const [made] = await run();
  const elsewhere = as(credentials, 'eu-west-1').ec2;
  assert.deepEqual((await elsewhere.describeInstances({})).Reservations, []);
  await refused(elsewhere.terminateInstances({ InstanceIds: [made!.InstanceId!] }), 'InvalidInstanceID.NotFound');
  assert.equal((await describe()).length, 1);
  await refused(as(credentials, 'mars-1').ec2.describeInstances({}), 'AuthFailure', /mars-1/);
});

test('termination protection holds, and what is not asked to go with its instance stays and costs', async (t) => {
  const { ec2, run, reaches, admin } = await awsBed(t);
  const disk = { DeviceName: '/dev/sdf', Ebs: { VolumeSize: 50, DeleteOnTermination: false } };
  const [made] = await run({ DisableApiTermination: true, BlockDeviceMappings: [disk], ...tags({ c: '1' }, 'volume') });
  const InstanceIds = [made!.InstanceId!];
  await refused(ec2.terminateInstances({ InstanceIds }), 'OperationNotPermitted', /disableApiTermination/);
  await ec2.modifyInstanceAttribute({ InstanceId: InstanceIds[0]!, DisableApiTermination: { Value: false } });
  await reaches(InstanceIds[0]!, 'running');
  await ec2.stopInstances({ InstanceIds });
  await reaches(InstanceIds[0]!, 'stopped');
  assert.deepEqual(
    (await admin.costs()).map(({ kind }) => kind),
    ['disk', 'disk'],
    'a stopped machine costs its disks',
  );
  await ec2.terminateInstances({ InstanceIds });
  await reaches(InstanceIds[0]!, 'terminated');
  const left = (await ec2.describeVolumes({ Filters: [{ Name: 'tag:c', Values: ['1'] }] })).Volumes!;
  assert.deepEqual(
    left.map(({ Size, State }) => [Size, State]),
    [[50, 'available']],
  );
  assert.equal((await admin.belongings()).filter(({ kind }) => kind === 'disk').length, 1);
  await ec2.deleteVolume({ VolumeId: left[0]!.VolumeId! });
  await refused(ec2.deleteVolume({ VolumeId: left[0]!.VolumeId! }), 'InvalidVolume.NotFound');
});

test('tags are set, replaced, found and taken away, on everything that has them', async (t) => {
  const { ec2, run, describe } = await awsBed(t);
  const [made] = await run();
  const volume = (await ec2.describeVolumes({})).Volumes![0]!.VolumeId!;
  const card = (await ec2.describeNetworkInterfaces({})).NetworkInterfaces![0]!.NetworkInterfaceId!;
  const Resources = [made!.InstanceId!, volume, card];
  await ec2.createTags({
    Resources,
    Tags: [
      { Key: 'a', Value: '1' },
      { Key: 'b', Value: '2' },
    ],
  });
  await ec2.createTags({ Resources: [volume], Tags: [{ Key: 'a', Value: '3' }] });
  const found = (await ec2.describeTags({ Filters: [{ Name: 'key', Values: ['a'] }] })).Tags!;
  assert.deepEqual(found.map(({ ResourceType, Value }) => `${ResourceType}=${Value}`).sort(), [
    'instance=1',
    'network-interface=1',
    'volume=3',
  ]);
  await ec2.deleteTags({ Resources, Tags: [{ Key: 'a', Value: '1' }, { Key: 'b' }] });
  assert.deepEqual((await describe())[0]!.Tags, []);
  assert.deepEqual(
    (await ec2.describeTags({})).Tags!.map(({ ResourceId, Key }) => [ResourceId, Key]),
    [[volume, 'a']],
  );
  await refused(
    ec2.createTags({ Resources: ['i-0123456789abcdef0'], Tags: [{ Key: 'a' }] }),
    'InvalidInstanceID.NotFound',
  );
  await refused(ec2.createTags({ Resources: ['sg-0123456789abcdef0'], Tags: [{ Key: 'a' }] }), 'InvalidGroup.NotFound');
});

test('a thousand instances are launched, listed, tagged and terminated', async (t) => {
  const { ec2, run, admin, cloud } = await awsBed(t);
  for (let call = 0; call < 10; call++) await run({ MinCount: 100, MaxCount: 100 });
  const found: string[] = [];
  for await (const page of paginateDescribeInstances({ client: ec2 }, {}))
    found.push(...ids(page.Reservations!.flatMap(({ Instances }) => Instances ?? [])));
  assert.equal(new Set(found).size, 1000);
  await ec2.createTags({ Resources: found, Tags: [{ Key: 'a', Value: 'b' }] });
  await ec2.terminateInstances({ InstanceIds: found });
  await until('all have ended', () => cloud.existing().length === 0);
  assert.deepEqual(
    await admin.belongings(),
    (await admin.belongings()).filter(({ kind }) => kind === 'group'),
  );
});

test("a cloud whose time is the test's own boots in its own time", async (t) => {
  const clock = new ManualClock(Date.now());
  const { run, state, cloud } = await awsBed(t, { clock, settings: { boot_s: [2400, 2400] } });
  const [made] = await run();
  await clock.advance(2_399_000);
  assert.equal(await state(made!.InstanceId!), 'pending');
  await clock.advance(2_000);
  assert.equal(await state(made!.InstanceId!), 'running');
  assert.equal(cloud.existing().length, 1);
});

test('instances hang, vanish and appear by themselves', async (t) => {
  const { ec2, run, admin, describe, reaches, state } = await awsBed(t);
  await admin.fault({ fault: 'hang-boot', times: 1 }, { fault: 'vanish', seconds: 0.05, skip: 1, times: 1 });
  const [hangs] = await run();
  const [vanishes] = await run();
  await until('it has vanished', () =>
    state(vanishes!.InstanceId!).then(
      () => false,
      (error: Error) => error.name === 'InvalidInstanceID.NotFound',
    ),
  );
  assert.deepEqual(ids(await describe()), [hangs!.InstanceId]);
  assert.equal(await state(hangs!.InstanceId!), 'pending');
  const [stray] = await admin.stray(labAccount, { machine_type: 'm5.large', zone: 'us-west-2a', tags: { c: '1' } });
  await reaches(stray!.id, 'running');
  const [shown] = await describe({ Filters: [{ Name: 'tag:c', Values: ['1'] }] });
  assert.equal(shown!.InstanceId, stray!.id);
  await ec2.terminateInstances({ InstanceIds: [stray!.id] });
});
