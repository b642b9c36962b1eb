// needs: botocore

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { userDataProgram } from '../../../lab/aws/cloud-init.ts';
import { type Aws, labAccount } from '../../../lab/aws/open.ts';
import { mantaTags, rayTags } from '../../../src/core/ray-tags.ts';
import { providerErrors } from '../../../src/providers/errors.ts';
import { never, until } from '../../contract/waiting.ts';
import { imageOf } from '../../lab/aws-bed.ts';
import { ask, clusterText, fastClock, preparedOf, providerOf, region, standInAws, zone } from './aws-bed.ts';

const launches = (aws: Aws) => aws.admin.calls({ call: 'RunInstances' });
const requestOf = (aws: Aws, id: string) => aws.world.facts(aws.cloud.instance(id)!).request;
const ids = (instances: readonly { readonly id: string }[]): string[] => instances.map(({ id }) => id).sort();

test('node_config reaches EC2 whole, with scalars of the type that it wants', async (t) => {
  const aws = await standInAws(t);
  const text = clusterText({
    worker: [
      'EbsOptimized: "true"',
      'Monitoring: {Enabled: true}',
      'MetadataOptions: {HttpTokens: required, HttpPutResponseHopLimit: "3"}',
      'BlockDeviceMappings: [{DeviceName: /dev/sda1, Ebs: {VolumeSize: "100", VolumeType: gp3}}]',
      'InstanceMarketOptions: {MarketType: spot, SpotOptions: {MaxPrice: 0.5}}',
      'MinCount: 3',
      'MaxCount: 7',
    ],
  });
  const [made] = await providerOf(aws, { text }).launch(ask('whole', { market: 'spot' }), never);
  const request = requestOf(aws, made!.id);
  assert.equal(request.EbsOptimized, true);
  assert.equal(request.Monitoring?.Enabled, true);
  assert.equal(request.MetadataOptions?.HttpPutResponseHopLimit, 3);
  assert.equal(request.BlockDeviceMappings?.[0]?.Ebs?.VolumeSize, 100);
  assert.equal(request.InstanceMarketOptions?.SpotOptions?.MaxPrice, '0.5');
  assert.deepEqual([request.MinCount, request.MaxCount], [1, 1]);
  assert.equal(request.InstanceInitiatedShutdownBehavior, 'terminate');
});

test('what was prepared fills in what the file leaves out, and nothing else', async (t) => {
  const aws = await standInAws(t);
  const prepared = (given: Aws) => preparedOf(given);
  const [made] = await providerOf(aws, { prepared }).launch(ask('bare'), never);
  const data = preparedOf(aws);
  const request = requestOf(aws, made!.id);
  assert.equal(request.ImageId, data.types['worker']!.image);
  assert.equal(request.SubnetId, data.types['worker']!.subnets!.find((each) => each.zone === zone)!.id);
  assert.deepEqual(request.SecurityGroupIds, data.types['worker']!.groups);
  const own = aws.world.addGroup({
    ...{ account: labAccount, region, createdAt: 0, tags: {}, name: 'own', description: '' },
    network: aws.world.vpcs.of(labAccount, region)[0]!.id,
  });
  const other = aws.world.addImage({ account: labAccount, region });
  const both = clusterText({ worker: [`ImageId: ${other.id}`, `SecurityGroupIds: [${own.id}]`] });
  const [second] = await providerOf(aws, { text: both }).launch(ask('own'), never);
  assert.equal(requestOf(aws, second!.id).ImageId, other.id);
  assert.deepEqual(requestOf(aws, second!.id).SecurityGroupIds, [own.id]);
  for (const none of ['latest_dlami', 'LATEST_DLAMI', '""', 'null']) {
    const text = clusterText({ worker: [`ImageId: ${none}`, 'SecurityGroupIds: []'] });
    const [third] = await providerOf(aws, { text }).launch(ask(none), never);
    assert.equal(requestOf(aws, third!.id).ImageId, imageOf(aws), none);
    assert.deepEqual(requestOf(aws, third!.id).SecurityGroupIds, data.types['worker']!.groups);
  }
});

