// needs: botocore, hosts

/** Instances of the fake of AWS that boot: log in, user data, metadata, addresses, power. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { type LabAws, openLabAws } from '../../lab/aws/open.ts';
import { type Lab, labProblem, openLab } from '../../lab/lab.ts';
import { until } from '../contract/waiting.ts';
import { type Clients, clientsOf, imageOf } from './aws-bed.ts';

const ssh = 'ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new -o ConnectTimeout=20';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('AWS on the switch of a lab', { skip: labProblem() ?? false }, () => {
  let lab: Lab;
  let aws: LabAws;
  let clients: Clients;
  before(async () => {
    lab = await openLab({ hosts: 0 });
    aws = await openLabAws(lab, { roleSeconds: 4, standIn: ({ machineType }) => machineType === 'c5.large' });
    clients = clientsOf(aws.localEndpoint, aws.credentials);
    const key = readFileSync(`${lab.key}.pub`);
    await clients.ec2.importKeyPair({ KeyName: 'lab', PublicKeyMaterial: key });
  });
  after(async () => {
    clients?.destroy();
    await aws?.close();
    await lab?.close();
  });

  const run = async (more: object = {}) => {
    const asked = {
      MinCount: 1,
      MaxCount: 1,
      ImageId: imageOf(aws),
      InstanceType: 'm5.large' as const,
      KeyName: 'lab',
    };
    const made = (await clients.ec2.runInstances({ ...asked, ...more })).Instances ?? [];
    return Promise.all(made.map(({ InstanceId: id }) => running(id!)));
  };
  const shown = async (id: string) =>
    (await clients.ec2.describeInstances({ InstanceIds: [id] })).Reservations![0]!.Instances![0]!;
  const running = (id: string) =>
    until(`${id} runs`, async () => {
      const instance = await shown(id);
      return instance.State?.Name === 'running' && instance;
    });
  const inState = (id: string, state: string) =>
    until(`${id} is ${state}`, async () => (await shown(id)).State?.Name === state);
  const end = async (...ids: string[]) => {
    await clients.ec2.terminateInstances({ InstanceIds: ids });
    await Promise.all(ids.map((id) => inState(id, 'terminated')));
  };
  /** What an instance is told by its metadata; the status where it is not told. */
  const metadata = (path: string): string =>
    `t=$(curl -s -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' http://169.254.169.254/latest/api/token); ` +
    `curl -s -w '%{stderr}%{http_code}' -H "X-aws-ec2-metadata-token: $t" http://169.254.169.254/latest/${path}`;
  const told = async (id: string, path: string) => {
    const { stdout, stderr } = await aws.host(id)!.exec(metadata(path));
    return stderr === '200' ? stdout : Number(stderr);
  };

  it('lets the laptop in by the public address, and hosts by the private one', async () => {
    const [one, two] = await run({ MaxCount: 2, MinCount: 2 });
    const who = `${ssh} ubuntu@${one!.PublicIpAddress} 'id -un; sudo -n id -un; echo $AWS_ENDPOINT_URL'`;
    assert.equal(await lab.laptop.must(who), `ubuntu\nroot\n${aws.endpoint}\n`);
    assert.match((await lab.laptop.exec(`${ssh} ubuntu@${one!.PrivateIpAddress} true`)).stderr, /No route|unreachable/);
    const reaches = (address: string) => `timeout 5 bash -c 'echo > /dev/tcp/${address}/22'`;
    const host = aws.host(one!.InstanceId!)!;
    await host.must(reaches(two!.PrivateIpAddress!));
    assert.notEqual((await host.exec(reaches(two!.PublicIpAddress!))).code, 0, 'not by the public one');
    await end(one!.InstanceId!, two!.InstanceId!);
    assert.equal(lab.hosts.length, 0);
  });

  it('runs the scripts of user data, also as parts of a message', async () => {
    const message = [
      'Content-Type: multipart/mixed; boundary="edge"',
      'MIME-Version: 1.0',
      '',
      '--edge',
      'Content-Type: text/x-shellscript; charset="us-ascii"',
      '',
      '#!/bin/bash',
      'echo "${BASH_VERSION:+bash} $(id -un)" > /root/first',
      '--edge',
      'Content-Type: text/cloud-config',
      '',
      '#cloud-config',
      'packages: [jq]',
      '--edge',
      'Content-Type: text/x-shellscript',
      'Content-Transfer-Encoding: base64',
      '',
      base64('#!/usr/bin/python3\nopen("/root/second", "w").write("python")\n'),
      '--edge--',
    ].join('\r\n');
    const [made] = await run({ UserData: base64(message.replaceAll('\r\n', '\n')) });
    const host = aws.host(made!.InstanceId!)!;
    assert.equal(await host.must('cat /root/first /root/second'), 'bash root\npython');
    const { Output: output } = await clients.ec2.getConsoleOutput({ InstanceId: made!.InstanceId! });
    assert.match(
      Buffer.from(output!, 'base64').toString(),
      /part 2 is text\/cloud-config: left out[^]*part 3 ended with 0/,
    );
    assert.match(String(await told(made!.InstanceId!, 'user-data')), /^Content-Type: multipart/);
    await end(made!.InstanceId!);
  });

  it('tells an instance about itself, and about what is about to happen to it', async () => {
    const [made] = await run({
      InstanceMarketOptions: { MarketType: 'spot' },
      MetadataOptions: { InstanceMetadataTags: 'enabled', HttpTokens: 'required' },
      TagSpecifications: [{ ResourceType: 'instance', Tags: [{ Key: 'cluster', Value: 'c' }] }],
    });
    const id = made!.InstanceId!;
    const host = aws.host(id)!;
    assert.equal(
      (await host.exec(`curl -s -o /dev/null -w '%{http_code}' http://169.254.169.254/latest/meta-data/`)).stdout,
      '401',
    );
    assert.equal(await told(id, 'meta-data/instance-id'), id);
    assert.equal(await told(id, 'meta-data/placement/availability-zone'), made!.Placement!.AvailabilityZone);
    assert.equal(await told(id, 'meta-data/public-ipv4'), made!.PublicIpAddress);
    assert.equal(await told(id, 'meta-data/tags/instance/cluster'), 'c');
    assert.equal(await told(id, 'meta-data/iam/security-credentials/'), 404);
    const identity = JSON.parse(String(await told(id, 'dynamic/instance-identity/document'))) as Record<string, string>;
    assert.deepEqual([identity['instanceId'], identity['region']], [id, 'us-west-2']);
    assert.equal(await told(id, 'meta-data/spot/instance-action'), 404);
    await aws.admin.rebalance(id);
    assert.match(String(await told(id, 'meta-data/events/recommendations/rebalance')), /noticeTime/);
    await aws.admin.preempt(id, 60);
    assert.match(String(await told(id, 'meta-data/spot/instance-action')), /"action":"terminate","time":"20/);
    await end(id);
  });

  it('gives an instance the credentials of its role, and new ones before they expire', async () => {
    const { iam } = clients;
    const trust =
      '{"Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}';
    await iam.createRole({ RoleName: 'head', AssumeRolePolicyDocument: trust });
    await iam.attachRolePolicy({ RoleName: 'head', PolicyArn: 'arn:aws:iam::aws:policy/AmazonEC2ReadOnlyAccess' });
    await iam.createInstanceProfile({ InstanceProfileName: 'head' });
    await iam.addRoleToInstanceProfile({ InstanceProfileName: 'head', RoleName: 'head' });
    const [made] = await run({ IamInstanceProfile: { Name: 'head' } });
    const id = made!.InstanceId!;
    assert.equal(await told(id, 'meta-data/iam/security-credentials/'), 'head');
    const credentials = async () =>
      JSON.parse(String(await told(id, 'meta-data/iam/security-credentials/head'))) as Record<string, string>;
    const first = await credentials();
    const session = clientsOf(aws.localEndpoint, {
      accessKeyId: first['AccessKeyId']!,
      secretAccessKey: first['SecretAccessKey']!,
      sessionToken: first['Token']!,
    });
    assert.match((await session.sts.getCallerIdentity({})).Arn!, new RegExp(`assumed-role/head/${id}$`));
    await session.ec2.describeInstances({});
    await assert.rejects(session.ec2.terminateInstances({ InstanceIds: [id] }), { name: 'UnauthorizedOperation' });
    session.destroy();
    await until('they are renewed', async () => (await credentials())['AccessKeyId'] !== first['AccessKeyId']);
    await end(id);
  });

  it('stops an instance that switches itself off, or ends it where that was asked for', async () => {
    const [stays] = await run();
    const [goes] = await run({ InstanceInitiatedShutdownBehavior: 'terminate' });
    await aws.host(stays!.InstanceId!)!.must('echo kept > /root/file');
    for (const { InstanceId: id } of [stays!, goes!]) await aws.host(id!)!.exec('shutdown -h now');
    await Promise.all([inState(stays!.InstanceId!, 'stopped'), inState(goes!.InstanceId!, 'terminated')]);
    assert.equal((await shown(stays!.InstanceId!)).StateReason?.Code, 'Client.InstanceInitiatedShutdown');
    await clients.ec2.startInstances({ InstanceIds: [stays!.InstanceId!] });
    const again = await running(stays!.InstanceId!);
    assert.notEqual(again.PublicIpAddress, stays!.PublicIpAddress);
    assert.equal(await lab.laptop.must(`${ssh} ubuntu@${again.PublicIpAddress} sudo cat /root/file`), 'kept\n');
    await end(stays!.InstanceId!);
  });

  it('has stand-ins beside hosts, and instances without a public address', async () => {
    const [standIn] = await run({ InstanceType: 'c5.large' });
    assert.equal(aws.host(standIn!.InstanceId!), undefined);
    const vpc = aws.world.vpcs.all()[0]!;
    const { id: SubnetId } = aws.world.addSubnet(vpc, { zone: 'us-west-2a', mapsPublic: false, routed: false });
    const [hidden] = await run({ SubnetId });
    const [bastion] = await run();
    assert.equal(hidden!.PublicIpAddress, undefined);
    const through = `${ssh} -A -J ubuntu@${bastion!.PublicIpAddress} ubuntu@${hidden!.PrivateIpAddress} hostname`;
    const options = 'Host *\n  StrictHostKeyChecking accept-new\n  BatchMode yes\n';
    await lab.laptop.must(['sh', '-c', 'cat > ~/.ssh/config'], { input: options });
    assert.equal((await lab.laptop.must(through)).trim(), aws.host(hidden!.InstanceId!)!.name);
    await end(standIn!.InstanceId!, hidden!.InstanceId!, bastion!.InstanceId!);
  });
});
