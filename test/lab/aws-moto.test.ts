// needs: botocore, moto

/** A second opinion: the same calls to moto, another fake of AWS, are answered with the same members of the same types. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { opensshKeyPair } from '../../lab/aws/ec2/openssh-key.ts';
import { openStandInAws } from '../../lab/aws/open.ts';
import { ensureMoto } from '../../scripts/moto-venv.ts';
import { until } from '../contract/waiting.ts';
import { type Clients, clientsOf } from './aws-bed.ts';

/** Paths of the members of an answer, with the type of each; items of a list are one. */
function shapeOf(value: unknown, path = '', shape = new Map<string, string>()): ReadonlyMap<string, string> {
  if (Array.isArray(value)) for (const each of value) shapeOf(each, `${path}[]`, shape);
  else if (value instanceof Date) shape.set(path, 'date');
  else if (typeof value === 'object' && value !== null)
    for (const [key, each] of Object.entries(value)) {
      if (key !== '$metadata') shapeOf(each, path === '' ? key : `${path}.${key}`, shape);
    }
  else if (value !== undefined) shape.set(path, typeof value);
  return shape;
}

const trust = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: { Service: 'ec2.amazonaws.com' }, Action: 'sts:AssumeRole' }],
});
const key = opensshKeyPair('rsa').publicKey;
const tags = (ResourceType: 'instance' | 'security-group' | 'launch-template') => ({
  TagSpecifications: [{ ResourceType, Tags: [{ Key: 'c', Value: '1' }] }],
});

/** What a launcher asks for, each with what came before. */
const calls: readonly (readonly [string, (clients: Clients, said: Said) => Promise<unknown>])[] = [
  ['regions', ({ ec2 }) => ec2.describeRegions({})],
  ['zones', ({ ec2 }) => ec2.describeAvailabilityZones({})],
  ['vpcs', ({ ec2 }) => ec2.describeVpcs({})],
  ['subnets', ({ ec2 }) => ec2.describeSubnets({})],
  ['types', ({ ec2 }) => ec2.describeInstanceTypes({ InstanceTypes: ['m5.large', 'g4dn.xlarge'] })],
  [
    'offerings',
    ({ ec2 }) => ec2.describeInstanceTypeOfferings({ Filters: [{ Name: 'instance-type', Values: ['m5.large'] }] }),
  ],
  ['import key', ({ ec2 }) => ec2.importKeyPair({ KeyName: 'imported', PublicKeyMaterial: Buffer.from(key) })],
  ['create key', ({ ec2 }) => ec2.createKeyPair({ KeyName: 'created' })],
  ['keys', ({ ec2 }) => ec2.describeKeyPairs({})],
  [
    'create group',
    ({ ec2 }) => ec2.createSecurityGroup({ GroupName: 'g', Description: 'd', ...tags('security-group') }),
  ],
  [
    'open group',
    ({ ec2 }, { one }) => {
      const IpPermissions = [
        { IpProtocol: '-1', UserIdGroupPairs: [{ GroupId: one('create group').GroupId }] },
        { IpProtocol: 'tcp', FromPort: 22, ToPort: 22, IpRanges: [{ CidrIp: '1.2.3.4/32', Description: 'me' }] },
      ];
      return ec2.authorizeSecurityGroupIngress({ GroupId: one('create group').GroupId, IpPermissions });
    },
  ],
  ['groups', ({ ec2 }) => ec2.describeSecurityGroups({ GroupNames: ['g'] })],
  ['create role', ({ iam }) => iam.createRole({ RoleName: 'r', AssumeRolePolicyDocument: trust })],
  ['role', ({ iam }) => iam.getRole({ RoleName: 'r' })],
  [
    'attach',
    ({ iam }) => iam.attachRolePolicy({ RoleName: 'r', PolicyArn: 'arn:aws:iam::aws:policy/AmazonEC2FullAccess' }),
  ],
  ['attached', ({ iam }) => iam.listAttachedRolePolicies({ RoleName: 'r' })],
  [
    'put',
    ({ iam }) =>
      iam.putRolePolicy({
        RoleName: 'r',
        PolicyName: 'p',
        PolicyDocument: trust.replace(/"Principal":[^}]*},/, '"Resource":"*",'),
      }),
  ],
  ['put policy', ({ iam }) => iam.getRolePolicy({ RoleName: 'r', PolicyName: 'p' })],
  ['policies', ({ iam }) => iam.listRolePolicies({ RoleName: 'r' })],
  ['create profile', ({ iam }) => iam.createInstanceProfile({ InstanceProfileName: 'p' })],
  ['fill profile', ({ iam }) => iam.addRoleToInstanceProfile({ InstanceProfileName: 'p', RoleName: 'r' })],
  ['profile', ({ iam }) => iam.getInstanceProfile({ InstanceProfileName: 'p' })],
  ['who', ({ sts }) => sts.getCallerIdentity({})],
  [
    'create template',
    ({ ec2 }, { image }) =>
      ec2.createLaunchTemplate({
        LaunchTemplateName: 'team',
        LaunchTemplateData: { ImageId: image, InstanceType: 'm5.large' },
        ...tags('launch-template'),
      }),
  ],
  ['templates', ({ ec2 }) => ec2.describeLaunchTemplates({})],
  ['versions', ({ ec2 }) => ec2.describeLaunchTemplateVersions({ LaunchTemplateName: 'team' })],
  [
    'run',
    ({ ec2 }, { one, image }) =>
      ec2.runInstances({
        ...{ MinCount: 1, MaxCount: 1, ImageId: image, InstanceType: 'm5.large', KeyName: 'created' },
        SecurityGroupIds: [one('create group').GroupId!],
        IamInstanceProfile: { Name: 'p' },
        ...tags('instance'),
      }),
  ],
  ['instances', ({ ec2 }) => ec2.describeInstances({ Filters: [{ Name: 'tag:c', Values: ['1'] }] })],
  ['status', ({ ec2 }) => ec2.describeInstanceStatus({})],
  ['volumes', ({ ec2 }) => ec2.describeVolumes({})],
  ['stop', ({ ec2 }, { one }) => ec2.stopInstances({ InstanceIds: [one('run').Instances![0]!.InstanceId!] })],
  ['terminate', ({ ec2 }, { one }) => ec2.terminateInstances({ InstanceIds: [one('run').Instances![0]!.InstanceId!] })],
];

