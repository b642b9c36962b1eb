// needs: botocore

/** Every real cluster file for AWS is planned without one changing call, or refused for a reason that is listed here. */
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { awsTypes } from '../../../lab/aws/catalog.ts';
import { labAccount } from '../../../lab/aws/open.ts';
import type { MantaError } from '../../../src/base/errors.ts';
import { outdatedStart } from '../../../src/core/spec/check/outdated-start.ts';
import type { ClusterSpec, Plain, PlainMap } from '../../../src/core/spec/cluster.ts';
import { isText, mapOf } from '../../../src/core/spec/plain.ts';
import { corpus, noCorpus, open } from '../../core/spec/cluster-text.ts';
import { isChange, preparationBed } from './prepare/prepare-bed.ts';

type Bed = Awaited<ReturnType<typeof preparationBed>>;

const files = (corpus() ?? []).filter(({ name }) => name.startsWith('aws__'));
const skip = files.length === 0 ? noCorpus : false;

const listOf = (value: Plain | undefined): readonly Plain[] =>
  Array.isArray(value) ? (value as readonly Plain[]) : [];
const configsOf = (spec: ClusterSpec): readonly PlainMap[] => [
  spec.head.launchConfig,
  ...spec.nodeTypes.map(({ launchConfig }) => launchConfig),
];

/** Makes what the file says that its account has: images, networks, groups, keys, profiles, templates. */
function furnish({ world, cloud }: Bed, spec: ClusterSpec): void {
  const region = String(spec.provider.config.region);
  world.network(labAccount, region);
  const vpc = world.vpcs.of(labAccount, region).find(({ isDefault }) => isDefault);
  const base = { account: labAccount, region, createdAt: 0, tags: {} };
  const zones = String(spec.provider.config.availability_zone ?? `${region}a`).split(',');
  if (vpc === undefined) return;
  for (const config of configsOf(spec)) {
    const { ImageId: image, KeyName: key, IamInstanceProfile: profile, InstanceType: type } = config;
    const architecture = awsTypes.get(String(type))?.architecture ?? 'x86_64';
    // The same id again, in another region, is a mistake of one of the two files; which one cannot be told.
    if (isText(image) && /^ami-[0-9a-f]{8,17}$/.test(image))
      world.addImage({ account: labAccount, region, id: image, architecture });
    if (isText(key) && !cloud.has.keys.of(labAccount, region).some(({ name }) => name === key))
      cloud.has.keys.add({ ...base, id: world.newId('key'), name: key, kind: 'rsa', publicKey: '', fingerprint: '' });
    const cards = listOf(config.NetworkInterfaces).map((card) => mapOf(card));
    const subnets = [config.SubnetId ?? [], config.SubnetIds ?? [], ...cards.map(({ SubnetId: id = [] }) => id)].flat();
    for (const id of subnets.filter(isText))
      if (!world.subnets.all().some((subnet) => subnet.id === id))
        world.addSubnet(vpc, { id, zone: String(mapOf(config.Placement).AvailabilityZone ?? zones[0]!.trim()) });
    const groups = [config.SecurityGroupIds ?? [], ...cards.map(({ Groups = [] }) => Groups)].flat();
    for (const id of groups.filter(isText))
      if (!cloud.has.groups.all().some((group) => group.id === id))
        cloud.has.groups.add({ ...base, id, name: id, description: '', network: vpc.id, rules: [] });
    const { Arn: arn, Name: given } = mapOf(profile);
    const name = [arn, given].filter(isText).map((each) => each.slice(each.lastIndexOf('/') + 1))[0];
    if (name !== undefined && world.profile(labAccount, name) === undefined)
      cloud.has.profiles.add({ ...base, id: world.newId('AIPA'), name, path: '/', role: undefined });
    const template = mapOf(config.LaunchTemplate);
    if ('LaunchTemplate' in config) addTemplate(world, base, template);
  }
}

interface Base {
  readonly account: string;
  readonly region: string;
  readonly createdAt: number;
  readonly tags: Readonly<Record<string, string>>;
}

function addTemplate(world: Bed['world'], base: Base, given: PlainMap): void {
  const {
    LaunchTemplateId: id = world.newId('lt'),
    LaunchTemplateName: name = 'template',
    Version: version = 1,
  } = given;
  const number = Number(version) || 1;
  const data = { InstanceType: 'm5.large' as const };
  const versions = Array.from({ length: number }, (_, index) => ({ VersionNumber: index + 1, data }));
  world.templates.add({ ...base, id: String(id), name: String(name), versions, defaultVersion: number });
}

/** Why a file may be refused, by code and words: it was never finished, or what it names does not exist. */
const allowed: readonly (readonly [code: string, words: RegExp, why: string])[] = [
  ['MANTA_AWS_ZONE_OUTSIDE', /'us-west2d'|'us-east-2d'/, 'a zone that does not exist'],
  ['MANTA_AWS_BAD_CONFIG', /InstanceType is missing/, 'no instance type'],
  ['MANTA_AWS_BAD_CONFIG', /ImageId must be the id of an image/, 'a placeholder for the image'],
  ['MANTA_AWS_NO_PRIVATE_KEY', /ssh_private_key does not say/, 'a key pair without its private key'],
  ['MANTA_AWS_NO_TEMPLATE', /lt-0{17},|ExampleLaunchTemplate,/, 'a placeholder for the template'],
  ['MANTA_AWS_NO_PROFILE', /'<YOUR_IAM_INSTANCE_PROFILE>'/, 'a placeholder for the profile'],
];

/** The file with a private key that is here, where it names one. */
function withKey(spec: ClusterSpec, key: string): ClusterSpec {
  return spec.auth.privateKey === undefined ? spec : { ...spec, auth: { ...spec.auth, privateKey: key } };
}

const count = (counts: Map<string, number>, what: string): unknown => counts.set(what, (counts.get(what) ?? 0) + 1);

test('every real file is planned without a change, or refused for a reason that is listed', { skip }, async (t) => {
  const bed = await preparationBed(t, { retired: true });
  const key = join(mkdtempSync(join(tmpdir(), 'manta-test-')), 'key.pem');
  writeFileSync(key, '');
  const [refused, others] = [new Map<string, number>(), new Array<string>()];
  let [planned, outdated] = [0, 0];
  for (const { name, bytes } of files) {
    const { spec, source } = open(bytes.toString());
    // What is wrong in the file itself is the matter of `manta config check`.
    if (spec === undefined || source === undefined) {
      count(refused, 'does not resolve');
      continue;
    }
    furnish(bed, spec);
    try {
      const { steps } = await bed.plan({ spec: withKey(spec, key) });
      assert.ok(steps.length > 4, name);
      if (outdatedStart(source.value) !== undefined) outdated++;
      planned++;
    } catch (error) {
      const { code, message } = error as MantaError;
      const reason = allowed.find(([each, words]) => each === code && words.test(message));
      if (reason === undefined) others.push(`${name}: ${code} ${message}`);
      else count(refused, reason[2]);
    }
  }
  assert.deepEqual(others, []);
  assert.deepEqual((await bed.calls()).filter(isChange), []);
  t.diagnostic(`planned: ${planned} of ${files.length} files, ${outdated} of them with a Ray that cannot start`);
  for (const [why, number] of refused) t.diagnostic(`refused, ${why}: ${number}`);
  assert.ok(planned >= 285, String(planned));
});
