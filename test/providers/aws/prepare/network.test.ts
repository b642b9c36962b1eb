// needs: botocore

/** Subnets and security groups of a cluster file. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labAccount } from '../../../../lab/aws/open.ts';
import { never } from '../../../contract/waiting.ts';
import { specOf } from '../../../core/spec/cluster-text.ts';
import { ask, providerOf } from '../aws-bed.ts';
import { cluster, fails, isChange, preparationBed } from './prepare-bed.ts';

const region = 'us-west-2';
type Bed = Awaited<ReturnType<typeof preparationBed>>;

const inbound = ({ cloud }: Bed, name: string): readonly string[] =>
  cloud.has.groups
    .of(labAccount, region)
    .find((group) => group.name === name)!
    .rules.filter(({ outwards }) => !outwards)
    .map(({ protocol, from, cidr, group }) => `${protocol} ${from ?? 'all'} ${cidr ?? group}`);

test('zones come in the order of the file', async (t) => {
  const { up } = await preparationBed(t);
  const { types } = await up({ text: cluster({ provider: 'availability_zone: "us-west-2c, us-west-2a"' }) });
  assert.deepEqual(
    types['worker']?.subnets?.map(({ zone }) => zone),
    ['us-west-2c', 'us-west-2a'],
  );
});

test('the default VPC is preferred, and the choice is told', async (t) => {
  const { plan, world } = await preparationBed(t);
  const vpc = world.addVpc(labAccount, region);
  for (const zone of world.zonesOf(region)) world.addSubnet(vpc, { zone });
  for (const zone of world.zonesOf(region)) world.addSubnet(vpc, { zone });
  const step = (await plan({ text: cluster() })).steps.find(({ what }) => what === 'subnets')!;
  assert.match(step.note!, /the default VPC/);
  assert.equal(step.id, world.vpcs.of(labAccount, region).find(({ isDefault }) => isDefault)?.id);
});

test('without a default VPC the one with most zones is taken, and that is told', async (t) => {
  const { plan, up, world } = await preparationBed(t);
  world.removeNetwork(labAccount, region);
  const small = world.addVpc(labAccount, region);
  world.addSubnet(small, { zone: 'us-west-2a' });
  const large = world.addVpc(labAccount, region, '10.30.0.0/16');
  world.addSubnet(large, { zone: 'us-west-2b' });
  world.addSubnet(large, { zone: 'us-west-2a' });
  const { steps } = await plan({ text: cluster() });
  const step = steps.find(({ what }) => what === 'subnets')!;
  assert.equal(step.id, large.id);
  assert.match(step.note!, /name SubnetIds to choose another/);
  const { types } = await up({ text: cluster() });
  assert.deepEqual(
    types['head']?.subnets?.map(({ zone }) => zone),
    ['us-west-2a', 'us-west-2b'],
  );
});

test('private subnets are used with internal addresses alone; else it is told why none will do', async (t) => {
  const bed = await preparationBed(t);
  const { up, plan, world } = bed;
  world.removeNetwork(labAccount, region);
  const vpc = world.addVpc(labAccount, region);
  const closed = world.addSubnet(vpc, { zone: 'us-west-2a', mapsPublic: false });
  const young = world.addSubnet(vpc, { zone: 'us-west-2b', state: 'pending' });
  const error = await fails(plan({ text: cluster() }), 'MANTA_AWS_NO_USABLE_SUBNET', 5, /use_internal_ips: true/);
  assert.match(error.message, new RegExp(`${closed.id} in us-west-2a gives no public addresses`));
  assert.match(error.message, new RegExp(`${young.id} in us-west-2b is not available`));
  const { types } = await up({ text: cluster({ provider: 'use_internal_ips: true' }) });
  assert.deepEqual(types['head']?.subnets, [{ id: closed.id, zone: 'us-west-2a' }]);
  assert.deepEqual(
    inbound(bed, 'ray-autoscaler-demo').filter((rule) => rule.startsWith('tcp')),
    ['tcp 22 10.0.0.0/8', 'tcp 22 172.16.0.0/12', 'tcp 22 192.168.0.0/16', 'tcp 22 100.64.0.0/10'],
  );
  world.removeNetwork(labAccount, region);
  await fails(plan({ text: cluster() }), 'MANTA_AWS_NO_USABLE_SUBNET', 5, /us-west-2 has no subnet/);
});

test('subnets of the file are kept, and bind the VPC of the other types', async (t) => {
  const { up, world } = await preparationBed(t);
  const vpc = world.addVpc(labAccount, region);
  const [one, two] = ['us-west-2b', 'us-west-2a'].map((zone) => world.addSubnet(vpc, { zone, mapsPublic: false }));
  const open = world.addSubnet(vpc, { zone: 'us-west-2c' });
  const { types } = await up({ text: cluster({ worker: `SubnetIds: [${one!.id}, ${two!.id}]` }) });
  assert.deepEqual(types['worker']?.subnets, [
    { id: one!.id, zone: 'us-west-2b' },
    { id: two!.id, zone: 'us-west-2a' },
  ]);
  assert.deepEqual(types['head']?.subnets, [{ id: open.id, zone: 'us-west-2c' }]);
});

test('network interfaces of the file are left alone', async (t) => {
  const { up, world, ec2 } = await preparationBed(t);
  await up({ text: cluster() });
  const subnet = world.subnets.of(labAccount, region).find(({ zone }) => zone === 'us-west-2b')!;
  const { GroupId: group } = await ec2.createSecurityGroup({ GroupName: 'efa', Description: 'd', VpcId: subnet.vpc });
  const card = `{DeviceIndex: 0, NetworkCardIndex: 0, SubnetId: ${subnet.id}, Groups: [${group}], InterfaceType: efa}`;
  const { types } = await up({ text: cluster({ worker: `NetworkInterfaces: [${card}]` }) });
  assert.ok(types['worker']);
  assert.equal(types['worker'].subnets, undefined);
  assert.equal(types['worker'].groups, undefined);
  assert.equal(types['head']?.groups?.length, 1);
});

test('interfaces that name no subnet or group get those of the file, or those of the cluster', async (t) => {
  const bed = await preparationBed(t);
  const { up, world, ec2 } = bed;
  const bare = cluster({ worker: 'NetworkInterfaces: [{DeviceIndex: 0, AssociatePublicIpAddress: true}]' });
  const prepared = await up({ text: bare });
  const { subnets = [], groups = [] } = prepared.types['worker']!;
  assert.deepEqual(subnets, prepared.types['head']?.subnets);
  assert.deepEqual(groups, prepared.types['head']?.groups);
  const { vpc } = world.subnets.get(labAccount, subnets[0]!.id)!;
  const { GroupId: own } = await ec2.createSecurityGroup({ GroupName: 'own', Description: 'd', VpcId: vpc });
  const given = `SecurityGroupIds: [${own}], NetworkInterfaces: [{DeviceIndex: 0, SubnetId: ${subnets[1]!.id}}]`;
  for (const [token, text, where, who] of [
    ['bare', bare, subnets[0]!.id, groups],
    ['given', cluster({ worker: given }), subnets[1]!.id, [own]],
  ] as const) {
    const ready = await up({ text });
    const provider = providerOf(bed, { prepared: () => ready, client: { spec: () => specOf(text) } });
    const zone = world.subnets.get(labAccount, where)!.zone;
    const [made] = await provider.launch(ask(token, token === 'bare' ? { zone } : {}), never);
    const { NetworkInterfaces: [card] = [], ...request } = world.facts(bed.cloud.instance(made!.id)!).request;
    assert.deepEqual([card?.SubnetId, card?.Groups], [where, who]);
    assert.deepEqual([request.SubnetId, request.SecurityGroupIds], [undefined, undefined]);
  }
});

test('a type that is placed in a zone goes there, whatever zones the others have', async (t) => {
  const { up, plan } = await preparationBed(t);
  const placed = (zone: string) =>
    cluster({ provider: 'availability_zone: us-west-2a', worker: `Placement: {AvailabilityZone: ${zone}}` });
  const { types } = await up({ text: placed('us-west-2c') });
  const zonesOf = (type: string) => types[type]?.subnets?.map(({ zone }) => zone);
  assert.deepEqual([zonesOf('head'), zonesOf('worker')], [['us-west-2a'], ['us-west-2c']]);
  await fails(plan({ text: placed('us-west-2z') }), 'MANTA_AWS_ZONE_OUTSIDE', 2, /worker.*'us-west-2z'/);
});

test('what cannot be a region is refused without a call', async (t) => {
  const { plan, calls } = await preparationBed(t);
  const inRegion = (name: string) => plan({ text: cluster().replace('region: us-west-2', `region: ${name}`) });
  await fails(inRegion('us-west-2b'), 'MANTA_AWS_BAD_CONFIG', 2, /provider\.region is a zone.*\n.*us-west-2$/);
  await fails(inRegion('"US-West 2"'), 'MANTA_AWS_BAD_CONFIG', 2, /provider\.region is not a region/);
  assert.deepEqual(await calls(), []);
});

test('groups of network interfaces bind the VPC, reach the group of the cluster, and must exist', async (t) => {
  const bed = await preparationBed(t);
  const { up, plan, world, ec2 } = bed;
  const vpc = world.addVpc(labAccount, region);
  world.addSubnet(vpc, { zone: 'us-west-2a' });
  const { GroupId: group } = await ec2.createSecurityGroup({ GroupName: 'efa', Description: 'd', VpcId: vpc.id });
  const text = (id: string | undefined) =>
    cluster({ worker: `NetworkInterfaces: [{DeviceIndex: 0, Groups: [${id}], InterfaceType: efa}]` });
  const { types } = await up({ text: text(group) });
  assert.equal(world.subnets.get(labAccount, types['head']!.subnets![0]!.id)?.vpc, vpc.id);
  assert.ok(inbound(bed, 'ray-autoscaler-demo').includes(`-1 all ${group}`), 'workers reach their head');
  await fails(
    plan({ text: text('sg-0123456789abcdef0') }),
    'MANTA_AWS_NO_GROUP',
    2,
    /NetworkInterfaces\[0\]\.Groups.*sg-0123456789abcdef0/,
  );
});

test('a zone of another region, or one that does not exist, is refused', async (t) => {
  const { plan, calls } = await preparationBed(t);
  const zones = (names: string) => plan({ text: cluster({ provider: `availability_zone: "${names}"` }) });
  await fails(zones('us-west-2a, us-east-1b'), 'MANTA_AWS_ZONE_OUTSIDE', 2, /availability_zone: zone 'us-east-1b'/);
  const placed = cluster({ worker: 'Placement: {AvailabilityZone: eu-west-1a}' });
  await fails(plan({ text: placed }), 'MANTA_AWS_ZONE_OUTSIDE', 2, /worker.*eu-west-1a/);
  assert.deepEqual(await calls(), []);
  await fails(zones('us-west-2z'), 'MANTA_AWS_ZONE_OUTSIDE', 2, /us-west-2a, us-west-2b/);
});

test('a zone without a subnet is left out, with a warning', async (t) => {
  const { plan, world } = await preparationBed(t);
  world.network(labAccount, region);
  const there = world.subnets.of(labAccount, region).find(({ zone }) => zone === 'us-west-2b')!;
  world.subnets.delete(there.id);
  const { warnings } = await plan({ text: cluster({ provider: 'availability_zone: "us-west-2a,us-west-2b"' }) });
  assert.match(warnings.join(), /zone us-west-2b has no subnet/);
});

test('a subnet that is not there, or not in the zone of its type, is refused', async (t) => {
  const { plan, world } = await preparationBed(t);
  world.network(labAccount, region);
  const subnet = world.subnets.of(labAccount, region).find(({ zone }) => zone === 'us-west-2b')!;
  const worker = (config: string) => plan({ text: cluster({ worker: config }) });
  await fails(worker('SubnetId: subnet-0123456789abcdef0'), 'MANTA_AWS_NO_SUBNET', 2, /worker\.node_config\.SubnetId/);
  const config = `SubnetIds: [${subnet.id}], Placement: {AvailabilityZone: us-west-2a}`;
  await fails(worker(config), 'MANTA_AWS_SUBNET_OUTSIDE', 2, /is in zone us-west-2b.*us-west-2a/);
  const text = cluster({ worker: `SubnetId: ${subnet.id}`, provider: 'availability_zone: us-west-2a' });
  await fails(plan({ text }), 'MANTA_AWS_SUBNET_OUTSIDE', 2);
});

test('types in different VPCs are refused', async (t) => {
  const { plan, world } = await preparationBed(t);
  const [one, two] = [1, 2].map((number) => {
    const vpc = world.addVpc(labAccount, region, `10.${number}.0.0/16`);
    return world.addSubnet(vpc, { zone: 'us-west-2a' });
  });
  const text = cluster({ head: `SubnetId: ${one!.id}`, worker: `SubnetId: ${two!.id}` });
  await fails(plan({ text }), 'MANTA_AWS_SEVERAL_NETWORKS', 2, new RegExp(`${one!.vpc}.*${two!.vpc}`));
});

test('types with groups of their own keep them, in the VPC of those groups', async (t) => {
  const bed = await preparationBed(t);
  const { up, plan, world, ec2 } = bed;
  const vpc = world.addVpc(labAccount, region);
  world.addSubnet(vpc, { zone: 'us-west-2a' });
  const { GroupId: group } = await ec2.createSecurityGroup({ GroupName: 'mine', Description: 'd', VpcId: vpc.id });
  const { types } = await up({ text: cluster({ head: `SecurityGroupIds: [${group}]` }) });
  assert.equal(types['head']?.groups, undefined);
  assert.equal(world.subnets.get(labAccount, types['worker']!.subnets![0]!.id)?.vpc, vpc.id);
  assert.ok(inbound(bed, 'ray-autoscaler-demo').includes(`-1 all ${group}`), 'the head reaches its workers');
  const all = cluster({ head: `SecurityGroupIds: [${group}]`, worker: `SecurityGroupIds: [${group}]` });
  assert.ok(!(await plan({ text: all })).steps.some(({ what }) => what === 'security group'));
  const card = cluster({ head: `NetworkInterfaces: [{DeviceIndex: 0, Groups: [${group}]}]` });
  assert.equal((await plan({ text: card })).steps.find(({ what }) => what === 'subnets')?.id, vpc.id);
  for (const unknown of [
    'SecurityGroupIds: [sg-0123456789abcdef0]',
    'NetworkInterfaces: [{DeviceIndex: 0, Groups: [sg-0123456789abcdef0]}]',
  ])
    await fails(
      plan({ text: cluster({ head: unknown }) }),
      'MANTA_AWS_NO_GROUP',
      2,
      /head\.node_config\.(?:SecurityGroupIds|NetworkInterfaces\[0\]\.Groups): .*sg-0123456789abcdef0/,
    );
});

test('the group has the rules of the file, and a changed address is added', async (t) => {
  const bed = await preparationBed(t);
  const { up, here, admin, calls } = bed;
  const text = cluster({
    provider:
      'security_group: {GroupName: ours, IpPermissions: [{FromPort: 443, ToPort: 443, IpProtocol: TCP, IpRanges: [{CidrIp: 10.0.0.0/8}]}]}',
  });
  await up({ text });
  const rules = ['tcp 22 203.0.113.7/32', 'tcp 443 10.0.0.0/8'];
  assert.deepEqual(inbound(bed, 'ours').slice(1), rules);
  here.address = '198.51.100.9';
  const before = (await calls()).at(-1)!.number;
  await up({ text });
  assert.deepEqual(inbound(bed, 'ours').slice(1), [...rules, 'tcp 22 198.51.100.9/32']);
  assert.deepEqual(
    (await admin.calls({ since: before })).filter(isChange).map(({ operation }) => operation),
    ['AuthorizeSecurityGroupIngress'],
  );
});

test('where the address cannot be learned, port 22 is open to all, with a warning', async (t) => {
  const bed = await preparationBed(t);
  const { up, plan, here } = bed;
  const asked = { text: cluster(), env: { MANTA_CHECKIP_URL: 'http://127.0.0.1:9' } };
  assert.match((await plan(asked)).warnings.join(), /port 22 is open to 0\.0\.0\.0\/0/);
  await up(asked);
  assert.ok(inbound(bed, 'ray-autoscaler-demo').includes('tcp 22 0.0.0.0/0'));
  here.address = '<html>sign in</html>';
  const { warnings } = await plan({ text: cluster() });
  assert.match(warnings.join(), /public address of this machine is unknown/);
});

test('the rules of a group that somebody else keeps are left alone', async (t) => {
  const { up, plan, ec2, changes } = await preparationBed(t);
  const { GroupId: id = '' } = await ec2.createSecurityGroup({ GroupName: 'company', Description: 'd' });
  await ec2.authorizeSecurityGroupIngress({
    GroupId: id,
    IpProtocol: 'tcp',
    FromPort: 80,
    ToPort: 80,
    CidrIp: '10.0.0.0/8',
  });
  const before = await changes();
  const text = cluster({ provider: 'security_group: {GroupName: company}' });
  const { types } = await up({ text });
  assert.deepEqual(types['head']?.groups, [id]);
  assert.ok(!(await changes()).slice(before.length).includes('AuthorizeSecurityGroupIngress'));
  assert.match((await plan({ text })).warnings.join(), /company was not created by Manta and does not allow SSH/);
});
