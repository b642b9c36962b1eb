// needs: botocore

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { DescribeRegionsCommand } from '@aws-sdk/client-ec2';
import { AwsClient } from '../../../src/providers/aws/client/client.ts';
import { headIdentity } from '../../../src/providers/aws/client/credentials.ts';
import { awsErrors } from '../../../src/providers/aws/errors.ts';
import { providerErrors } from '../../../src/providers/errors.ts';
import { never, until } from '../../contract/waiting.ts';
import { clientsOf } from '../../lab/aws-bed.ts';
import { clusterText, providerOf, specOf, standInAws } from './aws-bed.ts';

const withKeys = (...lines: readonly string[]): string =>
  clusterText({ provider: ['aws_credentials:', ...lines.map((line) => `  ${line}`)] });

/** For as long as the test runs: the SDK reads the environment of the process. */
function setVariables(t: TestContext, variables: Readonly<Record<string, string>>): void {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  t.after(() => {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });
}

test('a head asks by its own role, unless the file has keys that last', () => {
  assert.deepEqual(headIdentity(specOf(clusterText()), { AWS_ACCESS_KEY_ID: 'AKIA1' }), { kind: 'machine' });
  const identity = headIdentity(specOf(withKeys('aws_access_key_id: AKIA1', 'aws_secret_access_key: s')), {});
  assert.equal(identity.kind, 'file');
});

test('keys that expire never go to a head, and how long they last is told where it is known', () => {
  const spec = specOf(withKeys('aws_access_key_id: ASIA1', 'aws_secret_access_key: s', 'aws_session_token: t'));
  assert.throws(() => headIdentity(spec, {}), { code: awsErrors.CredentialsExpire.code, exit: 2 });
  const env = { AWS_SESSION_TOKEN: 't', AWS_CREDENTIAL_EXPIRATION: new Date(Date.now() + 35.5 * 60_000).toISOString() };
  assert.throws(() => headIdentity(spec, env), /35 minutes left/);
  assert.throws(
    () => headIdentity(specOf(withKeys('aws_access_key_id: AKIA1')), {}),
    /aws_secret_access_key is missing/,
  );
});

test('keys of the file count more than those of the environment, and a head uses them as they were handed to it', async (t) => {
  const aws = await standInAws(t);
  const { accessKeyId, secretAccessKey } = aws.addUser('file');
  const text = withKeys(`aws_access_key_id: ${accessKeyId}`, `aws_secret_access_key: ${secretAccessKey}`);
  const { AWS_ENDPOINT_URL = '' } = aws.environment();
  const env = { AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID: 'AKIAWRONG', AWS_SECRET_ACCESS_KEY: 'wrong' };
  const user = { identity: () => ({ kind: 'user', env }) as const };
  assert.deepEqual(await providerOf(aws, { text, client: user }).list(never), []);
  await assert.rejects(providerOf(aws, { client: user }).list(never), { code: providerErrors.Denied.code });
  setVariables(t, { AWS_ENDPOINT_URL });
  const identity = headIdentity(specOf(text), env);
  assert.deepEqual(await providerOf(aws, { client: { identity: () => identity } }).list(never), []);
});

test('keys that a head cannot read are told without a word of them', async (t) => {
  const aws = await standInAws(t);
  for (const text of [
    'AKIA1:hidden',
    '{"aws_access_key_id": "AKIA1", "aws_secret_access_key": hidden}',
    '{}',
    'null',
  ]) {
    const provider = providerOf(aws, { client: { identity: () => ({ kind: 'file', text }) } });
    await assert.rejects(provider.list(never), (error: Error) => {
      assert.ok(awsErrors.BadCredentials.is(error), error.stack);
      assert.doesNotMatch(inspect(error), /hidden/);
      return true;
    });
  }
});

