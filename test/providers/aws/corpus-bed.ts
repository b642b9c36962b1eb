// needs: botocore

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { awsCatalog, awsTypes } from '../../../lab/aws/catalog.ts';
import { type Aws, labAccount } from '../../../lab/aws/open.ts';
import { messageOf } from '../../../src/base/errors.ts';
import { wallClock } from '../../../src/base/time/wall-clock.ts';
import { main } from '../../../src/cli/main.ts';
import { rayTags } from '../../../src/core/ray-tags.ts';
import type { ClusterSpec, Plain, PlainMap } from '../../../src/core/spec/cluster.ts';
import { isText, mapOf } from '../../../src/core/spec/plain.ts';
import { headOffers } from '../../../src/launcher/head/head-launch.ts';
import type { CloudPlan } from '../../../src/launcher/up/cloud-plan.ts';
import { completeFromPrepared } from '../../../src/providers/aws/complete.ts';
import { prepare } from '../../../src/providers/aws/prepare/prepare.ts';
import { readPrepared } from '../../../src/providers/aws/prepared.ts';
import { AwsProvider } from '../../../src/providers/aws/provider.ts';
import type { CloudClient } from '../../../src/providers/clouds.ts';
import { screen } from '../../cli/screen.ts';
import { type CorpusFile, open } from '../../core/spec/cluster-text.ts';
import { standInAws } from './aws-bed.ts';
import { isChange } from './prepare/prepare-bed.ts';

const listOf = (value: Plain | undefined): readonly Plain[] =>
  Array.isArray(value) ? (value as readonly Plain[]) : [];
export const configsOf = (spec: ClusterSpec): readonly PlainMap[] => [
  spec.head.launchConfig,
  ...spec.nodeTypes.map(({ launchConfig }) => launchConfig),
];

/** What may be the id of an image. */
const imageId = /^ami-[0-9a-f]{8,17}$/;

/** Makes what the file says that its account has: images, networks, groups, keys, profiles, templates. */
function furnish({ world, cloud }: Aws, spec: ClusterSpec): void {
  const region = String(spec.provider.config.region);
  world.network(labAccount, region);
  const vpc = world.vpcs.of(labAccount, region).find(({ isDefault }) => isDefault);
  const base = { account: labAccount, region, createdAt: 0, tags: {} };
  const zones = String(spec.provider.config.availability_zone ?? `${region}a`).split(',');
  if (vpc === undefined) return;
  for (const config of configsOf(spec)) {
    const { ImageId: image, KeyName: key, IamInstanceProfile: profile, InstanceType: type } = config;
    const architecture = awsTypes().get(String(type))?.architecture ?? 'x86_64';
    // The same id again, in another region, is a mistake of one of the two files; which one cannot be told.
    if (isText(image) && imageId.test(image)) world.addImage({ account: labAccount, region, id: image, architecture });
    if (isText(key) && !cloud.has.keys.of(labAccount, region).some(({ name }) => name === key))
      cloud.has.keys.add({ ...base, id: world.newId('key'), name: key, kind: 'rsa', publicKey: '', fingerprint: '' });
    const cards = listOf(config.NetworkInterfaces).map((card) => mapOf(card));
    const subnets = [config.SubnetId ?? [], config.SubnetIds ?? [], ...cards.map(({ SubnetId: id = [] }) => id)].flat();
    for (const id of subnets.filter(isText)) {
      world.subnets.delete(id);
      world.addSubnet(vpc, { id, zone: String(mapOf(config.Placement).AvailabilityZone ?? zones[0]!.trim()) });
    }
    const groups = [config.SecurityGroupIds ?? [], ...cards.map(({ Groups = [] }) => Groups)].flat();
    for (const id of groups.filter(isText)) {
      cloud.has.groups.delete(id);
      cloud.has.groups.add({ ...base, id, name: id, description: '', network: vpc.id, rules: [] });
    }
    const { Arn: arn, Name: given } = mapOf(profile);
    const name = [arn, given].filter(isText).map((each) => each.slice(each.lastIndexOf('/') + 1))[0];
    if (name !== undefined && world.profile(labAccount, name) === undefined) addProfile(cloud, base, name);
    const template = mapOf(config.LaunchTemplate);
    if ('LaunchTemplate' in config) addTemplate(world, base, template);
  }
}