/** Calls that are wrong, and the same in both. */
const wrongs: readonly (readonly [string, (clients: Clients, image: string) => Promise<unknown>])[] = [
  ['no such group', ({ ec2 }) => ec2.describeSecurityGroups({ GroupIds: ['sg-0123456789abcdef0'] })],
  ['group twice', ({ ec2 }) => ec2.createSecurityGroup({ GroupName: 'g', Description: 'd' })],
  ['key twice', ({ ec2 }) => ec2.createKeyPair({ KeyName: 'created' })],
  ['no such key', ({ ec2 }) => ec2.describeKeyPairs({ KeyNames: ['none'] })],
  ['no such subnet', ({ ec2 }) => ec2.describeSubnets({ SubnetIds: ['subnet-0123456789abcdef0'] })],
  ['no such instance', ({ ec2 }) => ec2.terminateInstances({ InstanceIds: ['i-0123456789abcdef0'] })],
  ['no such image', ({ ec2 }) => ec2.runInstances({ MinCount: 1, MaxCount: 1, ImageId: 'ami-0123456789abcdef0' })],
  [
    'launch without its key',
    ({ ec2 }, ImageId) =>
      ec2.runInstances({ MinCount: 1, MaxCount: 1, ImageId, InstanceType: 'm5.large', KeyName: 'none' }),
  ],
  ['dry run', ({ ec2 }) => ec2.describeInstances({ DryRun: true })],
  ['no such role', ({ iam }) => iam.getRole({ RoleName: 'none' })],
  ['role twice', ({ iam }) => iam.createRole({ RoleName: 'r', AssumeRolePolicyDocument: trust })],
  ['no such profile', ({ iam }) => iam.getInstanceProfile({ InstanceProfileName: 'none' })],
  ['role in use', ({ iam }) => iam.deleteRole({ RoleName: 'r' })],
  [
    'template twice',
    ({ ec2 }) =>
      ec2.createLaunchTemplate({ LaunchTemplateName: 'team', LaunchTemplateData: { InstanceType: 'm5.large' } }),
  ],
];