test('a type that was not prepared is refused with what to do', async (t) => {
  const aws = await standInAws(t);
  const without = providerOf(aws, { client: { prepared: () => undefined } });
  await assert.rejects(without.launch(ask('none'), never), /run `manta up`/);
  await assert.rejects(providerOf(aws).launch(ask('none', { type: 'other' }), never), {
    code: providerErrors.Denied.code,
  });
  assert.deepEqual(await launches(aws), []);
});

test('everything that a launch makes carries the tags of the cluster and those of the file', async (t) => {
  const aws = await standInAws(t);
  const text = clusterText({
    worker: [
      'TagSpecifications:',
      '- ResourceType: instance',
      '  Tags: [{Key: team, Value: vision}, {Key: ray-cluster-name, Value: not-mine}, {Key: cost, Value: 7}]',
      '- ResourceType: volume',
      '  Tags: [{Key: backup, Value: "no"}]',
    ],
  });
  const provider = providerOf(aws, { text });
  const tags = { purpose: 'test', 'manta-launch-hash': 'a1b2' };
  const [made] = await provider.launch(ask('tags', { market: 'spot', tags }), never);
  assert.deepEqual(made?.tags, {
    team: 'vision',
    cost: '7',
    ...tags,
    'ray-cluster-name': 'bed',
    'ray-launch-request': 'tags',
    'ray-node-name': 'ray-bed-worker',
    'ray-node-type': 'worker',
    'ray-user-node-type': 'worker',
    'manta-cluster-id': 'c-1',
  });
  assert.equal(aws.cloud.instance(made.id)!.now.tags['Name'], 'ray-bed-worker');
  const own = { 'ray-cluster-name': 'bed', 'manta-cluster-id': 'c-1', Name: 'ray-bed-worker' };
  const [disk] = aws.cloud.has.disks.of(labAccount);
  assert.deepEqual(disk?.tags, { ...own, backup: 'no' });
  assert.deepEqual(aws.world.facts(aws.cloud.instance(made.id)!).interface.tags, own);
  const there = clusterText({
    worker: ['NetworkInterfaces: [{DeviceIndex: 0, NetworkInterfaceId: eni-0123456789abcdef0}]'],
  });
  const prepared = (given: Aws) => {
    const { subnets: _s, groups: _g, ...type } = preparedOf(given).types['worker']!;
    return preparedOf(given, { types: { worker: type } });
  };
  const [placed] = await providerOf(aws, { text: there, prepared }).launch(ask('card'), never);
  assert.deepEqual(
    requestOf(aws, placed!.id).TagSpecifications?.map(({ ResourceType: kind }) => kind),
    ['instance', 'volume'],
    'EC2 refuses tags for an interface that is there already',
  );
  assert.deepEqual(aws.world.spotRequests.of(labAccount)[0]?.tags, own);
});