/** A profile, with its role of the same name. */
function addProfile({ has }: Aws['cloud'], base: Base, name: string): void {
  const named = { ...base, name, path: '/' };
  has.profiles.add({ ...named, id: `AIPA${name}`, role: name });
  has.roles.add({ ...named, id: `AROA${name}`, trust: '', description: '', attached: [], own: new Map() });
}

interface Base {
  readonly account: string;
  readonly region: string;
  readonly createdAt: number;
  readonly tags: Readonly<Record<string, string>>;
}

function addTemplate(world: Aws['world'], base: Base, given: PlainMap): void {
  const {
    LaunchTemplateId: id = world.newId('lt'),
    LaunchTemplateName: name = 'template',
    Version: version = 1,
  } = given;
  const number = Number(version) || 1;
  const data = { InstanceType: 'm5.large' as const };
  const versions = Array.from({ length: number }, (_, index) => ({ VersionNumber: index + 1, data }));
  world.templates.delete(String(id));
  world.templates.add({ ...base, id: String(id), name: String(name), versions, defaultVersion: number });
}

/** `manta up --plan` of a text. */
export interface Ran {
  readonly text: string;
  readonly exit: number;
  readonly plan?: CloudPlan;
  readonly code?: string;
  readonly message: string;
}

/** AWS that has what every file says that its account has, and a laptop that has their private keys. */
export async function corpusBed(t: TestContext) {
  const aws = await standInAws(t, { retired: true });
  const home = mkdtempSync(join(tmpdir(), 'manta-corpus-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const key = join(home, 'key.pem');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  const env = { ...aws.environment(), MANTA_HOME: join(home, 'state'), MANTA_CHECKIP_URL: 'http://127.0.0.1:9' };
  const file = join(home, 'cluster.yaml');

  const plan = async (given: string): Promise<Ran> => {
    const { spec } = open(given);
    const text = spec?.auth.privateKey === undefined ? given : given.replaceAll(spec.auth.privateKey, key);
    if (spec !== undefined) furnish(aws, spec);
    writeFileSync(file, text);
    const on = screen({ env });
    const exit = await main(['up', '--plan', '--json', file], on);
    if (exit === 0)
      return {
        text,
        exit,
        plan: (JSON.parse(on.shown.stdout) as { plan: { cloud: CloudPlan } }).plan.cloud,
        message: '',
      };
    const message = on.shown.stderr;
    const code = /MANTA_[A-Z_]+/.exec(message.slice(message.lastIndexOf('MANTA_')))?.[0];
    return { text, exit, message, ...(code !== undefined && { code }) };
  };

  /** Prepares a cluster and launches its head and a worker of each type. Returns what was refused. */
  const launchAll = async (text: string): Promise<readonly string[]> => {
    const given = open(text).spec!;
    const spec = given.auth.privateKey === undefined ? given : { ...given, auth: { ...given.auth, privateKey: key } };
    furnish(aws, spec);
    const clusterId = aws.world.newId('c');
    const client: CloudClient = {
      ...{ cluster: spec.name, clusterId, spec: () => spec, identity: () => ({ kind: 'user' as const, env }) },
      login: () => ({ user: 'ubuntu', publicKey: readFileSync(`${key}.pub`, 'utf8') }),
      bootProgram: () => '#!/bin/sh\necho watchdog\n',
    };
    const signal = AbortSignal.timeout(60_000);
    const made = await prepare({ ...client, clock: wallClock, events: { emit: () => {} } }, signal);
    const prepared = readPrepared(JSON.parse(JSON.stringify(made)))!;
    const provider = new AwsProvider({ ...client, prepared: () => prepared });
    const full = completeFromPrepared(spec, prepared);
    const asked = [
      { kind: 'head', type: full.headType, offers: headOffers(full) },
      ...full.nodeTypes.map(({ name: type, offers }) => ({ kind: 'worker', type, offers })),
    ];
    const refused: string[] = [];
    for (const { kind, type, offers } of asked) {
      const [offer = { market: 'on-demand' as const }] = offers;
      const request = { token: `${kind} ${type}`, type, count: 1, ...offer, tags: { [rayTags.kind]: kind } };
      const got = await provider.launch(request, signal).catch((error: Error) => error);
      if (got instanceof Error || got.length !== 1) refused.push(`${kind} ${type}: ${messageOf(got)}`);
    }
    return refused;
  };
  const changes = async () => (await aws.admin.calls()).filter(isChange);
  return { plan, launchAll, changes };
}

/** A plan that says what will be there: what is found or made, which machines, and what they cost. */
export function checkPlan(name: string, { text, plan }: Ran): void {
  const { spec } = open(text);
  assert.ok(plan && spec, name);
  assert.ok(plan.steps.length > 4, name);
  assert.equal(plan.head.machine, machineIn(spec.head.launchConfig), name);
  const priced = [...plan.head.offers, ...plan.workers.map(({ offer }) => offer)];
  if (!String(spec.provider.config.region).startsWith('cn-'))
    assert.ok(priced.length > 0 && priced.every(({ pricePerHour }) => Number(pricePerHour) >= 0), `${name}: a price`);
  for (const { type, machine } of plan.workers)
    assert.equal(machine, machineIn(spec.nodeTypes.find((each) => each.name === type)!.launchConfig), name);
}

const machineIn = ({ InstanceType: type }: PlainMap): string | undefined => (isText(type) ? type : undefined);

const names = {
  profile: /^[\w+=,.@-]{1,128}$/,
  template: /^[a-zA-Z0-9().\-/_]{3,128}$/,
};

/** What is wrong with a file where it can be told without asking AWS: it was never finished, or nothing takes it. */
const wrongInFile: ReadonlyMap<string, string> = new Map([
  ['YAML_SYNTAX', 'it is not YAML'],
  ['TEMPLATE', 'a template that was not rendered'],
  ['PLACEHOLDER', 'a placeholder'],
  ['AWS_UNKNOWN_MEMBER', 'a field that RunInstances does not have'],
  ['AWS_MEMBER_TYPE', 'a value that RunInstances does not take'],
  ['AWS_MISSING_MEMBER', 'a field that RunInstances needs'],
]);

/** Why a file may be refused, or undefined where it should not have been. */
export function reasonOf({ ray }: CorpusFile, { text, code, message, exit }: Ran): string | undefined {
  const { spec, problems } = open(text);
  const errors = problems
    .filter(({ severity }) => severity === 'error')
    .map((each) => each.code.slice('MANTA_SPEC_'.length));
  const wrong = errors.flatMap((each) => wrongInFile.get(each) ?? [])[0];
  if (code?.startsWith('MANTA_SPEC_REFUSED'))
    return wrong ?? (ray.startsWith('ACCEPT') ? undefined : 'Ray refuses it, too');
  if (spec === undefined || exit !== 2) return undefined;
  const configs = configsOf(spec);
  const region = String(spec.provider.config.region);
  const named = /'([^']*)'/.exec(message.slice(message.indexOf('error:')))?.[1] ?? '';
  switch (code) {
    case 'MANTA_HEAD_CLUSTER_NAME':
      return /[$<{]/.test(spec.name) ? 'a placeholder for the name' : 'a name that is not a name for a folder';
    case 'MANTA_AWS_ZONE_OUTSIDE':
      return awsCatalog().regions[region]?.includes(named) ? undefined : 'a zone that the region does not have';
    case 'MANTA_AWS_BAD_CONFIG':
      return configs.some((config) => !isText(config.InstanceType)) ? 'no instance type' : undefined;
    case 'MANTA_AWS_UNKNOWN_TYPE':
      return awsTypes().has(named) ? undefined : 'a type that AWS never had';
    case 'MANTA_AWS_NO_IMAGE':
      return imageId.test(named) ? undefined : 'a placeholder for the image';
    case 'MANTA_AWS_NO_PRIVATE_KEY':
      return spec.auth.privateKey === undefined ? 'a key pair without its private key' : undefined;
    case 'MANTA_AWS_NO_TEMPLATE':
      return names.template.test(named) ? undefined : 'a placeholder for the template';
    case 'MANTA_AWS_NO_PROFILE':
      return names.profile.test(named) ? undefined : 'a placeholder for the profile';
    case 'MANTA_AWS_OTHER_ARCHITECTURE':
      return new Set(configs.map(({ InstanceType: type }) => awsTypes().get(String(type))?.architecture)).size > 1
        ? 'one image for machines of two architectures'
        : undefined;
    case 'MANTA_AWS_SMALL_DISK':
      return 'a disk that is too small for its image';
    default:
      return undefined;
  }
}