/** What moto tells and no launcher reads, or what it tells and AWS does not. */
const leftOut: readonly RegExp[] = [
  /^subnets: .*(?:Ipv6Native|PrivateDnsNameOptionsOnLaunch)/,
  /^types: .*(?:ValidCores|ValidThreadsPerCore|InstanceStorageInfo|EbsOptimizedInfo|EbsAttachments|AttachmentLimitType)/,
  /^types: .*(?:NetworkCards.*(?:Gbps|Ena|InterfaceTypes)|InTransit|EnaSrd|FlexibleEna|ConnectionTracking|SecondaryNetwork)/,
  /^types: .*(?:LogicalGpuCount|GpuPartitionSize|Workloads|Nitro|PhcSupport|RebootMigration|SupportedInRegion)/,
  // Tags of a template are not those of what is launched from it.
  /^versions: .*TagSpecifications/,
  // The address is known when the machine is.
  /^run: .*(?:Association|PrivateIpAddress|PublicIpAddress)/,
  /SriovNetSupport|\.Platform /,
  // AWS tells why an instance is not running, not why it is.
  /^instances: .*StateReason/,
];

interface Said {
  /** What a call before was answered. */
  readonly one: (name: string) => { GroupId?: string; Instances?: { InstanceId?: string }[] };
  readonly image: string;
}

async function sayAll(clients: Clients, image: string): Promise<ReadonlyMap<string, unknown>> {
  const said = new Map<string, unknown>();
  for (const [name, call] of calls)
    said.set(name, await call(clients, { image, one: (each) => said.get(each) as ReturnType<Said['one']> }));
  return said;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

describe('moto and the fake of AWS', () => {
  let moto: ReturnType<typeof spawn>;
  let theirs: Clients;
  let ours: Clients;
  let close: () => Promise<void>;
  let theirImage = '';
  let ourImage = '';
  before(async () => {
    const program = await ensureMoto(() => {});
    const port = await freePort();
    const strict = ['MOTO_ENABLE_KEYPAIR_VALIDATION', 'MOTO_ENABLE_AMI_VALIDATION', 'MOTO_IAM_LOAD_MANAGED_POLICIES'];
    moto = spawn(program, ['-H', '127.0.0.1', '-p', String(port)], {
      stdio: 'ignore',
      env: { ...process.env, ...Object.fromEntries(strict.map((name) => [name, 'true'])) },
    });
    const endpoint = `http://127.0.0.1:${port}`;
    await until('moto answers', () =>
      fetch(`${endpoint}/moto-api/reset`, { method: 'POST' }).then(
        () => true,
        () => false,
      ),
    );
    theirs = clientsOf(endpoint, { accessKeyId: 'a', secretAccessKey: 'b' });
    const aws = await openStandInAws();
    close = () => aws.close();
    ours = clientsOf(aws.localEndpoint, aws.credentials);
    const image = async ({ ec2 }: Clients, name: string) =>
      (
        await ec2.describeImages({
          Filters: [
            { Name: 'name', Values: [name] },
            { Name: 'architecture', Values: ['x86_64'] },
          ],
        })
      ).Images![0]!.ImageId!;
    theirImage = await image(theirs, 'amzn2-ami-hvm*');
    ourImage = await image(ours, 'al2023*');
  });
  after(async () => {
    theirs?.destroy();
    ours?.destroy();
    await close?.();
    if (moto !== undefined && moto.exitCode === null) {
      moto.kill();
      await once(moto, 'exit');
    }
  });

  it('answer with the same members', async () => {
    const [there, here] = [await sayAll(theirs, theirImage), await sayAll(ours, ourImage)];
    const problems: string[] = [];
    for (const [name, answer] of there) {
      const own = shapeOf(here.get(name));
      for (const [path, type] of shapeOf(answer)) {
        const given = own.get(path);
        if (given === undefined) problems.push(`${name}: ${path} is missing`);
        else if (given !== type) problems.push(`${name}: ${path} is a ${given}, not a ${type}`);
      }
    }
    assert.deepEqual(
      problems.filter((problem) => !leftOut.some((each) => each.test(problem))),
      [],
    );
  });

  it('refuse with the same codes', async () => {
    const code = (call: Promise<unknown>): Promise<string> =>
      call.then(
        () => 'none',
        (error: Error) => error.name,
      );
    const [there, here]: Record<string, string>[] = [{}, {}];
    for (const [name, call] of wrongs) {
      there![name] = await code(call(theirs, theirImage));
      here![name] = await code(call(ours, ourImage));
    }
    assert.deepEqual(here, there);
  });
});
