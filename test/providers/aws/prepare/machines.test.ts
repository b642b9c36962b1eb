// needs: botocore

/** Instance types, images and templates of a cluster file. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { labAccount } from '../../../../lab/aws/open.ts';
import { never } from '../../../contract/waiting.ts';
import { specOf } from '../../../core/spec/cluster-text.ts';
import { ask, providerOf } from '../aws-bed.ts';
import { cluster, fails, isChange, preparationBed } from './prepare-bed.ts';

const region = 'us-west-2';
const dlami = (kind: string): string => `${region}/aws/service/deeplearning/ami/${kind}/latest/ami-id`;
const withTypes = (head: string, worker: string, more = ''): string =>
  cluster({ worker: more })
    .replace('head: {resources: {}, node_config: {InstanceType: m5.large', (text) => text.replace('m5.large', head))
    .replace(/worker: .*/, (text) => text.replace('m5.large', worker));

test('a type with GPUs gets the PyTorch image of its architecture, another the base image', async (t) => {
  const { up, world } = await preparationBed(t);
  const { types } = await up({ text: withTypes('m6g.large', 'g5.12xlarge', 'ImageId: latest_dlami') });
  assert.equal(types['head']?.image, world.parameters.get(dlami('arm64/base-with-single-cuda-ubuntu-24.04')));
  assert.equal(
    types['worker']?.image,
    world.parameters.get(dlami('x86_64/oss-nvidia-driver-gpu-pytorch-2.8-ubuntu-24.04')),
  );
  assert.deepEqual(types['worker']?.resources, {
    CPU: 48,
    memory: Math.floor(192 * 2 ** 30 * 0.7),
    GPU: 4,
    'accelerator_type:A10G': 1,
  });
});

test('an older image stands in for one that a region does not have, and without any it is told', async (t) => {
  const { up, plan, world, changes } = await preparationBed(t);
  world.parameters.delete(dlami('x86_64/base-with-single-cuda-ubuntu-24.04'));
  const { types } = await up({ text: cluster() });
  const second = dlami('x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04');
  assert.equal(types['head']?.image, world.parameters.get(second));
  world.parameters.delete(second);
  const before = (await changes()).length;
  await fails(plan({ text: cluster() }), 'MANTA_AWS_NO_DEFAULT_IMAGE', 2, /us-west-2 .*base-with-single-cuda/);
  await fails(plan({ text: cluster() }), 'MANTA_AWS_NO_DEFAULT_IMAGE', 2, /ImageId/);
  assert.equal((await changes()).length, before);
});

test('an image of another architecture is refused before anything is made', async (t) => {
  const { up, world, calls } = await preparationBed(t);
  const { id } = world.addImage({ account: labAccount, region, architecture: 'arm64' });
  const error = await fails(
    up({ text: cluster({ worker: `ImageId: ${id}` }) }),
    'MANTA_AWS_OTHER_ARCHITECTURE',
    2,
    /arm64.*m5\.large.*x86_64/,
  );
  assert.match(error.message, /available_node_types\.worker\.node_config\.ImageId/);
  assert.deepEqual((await calls()).filter(isChange), []);
});

test('an image that is not there is named, beside others that are', async (t) => {
  const { plan, image } = await preparationBed(t);
  const text = cluster({ head: `ImageId: ${image}`, worker: 'ImageId: ami-0123456789abcdef0' });
  await fails(plan({ text }), 'MANTA_AWS_NO_IMAGE', 2, /worker.*'ami-0123456789abcdef0' in us-west-2/);
  await fails(plan({ text: cluster({ head: 'ImageId: ami-XXXX' }) }), 'MANTA_AWS_NO_IMAGE', 2, /ami-XXXX/);
});

test('an image by its parameter is resolved', async (t) => {
  const { up, image } = await preparationBed(t);
  const parameter = '/aws/service/canonical/ubuntu/server/24.04/stable/current/amd64/hvm/ebs-gp3/ami-id';
  const { types } = await up({ text: cluster({ head: `ImageId: "resolve:ssm:${parameter}"` }) });
  assert.equal(types['head']?.image, image);
});

