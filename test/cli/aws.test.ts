// needs: botocore

/** Commands for clusters on AWS, as far as they need no machine that boots. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { labAccount } from '../../lab/aws/open.ts';
import type { Subnet } from '../../lab/aws/world.ts';
import { main } from '../../src/cli/main.ts';
import { clusterNames } from '../../src/state/state-folder.ts';
import { clientsOf } from '../lab/aws-bed.ts';
import { clusterText, region, standInAws } from '../providers/aws/aws-bed.ts';
import { screen } from './screen.ts';

async function bed(t: TestContext) {
  const aws = await standInAws(t);
  const home = mkdtempSync(join(tmpdir(), 'manta-aws-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const file = join(home, 'bed.yaml');
  const manta = async (text: string, ...words: readonly string[]) => {
    writeFileSync(file, text);
    const env = { ...aws.environment(), MANTA_HOME: home, MANTA_CHECKIP_URL: 'http://127.0.0.1:9' };
    const on = screen({ env });
    const exit = await main([...words, file], on);
    return { exit, ...on.shown };
  };
  const changes = async (): Promise<readonly string[]> =>
    (await aws.admin.calls())
      .map(({ operation = '' }) => operation)
      .filter((each) => !/^(?:Describe|Get|List|Simulate)/.test(each));
  return { aws, home, file, manta, changes };
}

test('what AWS shows to be wrong in a file is told with its line and column', async (t) => {
  const { aws, manta, file, changes, home } = await bed(t);
  aws.world.network(labAccount, region);
  const [subnet, { zone: other }] = aws.world.subnets.of(labAccount, region) as [Subnet, Subnet];
  for (const [text, value, words] of [
    [clusterText().replace('m5.large', 'm5.huge'), 'm5.huge', "us-west-2 does not offer instance type 'm5.huge'"],
    [clusterText({ worker: ['SubnetId: subnet-0123'] }), 'subnet-0123', "there is no subnet 'subnet-0123'"],
    [
      clusterText({ worker: [`SubnetId: ${subnet.id}`, `Placement: {AvailabilityZone: ${other}}`] }),
      subnet.id,
      `subnet ${subnet.id} is in zone ${subnet.zone}, but the file asks for ${other}`,
    ],
    [
      clusterText({ worker: ['LaunchTemplate: {LaunchTemplateName: team, Version: 7}'] }),
      '{LaunchTemplateName',
      "there is no launch template 'team' with version 7",
    ],
    [
      clusterText({ head: ['KeyName: team'], worker: ['KeyName: team'] }),
      'team',
      "names key pair 'team', but auth.ssh_private_key does not say where its private key is",
    ],
    [clusterText({ provider: ['availability_zone: eu-west-1a'] }), 'eu-west-1a', "zone 'eu-west-1a' is not in region"],
    [
      clusterText({ provider: ['aws_credentials: {aws_access_key_id: AKIA}'] }),
      '{aws_access_key_id',
      'aws_secret_access_key is missing in provider.aws_credentials',
    ],
  ] as const) {
    const { exit, stderr } = await manta(text, 'up', '--plan');
    assert.equal(exit, 2, stderr);
    const lines = text.split('\n');
    const line = lines.findIndex((each) => each.includes(value));
    const place = `${file}:${line + 1}:${lines[line]!.indexOf(value) + 1}: `;
    assert.ok(stderr.replaceAll(/\s+/g, ' ').includes(place), `${place}\n${stderr}`);
    assert.ok(stderr.replaceAll(/\s+/g, ' ').includes(words), stderr);
  }
  assert.deepEqual([await changes(), clusterNames(home)], [[], []]);
});

test('a field that AWS does not have is told with its line, and a mount that is missing only warned of in a plan', async (t) => {
  const { manta, changes } = await bed(t);
  const disk = 'BlockDeviceMappings: [{DeviceName: /dev/sda1, Ebs: {volumesize: 100}}]';
  const unknown = await manta(clusterText({ worker: [disk] }), 'up', '--plan');
  assert.equal(unknown.exit, 2);
  assert.match(unknown.stderr, /15:\d+: unknown field 'volumesize' of RunInstances/);
  assert.match(unknown.stderr, /did you mean 'VolumeSize'/);
  const text = `${clusterText()}file_mounts: {/data: /nowhere/at/all}\n`;
  const planned = await manta(text, 'up', '--plan');
  assert.equal(planned.exit, 0, planned.stderr);
  assert.match(planned.stdout, /warning  the source of the file mount '\/data' does not exist: '\/nowhere\/at\/all'/);
  assert.equal((await manta(text, 'up', '-y')).exit, 2);
  assert.deepEqual(await changes(), []);
});

test('a file whose Ray cannot start is planned with a warning, and refused before anything is made', async (t) => {
  const { manta, file, changes, home } = await bed(t);
  const text = `${clusterText()}head_start_ray_commands:\n- ray stop\n- ray start --head --redis-port=6379\n`;
  const planned = await manta(text, 'up', '--plan');
  assert.equal(planned.exit, 0, planned.stderr);
  const line = text.split('\n').findIndex((each) => each.includes('--redis-port')) + 1;
  const words = `${file}:${line}:3: Ray cannot start: \`ray start\` no longer has --redis-port`;
  assert.ok(planned.stdout.includes(`warning  ${words}`), planned.stdout);
  const refused = await manta(text, 'up', '-y');
  assert.equal(refused.exit, 2);
  assert.ok(refused.stderr.includes(words), refused.stderr);
  assert.match(refused.stderr, /write --port for --redis-port/);
  const hosts = 'cluster_name: own\nprovider: {type: local, head_ip: 192.0.2.1, worker_ips: [192.0.2.2]}\n';
  const own = await manta(`${hosts}worker_start_ray_commands: [ray start --redis-address=x]\n`, 'up', '-y');
  assert.equal(own.exit, 2);
  assert.match(own.stderr, /bed\.yaml:3:29: Ray cannot start: .*--redis-address/);
  assert.deepEqual([await changes(), clusterNames(home)], [[], []]);
});

test('a key that the file names and that is not here is refused, and never created', async (t) => {
  const { aws, manta, file, changes, home } = await bed(t);
  const clients = clientsOf(aws.localEndpoint, aws.credentials);
  await clients.ec2.createKeyPair({ KeyName: 'team' });
  clients.destroy();
  const before = await changes();
  const key = join(home, 'team.pem');
  const auth = (text: string): string =>
    text.replace('{ssh_user: ubuntu}', `{ssh_user: ubuntu, ssh_private_key: ${key}}`);
  const named = auth(clusterText({ head: ['KeyName: team'], worker: ['KeyName: team'] }));
  const missing = `${file}:6:43: the private key ${key} does not exist on this machine`;
  for (const [how, text, words] of [
    ['--plan', named, `names key pair 'team', but its private key is not at ${key}`],
    ['-y', named, `names key pair 'team', but its private key is not at ${key}`],
    ['-y', auth(clusterText()), missing],
  ] as const) {
    const { exit, stderr } = await manta(text, 'up', how);
    assert.equal(exit, 2, stderr);
    assert.ok(stderr.includes(words), stderr);
  }
  const planned = await manta(auth(clusterText()), 'up', '--plan');
  assert.equal(planned.exit, 0, planned.stderr);
  assert.ok(planned.stdout.includes(`warning  ${missing}`), planned.stdout);
  assert.deepEqual([existsSync(key), await changes(), clusterNames(home)], [false, before, []]);
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'a passphrase', '-f', key]);
  assert.equal((await manta(named, 'up', '--plan')).exit, 0);
  rmSync(`${key}.pub`);
  const closed = await manta(named, 'up', '--plan');
  assert.equal(closed.exit, 2, closed.stderr);
  assert.match(closed.stderr, /bed\.yaml:6:43: cannot read the public key that belongs to .*passphrase/);
});