test('first boot runs what the file says, then lets in the key of the head, then runs the program of workers', async (t) => {
  const aws = await standInAws(t);
  const client = { bootProgram: () => 'echo watchdog\n' };
  const script = clusterText({ worker: ['UserData: "#!/bin/bash\\necho from the file\\n"'] });
  const [made] = await providerOf(aws, { text: script, client }).launch(ask('script'), never);
  const parts = (id: string): readonly string[] =>
    [...userDataProgram(requestOf(aws, id).UserData)!.matchAll(/^script_part \d+ (\S+)$/gm)].map(([, data = '']) =>
      Buffer.from(data, 'base64').toString(),
    );
  const [first = '', second = '', third = ''] = parts(made!.id);
  assert.equal(first, '#!/bin/bash\necho from the file\n\n');
  assert.match(second, /^#!\/bin\/sh\nlogin_user=ubuntu\nlogin_key='ssh-ed25519 AAAA head'\n/);
  assert.match(third, /^#!\/bin\/sh\necho watchdog\n/);
  const [head] = await providerOf(aws, { client }).launch(
    ask('head', { type: 'head', tags: { [rayTags.kind]: 'head' } }),
    never,
  );
  assert.equal(parts(head!.id).length, 1, 'the head has no watchdog');
  const [template] = await providerOf(aws, {
    client,
    prepared: (given) => preparedOf(given, {}, { templateUserData: '#cloud-config\npackages: [jq]\n' }),
  }).launch(ask('template'), never);
  assert.match(userDataProgram(requestOf(aws, template!.id).UserData)!, /^other_part 1 text\/cloud-config$/m);
  const big = clusterText({ worker: [`UserData: "#!/bin/sh\\n# ${'comment '.repeat(3000)}\\necho big\\n"`] });
  const [large] = await providerOf(aws, { text: big, client }).launch(ask('large'), never);
  assert.match(parts(large!.id)[0] ?? '', /echo big/);
});

test('250 instances are three calls, each with a token of its own, and the same again makes nothing', async (t) => {
  const aws = await standInAws(t);
  const provider = providerOf(aws);
  const made = await provider.launch(ask('many', { count: 250 }), never);
  assert.equal(new Set(ids(made)).size, 250);
  const calls = await launches(aws);
  assert.deepEqual(calls.map(({ asked }) => String(asked?.count)).sort(), ['100', '100', '50']);
  assert.equal(new Set(calls.map(({ asked }) => asked?.token)).size, 3);
  assert.ok(calls.every(({ asked }) => asked?.token?.length === 64));
  assert.deepEqual(ids(await providerOf(aws).launch(ask('many', { count: 250 }), never)), ids(made));
  assert.equal((await provider.list(never)).length, 250);
});

test('of several calls those that are refused only make the set smaller, and a lost answer is asked for again', async (t) => {
  const aws = await standInAws(t, { settings: { capacity: [{ limit: 120 }] } });
  const provider = providerOf(aws);
  const made = await provider.launch(ask('some', { count: 250 }), never);
  assert.equal(made.length, 120);
  await aws.admin.set({ capacity: [] });
  aws.cloud.faults.add({ fault: 'lost-answer', call: 'RunInstances', skip: 1, times: 1 });
  const request = ask('lost', { count: 150 });
  await assert.rejects(provider.launch(request, never), { code: providerErrors.Unreachable.code });
  assert.equal((await provider.launch(request, never)).length, 150);
  assert.equal((await provider.list(never)).length, 270);
});

test('a launch that is asked for again after the file has changed gives what it gave', async (t) => {
  const aws = await standInAws(t);
  const made = await providerOf(aws).launch(ask('again', { count: 2 }), never);
  const text = clusterText({ worker: ['EbsOptimized: true'] });
  const changed = providerOf(aws, { text });
  assert.deepEqual(ids(await changed.launch(ask('again', { count: 2 }), never)), ids(made));
  await changed.terminate([made[0]!.id], never);
  assert.deepEqual(ids(await providerOf(aws).launch(ask('again', { count: 2 }), never)), [made[1]!.id]);
  assert.equal(aws.cloud.truth().length, 2);
});

test('a launch without a zone stays where it was made, although another subnet is first by now', async (t) => {
  const aws = await standInAws(t);
  const request = ask('anywhere', { zone: undefined } as never);
  const [made] = await providerOf(aws).launch(request, never);
  const reversed = (given: Aws) => {
    const data = preparedOf(given);
    return preparedOf(given, {}, { subnets: data.types['worker']!.subnets!.toReversed() });
  };
  const [again] = await providerOf(aws, { prepared: reversed }).launch(request, never);
  assert.equal(again?.id, made?.id);
  assert.equal(aws.cloud.truth().length, 1);
});

test('a role, a group and a key that were just made are waited for', async (t) => {
  const aws = await standInAws(t, { settings: { role_lag_s: 3600 } });
  const role = { id: 'AROA1', account: labAccount, createdAt: aws.world.now(), tags: {}, path: '/', name: 'bed' };
  aws.cloud.has.roles.add({ ...role, trust: '{}', attached: [], own: new Map() });
  aws.cloud.has.profiles.add({ ...role, id: 'AIPA1', role: 'bed' });
  const key = aws.cloud.has.keys.add({
    ...{ id: 'key-1', account: labAccount, region, createdAt: 0, tags: {}, name: 'bed' },
    ...{ kind: 'ed25519', publicKey: 'ssh-ed25519 AAAA', fingerprint: '' },
  });
  aws.world.network(labAccount, region);
  const [group] = aws.cloud.has.groups.of(labAccount, region);
  const prepared = (given: Aws) =>
    preparedOf(given, { profileMadeAt: 1, headProfile: { Name: 'bed' } }, { keyName: key.name });
  const head = ask('head', { type: 'head', tags: { [rayTags.kind]: 'head' } });
  const launching = providerOf(aws, { prepared }).launch(head, never);
  await until('the role was not known', async () => (await launches(aws)).length > 0);
  aws.cloud.settings = { ...aws.cloud.settings, role_lag_s: 0 };
  const [launched] = await launching;
  assert.equal(requestOf(aws, launched!.id).IamInstanceProfile?.Name, 'bed');
  assert.ok((await launches(aws)).length > 1);
  for (const code of ['InvalidGroup.NotFound', 'InvalidKeyPair.NotFound']) {
    aws.cloud.faults.add({ fault: 'refuse', call: 'RunInstances', code, message: 'not yet', times: 2 });
    assert.equal((await providerOf(aws, { prepared }).launch(ask(code), never)).length, 1);
    aws.cloud.faults.add({ fault: 'refuse', call: 'RunInstances', code, message: 'not there', times: 1 });
    const others = clusterText({ worker: [`SecurityGroupIds: [${group!.id}]`, `KeyName: ${key.name}`] });
    const named = (given: Aws) => preparedOf(given, {}, { groups: undefined });
    const provider = providerOf(aws, { text: others, prepared: named });
    await assert.rejects(provider.launch(ask(`${code} of others`), never), /not there/);
  }
  aws.cloud.faults.add({ fault: 'refuse', call: 'RunInstances', code: 'InvalidGroup.NotFound', message: 'never' });
  await assert.rejects(providerOf(aws, { prepared, clock: fastClock }).launch(ask('never'), never), {
    code: providerErrors.Denied.code,
  });
});

test('an ARN that is written as a name is an ARN', async (t) => {
  const aws = await standInAws(t);
  const role = { id: 'AROA1', account: labAccount, createdAt: 0, tags: {}, path: '/', name: 'own' };
  aws.cloud.has.roles.add({ ...role, trust: '{}', attached: [], own: new Map() });
  aws.cloud.has.profiles.add({ ...role, id: 'AIPA1', role: 'own' });
  const arn = `arn:aws:iam::${labAccount}:instance-profile/own`;
  const text = clusterText({ worker: [`IamInstanceProfile: {Name: "${arn}"}`] });
  const [made] = await providerOf(aws, { text }).launch(ask('arn'), never);
  assert.deepEqual(requestOf(aws, made!.id).IamInstanceProfile, { Arn: arn });
});

test('the market that is asked for counts, whatever market the file names', async (t) => {
  const aws = await standInAws(t);
  const reservation = aws.world.addReservation({ account: labAccount, type: 'm5.large', zone, total: 1 });
  const block = aws.world.addReservation({ account: labAccount, type: 'm5.large', zone, total: 2, block: true });
  const target = (id: string): string =>
    `CapacityReservationSpecification: {CapacityReservationTarget: {CapacityReservationId: ${id}}}`;
  const market = async (text: string, wanted: 'on-demand' | 'spot' | 'reserved', token: string) => {
    const provider = providerOf(aws, { text });
    const [made] = await provider.launch(ask(token, { market: wanted }), never);
    return (await provider.list(never)).find(({ id }) => id === made?.id)?.market;
  };
  const spot = clusterText({ worker: ['InstanceMarketOptions: {MarketType: spot}'] });
  assert.equal(await market(spot, 'spot', 's'), 'spot');
  assert.equal(await market(spot, 'on-demand', 'o'), 'on-demand');
  assert.equal(await market(clusterText(), 'spot', 's2'), 'spot');
  const reserved = clusterText({ worker: [target(reservation.id)] });
  assert.equal(await market(reserved, 'reserved', 'r'), 'reserved');
  await assert.rejects(market(reserved, 'reserved', 'r2'), { code: providerErrors.NoCapacity.code });
  const blocked = clusterText({ worker: ['InstanceMarketOptions: {MarketType: capacity-block}', target(block.id)] });
  assert.equal(await market(blocked, 'on-demand', 'b'), 'reserved');
});

test('stopped workers of the same type and configuration are started before others are made', async (t) => {
  const aws = await standInAws(t);
  const text = clusterText({ provider: ['cache_stopped_nodes: true'] });
  const provider = providerOf(aws, { text });
  const tags = { [mantaTags.launchHash]: 'a1b2' };
  const made = await provider.launch(ask('first', { count: 2, tags }), never);
  await until('they run', async () => (await provider.list(never)).every(({ state }) => state === 'running'));
  await provider.stop(ids(made), never);
  await until('they are stopped', async () => (await provider.list(never)).every(({ state }) => state === 'stopped'));
  const other = ask('other', { tags: { [mantaTags.launchHash]: 'c3d4' } });
  const [fresh] = await provider.launch(other, never);
  assert.ok(!ids(made).includes(fresh!.id), 'one of another configuration is not taken');
  aws.cloud.faults.add({ fault: 'lost-answer', call: 'StartInstances', times: 1 });
  const request = ask('second', { count: 3, tags });
  await assert.rejects(provider.launch(request, never), { code: providerErrors.Unreachable.code });
  const again = await providerOf(aws, { text }).launch(request, never);
  assert.equal(again.length, 3);
  assert.ok(ids(made).every((id) => ids(again).includes(id)));
  assert.deepEqual(ids(await provider.launch(request, never)), ids(again));
  await until('all carry the new token and run', async () => {
    const now = (await provider.list(never)).filter(({ launchToken }) => launchToken === 'second');
    return now.length === 3 && now.every(({ state }) => state === 'running');
  });
  assert.equal(aws.cloud.truth().length, 4);
});

test('stopped workers for which there is no room stay stopped, and the next launch is refused or made elsewhere', async (t) => {
  const aws = await standInAws(t);
  const text = clusterText({ provider: ['cache_stopped_nodes: true'] });
  const provider = providerOf(aws, { text });
  const [made] = await provider.launch(ask('first'), never);
  await until('it runs', async () => (await provider.list(never))[0]?.state === 'running');
  await provider.stop([made!.id], never);
  await until('it is stopped', async () => (await provider.list(never))[0]?.state === 'stopped');
  await aws.admin.set({ capacity: [{ zone, limit: 0 }] });
  await assert.rejects(provider.launch(ask('full'), never), { code: providerErrors.NoCapacity.code });
  const [left] = await provider.list(never);
  assert.deepEqual([left?.state, left?.launchToken], ['stopped', 'first']);
  const [elsewhere] = await provider.launch(ask('elsewhere', { zone: 'us-west-2b' }), never);
  assert.notEqual(elsewhere?.id, made?.id);
});

test('a stopped worker that cannot be started does not keep others from being made', async (t) => {
  const aws = await standInAws(t);
  const provider = providerOf(aws, { text: clusterText({ provider: ['cache_stopped_nodes: true'] }) });
  const [made] = await provider.launch(ask('first'), never);
  await until('it runs', async () => (await provider.list(never))[0]?.state === 'running');
  await provider.stop([made!.id], never);
  await until('it is stopped', async () => (await provider.list(never))[0]?.state === 'stopped');
  const code = 'UnsupportedOperation';
  aws.cloud.faults.add({ fault: 'refuse', call: 'StartInstances', code, message: 'its disk was detached' });
  const [other, ...more] = await provider.launch(ask('second'), never);
  assert.deepEqual(more, []);
  assert.notEqual(other?.id, made?.id);
  const left = (await provider.list(never)).find(({ id }) => id === made?.id);
  assert.deepEqual([left?.state, left?.launchToken], ['stopped', 'first']);
});