test('a profile, and an endpoint for one service, count as in boto3', async (t) => {
  const aws = await standInAws(t);
  const folder = mkdtempSync(join(tmpdir(), 'manta-aws-'));
  const { accessKeyId, secretAccessKey } = aws.addUser('profile');
  writeFileSync(
    join(folder, 'credentials'),
    `[research]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`,
  );
  writeFileSync(join(folder, 'config'), '');
  setVariables(t, {
    AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials'),
    AWS_CONFIG_FILE: join(folder, 'config'),
  });
  t.after(() => rmSync(folder, { recursive: true }));
  const { AWS_ENDPOINT_URL = '' } = aws.environment();
  const env = {
    AWS_PROFILE: 'research',
    AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
    AWS_ENDPOINT_URL_EC2: AWS_ENDPOINT_URL,
  };
  const provider = providerOf(aws, { client: { identity: () => ({ kind: 'user', env }) } });
  assert.deepEqual(await provider.list(never), []);
});

test('a login that never comes ends with its command, and by itself when time is up', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'manta-aws-'));
  t.after(() => rmSync(folder, { recursive: true }));
  // It ends as soon as the test does: its input is a pipe that the test holds.
  const [asked, held] = [join(folder, 'asked'), join(folder, 'held')];
  execFileSync('mkfifo', [held]);
  const pipe = openSync(held, 'r+');
  t.after(() => closeSync(pipe));
  writeFileSync(
    join(folder, 'config'),
    `[profile slow]\ncredential_process = sh -c "touch ${asked}; read x < ${held}"\n`,
  );
  writeFileSync(join(folder, 'credentials'), '');
  setVariables(t, {
    AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials'),
    AWS_CONFIG_FILE: join(folder, 'config'),
  });
  const identity = { kind: 'user', env: { AWS_PROFILE: 'slow', AWS_ENDPOINT_URL: 'http://127.0.0.1:1' } } as const;
  const stop = new AbortController();
  const ask = (client: AwsClient, signal: AbortSignal) =>
    client.ask(
      { call: 'DescribeRegions' },
      (options) => client.ec2.send(new DescribeRegionsCommand({}), options),
      signal,
    );
  const patient = new AwsClient({ region: 'us-west-2', identity });
  const waiting = ask(patient, stop.signal);
  await until('the program was asked', () => existsSync(asked));
  stop.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  const hasty = new AwsClient({ region: 'us-west-2', identity, deadline: 50 });
  await assert.rejects(ask(hasty, never), { code: providerErrors.Unreachable.code });
  writeSync(pipe, '\n\n');
});

test('a profile that takes on a role asks as that role', async (t) => {
  const aws = await standInAws(t);
  const clients = clientsOf(aws.localEndpoint, aws.credentials);
  t.after(() => clients.destroy());
  const trust = '{"Statement":[{"Effect":"Allow","Principal":"*","Action":"sts:AssumeRole"}]}';
  const { Role: role } = await clients.iam.createRole({ RoleName: 'reader', AssumeRolePolicyDocument: trust });
  const { accessKeyId, secretAccessKey } = aws.addUser('base', {
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Action: 'sts:AssumeRole', Resource: '*' }],
  });
  const folder = mkdtempSync(join(tmpdir(), 'manta-aws-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(
    join(folder, 'credentials'),
    `[base]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`,
  );
  writeFileSync(join(folder, 'config'), `[profile research]\nrole_arn = ${role?.Arn}\nsource_profile = base\n`);
  const env = { AWS_PROFILE: 'research', AWS_ENDPOINT_URL: aws.localEndpoint };
  setVariables(t, {
    ...env,
    AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials'),
    AWS_CONFIG_FILE: join(folder, 'config'),
  });
  const list = () => providerOf(aws, { client: { identity: () => ({ kind: 'user', env }) } }).list(never);
  await assert.rejects(list(), /assumed-role\/reader\/.*ec2:DescribeInstances/);
  const PolicyDocument = '{"Statement":[{"Effect":"Allow","Action":"ec2:Describe*","Resource":"*"}]}';
  await clients.iam.putRolePolicy({ RoleName: 'reader', PolicyName: 'look', PolicyDocument });
  assert.deepEqual(await list(), []);
});