test('a disk that is not the root is warned of, and a root that is too small is refused', async (t) => {
  const { plan, world } = await preparationBed(t);
  const { id } = world.addImage({ account: labAccount, region, rootDevice: '/dev/xvda', rootGib: 30 });
  const disk = (device: string, size: number): string =>
    `ImageId: ${id}, BlockDeviceMappings: [{DeviceName: ${device}, Ebs: {VolumeSize: ${size}}}]`;
  const { warnings } = await plan({ text: cluster({ head: disk('/dev/sda1', 140) }) });
  assert.match(warnings.join('\n'), /'head': \/dev\/sda1 is not the root disk of ami-\w+, which is \/dev\/xvda/);
  assert.deepEqual((await plan({ text: cluster({ head: disk('/dev/sdf', 500) }) })).warnings, []);
  await fails(plan({ text: cluster({ head: disk('/dev/xvda', 20) }) }), 'MANTA_AWS_SMALL_DISK', 2, /20 GiB.*30 GiB/);
});

test('a type that the region does not offer is refused with those that it does', async (t) => {
  const { plan } = await preparationBed(t);
  const gpus = await fails(plan({ text: withTypes('m5.large', 'p3.8xlarge') }), 'MANTA_AWS_UNKNOWN_TYPE', 2);
  assert.match(gpus.message, /available_node_types\.worker\.node_config\.InstanceType.*us-west-2.*'p3\.8xlarge'/);
  assert.match(gpus.hint!, /g5\.12xlarge/);
  const one = await fails(plan({ text: withTypes('m5.large', 'p2.xlarge') }), 'MANTA_AWS_UNKNOWN_TYPE', 2);
  assert.match(
    one.hint!,
    /such as g4dn\.xlarge, g5\.xlarge, g6\.xlarge/,
    'of NVIDIA, for the same programs, the smallest first',
  );
  const { hint } = await fails(plan({ text: withTypes('m2.large', 'm5.large') }), 'MANTA_AWS_UNKNOWN_TYPE', 2);
  assert.match(hint!, /\bm5\.large/);
  await fails(
    plan({ text: cluster().replace('InstanceType: m5.large', 'EbsOptimized: true') }),
    'MANTA_AWS_BAD_CONFIG',
    2,
  );
});

test('a retired type is prepared where it is still sold', async (t) => {
  const { up } = await preparationBed(t, { retired: true });
  const { types } = await up({ text: withTypes('m5.large', 'p3.8xlarge') });
  assert.equal(types['worker']?.resources['GPU'], 4);
  assert.equal(types['worker'].resources['accelerator_type:V100'], 1);
});

test('a launch template says what the file leaves out, and its user data is kept', async (t) => {
  const { up, plan, ec2, image } = await preparationBed(t);
  const group = await ec2.createSecurityGroup({ GroupName: 'own', Description: 'd' });
  const data = {
    InstanceType: 'c5.xlarge' as const,
    ImageId: image,
    SecurityGroupIds: [group.GroupId!],
    UserData: Buffer.from('#!/bin/sh\necho template\n').toString('base64'),
  };
  await ec2.createLaunchTemplate({ LaunchTemplateName: 'gpus', LaunchTemplateData: data });
  await ec2.createLaunchTemplateVersion({
    LaunchTemplateName: 'gpus',
    LaunchTemplateData: { ...data, InstanceType: 'c5.large' },
  });
  const text = (worker: string): string => cluster().replace('InstanceType: m5.large}}\nhead', `${worker}}}\nhead`);
  const named = (version: string) => text(`LaunchTemplate: {LaunchTemplateName: gpus, Version: ${version}}`);
  const { types } = await up({ text: named('2') });
  assert.equal(types['worker']?.instanceType, 'c5.large');
  assert.equal(types['worker'].image, image);
  assert.equal(types['worker'].groups, undefined);
  assert.equal(types['worker'].templateUserData, '#!/bin/sh\necho template\n');
  const own = await up({
    text: text('InstanceType: m5.xlarge, LaunchTemplate: {LaunchTemplateName: gpus}, UserData: ""'),
  });
  assert.equal(own.types['worker']?.instanceType, 'm5.xlarge');
  assert.equal(own.types['worker'].templateUserData, undefined);
  await fails(plan({ text: named('3') }), 'MANTA_AWS_NO_TEMPLATE', 2, /'gpus' with version 3/);
  const id = text('LaunchTemplate: {LaunchTemplateId: lt-0123456789abcdef0}');
  await fails(plan({ text: id }), 'MANTA_AWS_NO_TEMPLATE', 2, /worker.*lt-0123456789abcdef0/);
});

test('user data that a template keeps compressed is read', async (t) => {
  const { up, ec2, image } = await preparationBed(t);
  const text = '#!/bin/sh\necho template\n';
  const LaunchTemplateData = { ImageId: image, UserData: gzipSync(text).toString('base64') };
  await ec2.createLaunchTemplate({ LaunchTemplateName: 'packed', LaunchTemplateData });
  const { types } = await up({ text: cluster({ worker: 'LaunchTemplate: {LaunchTemplateName: packed}' }) });
  assert.equal(types['worker']?.templateUserData, text);
});

test('a template without an image is launched with the one that was chosen for it', async (t) => {
  const bed = await preparationBed(t);
  await bed.ec2.createLaunchTemplate({ LaunchTemplateName: 'bare', LaunchTemplateData: { EbsOptimized: true } });
  const text = cluster({ worker: 'LaunchTemplate: {LaunchTemplateName: bare}' });
  const prepared = await bed.up({ text });
  const [made] = await providerOf(bed, { text, prepared: () => prepared }).launch(ask('bare'), never);
  assert.equal((await bed.describe({ InstanceIds: [made!.id] }))[0]?.ImageId, prepared.types['worker']?.image);
});

test('a file of earlier years may launch its head otherwise than its type says', async (t) => {
  const { up } = await preparationBed(t);
  const spec = specOf(cluster());
  const { head, types } = await up({
    spec: { ...spec, head: { ...spec.head, launchConfig: { InstanceType: 'r5.large' } } },
  });
  assert.equal(head?.instanceType, 'r5.large');
  assert.equal(types['head']?.instanceType, 'm5.large');
});

test('what no look at AWS tells is warned of', async (t) => {
  const { plan } = await preparationBed(t);
  const { warnings } = await plan({
    text: cluster({
      provider: 'cloudwatch: {agent: {config: x.json}}',
    }),
  });
  const all = warnings.join('\n');
  assert.match(all, /cloudwatch has no effect/);
});

test('a number that is too long for a number is a text where AWS wants one', async (t) => {
  const bed = await preparationBed(t);
  const tags = 'TagSpecifications: [{ResourceType: instance, Tags: [{Key: build, Value: 100000000000000000000}]}]';
  const text = cluster({ worker: tags });
  const prepared = await bed.up({ text });
  const [made] = await providerOf(bed, { text, prepared: () => prepared }).launch(ask('long'), never);
  assert.equal(made?.tags['build'], '100000000000000000000');
});

test('more tags than AWS takes beside those of the cluster are refused before anything is made', async (t) => {
  const { up, plan, changes } = await preparationBed(t);
  const tagged = (count: number): string => {
    const tags = Array.from({ length: count }, (_, index) => `{Key: k${index}, Value: v}`);
    return cluster({ worker: `TagSpecifications: [{ResourceType: instance, Tags: [${tags.join(', ')}]}]` });
  };
  await fails(
    plan({ text: tagged(39) }),
    'MANTA_AWS_BAD_CONFIG',
    2,
    /worker.*TagSpecifications has 39 tags.*at most 38/s,
  );
  await fails(up({ text: tagged(39) }), 'MANTA_AWS_BAD_CONFIG', 2);
  assert.deepEqual(await changes(), []);
  await up({ text: tagged(38) });
});
