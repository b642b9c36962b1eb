// needs: botocore

/** Who may call the fake of AWS, in which protocol, and what each service says to others. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import type { EC2 } from '@aws-sdk/client-ec2';
import type { Policy } from '../../lab/aws/policy.ts';
import { awsBed, refused } from './aws-bed.ts';

const allow = (...Action: string[]): Policy => ({ Statement: { Effect: 'Allow', Action, Resource: '*' } });

test('every service refuses who it does not know, in its own words and protocol', async (t) => {
  const { as, credentials, addUser } = await awsBed(t);
  const stranger = as({ accessKeyId: 'AKIASTRANGER', secretAccessKey: 'guess' });
  await refused(stranger.ec2.describeRegions({}), 'AuthFailure', /not able to validate/, 401);
  await refused(stranger.iam.getRole({ RoleName: 'a' }), 'InvalidClientTokenId', /invalid/, 403);
  await refused(stranger.sts.getCallerIdentity({}), 'InvalidClientTokenId', undefined, 403);
  await refused(stranger.ssm.getParameter({ Name: 'a' }), 'UnrecognizedClientException', undefined, 400);
  await refused(stranger.pricing.getProducts({ ServiceCode: 'AmazonEC2' }), 'UnrecognizedClientException');
  const forger = as({ ...credentials, secretAccessKey: 'guess' });
  await refused(forger.ec2.describeRegions({}), 'SignatureDoesNotMatch', /does not match/, 403);
  await refused(forger.iam.getRole({ RoleName: 'a' }), 'SignatureDoesNotMatch');
  await refused(forger.ssm.getParameter({ Name: 'a' }), 'InvalidSignatureException');
  const other = addUser('else', undefined, '999999999999');
  assert.equal((await as(other).sts.getCallerIdentity({})).Account, '999999999999');
});

test('a request that is not signed, or was signed long ago, is refused', async (t) => {
  const { localEndpoint, as, credentials } = await awsBed(t);
  const plain = await fetch(localEndpoint, { method: 'POST', body: 'Action=DescribeRegions&Version=2016-11-15' });
  assert.equal(plain.status, 401);
  assert.match(await plain.text(), /<Response><Errors><Error><Code>AuthFailure<\/Code>/);
  const late = as(credentials);
  for (const client of [late.ec2, late.iam, late.ssm])
    (client.config as unknown as { systemClockOffset: number }).systemClockOffset = -3_600_000;
  await refused(late.ec2.describeRegions({}), 'RequestExpired');
  await refused(late.iam.getRole({ RoleName: 'a' }), 'SignatureDoesNotMatch', /Signature expired/);
  await refused(late.ssm.getParameter({ Name: 'a' }), 'InvalidSignatureException', /Signature expired/);
});

/** Signs what the client would never send. */
async function raw(t: Parameters<typeof awsBed>[0], service: 'ec2' | 'iam' | 'ssm', change: (body: string) => string) {
  const bed = await awsBed(t);
  // All clients have the same stack; only their types differ.
  const stack = bed[service].middlewareStack as unknown as EC2['middlewareStack'];
  let answer: { status: number; text: string } | undefined;
  stack.add(
    (next) => (args) => {
      const asked = args.request as { body: string; headers: Record<string, string> };
      asked.body = change(asked.body);
      asked.headers['content-length'] = String(Buffer.byteLength(asked.body));
      return next(args);
    },
    { step: 'build', priority: 'low', name: 'change' },
  );
  stack.add(
    (next) => async (args) => {
      const { hostname, port, headers, body, method } = (args as { request?: unknown }).request as {
        hostname: string;
        port: number;
        headers: Record<string, string>;
        body: string;
        method: string;
      };
      answer = await new Promise((resolve, reject) => {
        const asking = request({ hostname, port, headers, method, path: '/' }, (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('end', () => resolve({ status: response.statusCode!, text }));
        });
        asking.on('error', reject);
        asking.end(body);
      });
      return next(args);
    },
    {
      step: 'finalizeRequest',
      relation: 'after',
      toMiddleware: 'httpSigningMiddleware',
      priority: 'low',
      name: 'look',
    } as never,
  );
  const calls = {
    ec2: () => bed.ec2.describeRegions({}),
    iam: () => bed.iam.getRole({ RoleName: 'a' }),
    ssm: () => bed.ssm.getParameter({ Name: 'a' }),
  };
  await calls[service]().catch(() => undefined);
  return answer!;
}

test('members that the model does not have are refused, with the shape of the protocol', async (t) => {
  const ec2 = await raw(t, 'ec2', (body) => `${body}&Colour=red`);
  assert.equal(ec2.status, 400);
  assert.match(ec2.text, /<Code>UnknownParameter<\/Code><Message>The parameter Colour is not recognized<\/Message>/);
  assert.match((await raw(t, 'ec2', (body) => `${body}&RegionName.x=1`)).text, /UnknownParameter.*RegionName\.x/);
  assert.match((await raw(t, 'ec2', (body) => `${body}&DryRun=maybe`)).text, /InvalidParameterValue.*DryRun/);
  assert.match((await raw(t, 'ec2', () => 'Action=Nothing&Version=2016-11-15')).text, /InvalidAction/);
  assert.match((await raw(t, 'ec2', () => 'Action=DescribeRegions&Version=2010-01-01')).text, /NoSuchVersion/);
  assert.match(
    (await raw(t, 'ec2', () => 'Action=RunInstances&Version=2016-11-15')).text,
    /MissingParameter.*MaxCount/,
  );
  const iam = await raw(t, 'iam', (body) => `${body}&Colour=red`);
  assert.match(iam.text, /<ErrorResponse xmlns=[^>]*><Error><Type>Sender<\/Type><Code>ValidationError<\/Code>/);
  assert.match(
    (await raw(t, 'iam', (body) => body.replace('RoleName=a', ''))).text,
    /ValidationError.*must not be null/,
  );
  assert.match((await raw(t, 'iam', (body) => body.replace('RoleName=a', 'RoleName=%20'))).text, /ValidationError/);
  const ssm = await raw(t, 'ssm', () => '{"Name":"a","Colour":"red"}');
  assert.deepEqual([ssm.status, (JSON.parse(ssm.text) as { __type: string }).__type], [400, 'ValidationException']);
  assert.match((await raw(t, 'ssm', () => '{}')).text, /ValidationException/);
  assert.match((await raw(t, 'ssm', () => '{"Name":1}')).text, /SerializationException/);
  assert.match((await raw(t, 'ssm', () => 'no json')).text, /SerializationException/);
});

test('an operation that AWS has and the fake has not is refused, and so is a service', async (t) => {
  const { ec2, sts } = await awsBed(t);
  await refused(ec2.describeNatGateways({}), 'InvalidAction', /does not have the operation DescribeNatGateways/);
  await refused(sts.getSessionToken({}), 'InvalidAction');
});

test('a caller may do what their policies say: action, resource, tags of the thing and of the request', async (t) => {
  const { as, addUser, run, image } = await awsBed(t);
  const mine = { StringEquals: { 'aws:ResourceTag/cluster': 'mine' } };
  const policy: Policy = {
    Version: '2012-10-17',
    Statement: [
      { Effect: 'Allow', Action: 'ec2:Describe*', Resource: '*' },
      {
        Effect: 'Allow',
        Action: 'ec2:RunInstances',
        Resource: [
          'arn:aws:ec2:*::image/*',
          'arn:aws:ec2:*:*:subnet/*',
          'arn:aws:ec2:*:*:security-group/*',
          'arn:aws:ec2:*:*:network-interface/*',
          'arn:aws:ec2:*:*:volume/*',
        ],
      },
      {
        Effect: 'Allow',
        Action: 'ec2:RunInstances',
        Resource: 'arn:aws:ec2:*:*:instance/*',
        Condition: { StringEquals: { 'aws:RequestTag/cluster': 'mine' } },
      },
      {
        Effect: 'Allow',
        Action: 'ec2:CreateTags',
        Resource: '*',
        Condition: { StringEquals: { 'ec2:CreateAction': 'RunInstances' } },
      },
      { Effect: 'Allow', Action: ['ec2:TerminateInstances', 'ec2:StopInstances'], Resource: '*', Condition: mine },
      { Effect: 'Deny', Action: 'ec2:StopInstances', Resource: '*' },
      { Effect: 'Allow', Action: 'sts:DecodeAuthorizationMessage', Resource: '*' },
    ],
  };
  const { ec2, sts, iam, ssm } = as(addUser('bound', policy));
  const tagged = (cluster: string) => ({
    TagSpecifications: [{ ResourceType: 'instance' as const, Tags: [{ Key: 'cluster', Value: cluster }] }],
  });
  const asked = { MinCount: 1, MaxCount: 1, ImageId: image, InstanceType: 'm5.large' as const };
  await refused(
    ec2.runInstances(asked),
    'UnauthorizedOperation',
    /ec2:RunInstances on resource: arn:aws:ec2:us-west-2:123456789012:instance\/\*/,
    403,
  );
  await refused(ec2.runInstances({ ...asked, ...tagged('other') }), 'UnauthorizedOperation');
  await refused(
    ec2.runInstances({ ...asked, ...tagged('mine'), DryRun: true }),
    'DryRunOperation',
    /would have succeeded/,
    412,
  );
  const made = (await ec2.runInstances({ ...asked, ...tagged('mine') })).Instances![0]!.InstanceId!;
  await refused(
    ec2.createTags({ Resources: [made], Tags: [{ Key: 'a', Value: 'b' }] }),
    'UnauthorizedOperation',
    /ec2:CreateTags/,
  );
  const foreign = (await run())[0]!.InstanceId!;
  const denied = await refused(
    ec2.terminateInstances({ InstanceIds: [foreign] }),
    'UnauthorizedOperation',
    /Encoded authorization failure message: /,
  );
  const { DecodedMessage: text } = await sts.decodeAuthorizationMessage({
    EncodedMessage: denied.message.split('message: ')[1]!,
  });
  const decoded = JSON.parse(text!) as { allowed: boolean; context: { action: string; resource: string } };
  assert.deepEqual([decoded.allowed, decoded.context.action], [false, 'ec2:TerminateInstances']);
  assert.match(decoded.context.resource, new RegExp(`${foreign}$`));
  await refused(ec2.stopInstances({ InstanceIds: [made] }), 'UnauthorizedOperation', /explicit deny/);
  await ec2.terminateInstances({ InstanceIds: [made] });
  await refused(
    iam.createRole({ RoleName: 'a', AssumeRolePolicyDocument: '{"Statement":[]}' }),
    'AccessDenied',
    /iam:CreateRole/,
    403,
  );
  await refused(ssm.getParameter({ Name: '/aws/service/x' }), 'AccessDeniedException', /ssm:GetParameter/);
  assert.match((await sts.getCallerIdentity({})).Arn!, /user\/bound$/);
  await refused(sts.decodeAuthorizationMessage({ EncodedMessage: 'made-up' }), 'InvalidAuthorizationMessageException');
});

test('a role is passed by who may pass it, and the spot role made by who may make it', async (t) => {
  const { iam, as, addUser, image } = await awsBed(t);
  const trust =
    '{"Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}';
  await iam.createRole({ RoleName: 'head', AssumeRolePolicyDocument: trust });
  await iam.createInstanceProfile({ InstanceProfileName: 'head' });
  await iam.addRoleToInstanceProfile({ InstanceProfileName: 'head', RoleName: 'head' });
  const asked = { MinCount: 1, MaxCount: 1, ImageId: image, InstanceType: 'm5.large' as const };
  const { ec2 } = as(addUser('runner', allow('ec2:*')));
  const profile = { IamInstanceProfile: { Name: 'head' } };
  await refused(
    ec2.runInstances({ ...asked, ...profile }),
    'UnauthorizedOperation',
    /iam:PassRole on resource: arn:aws:iam::123456789012:role\/head/,
  );
  const spot = { InstanceMarketOptions: { MarketType: 'spot' as const } };
  await refused(
    ec2.runInstances({ ...asked, ...spot }),
    'AuthFailure.ServiceLinkedRoleCreationNotPermitted',
    undefined,
    403,
  );
  await iam.createServiceLinkedRole({ AWSServiceName: 'spot.amazonaws.com' });
  await refused(
    iam.createServiceLinkedRole({ AWSServiceName: 'spot.amazonaws.com' }),
    'InvalidInputException',
    /taken/,
  );
  assert.equal((await ec2.runInstances({ ...asked, ...spot })).Instances?.length, 1);
  const passing: Policy = {
    Statement: [
      { Effect: 'Allow', Action: 'ec2:*', Resource: '*' },
      {
        Effect: 'Allow',
        Action: 'iam:PassRole',
        Resource: 'arn:aws:iam::*:role/head',
        Condition: { StringEquals: { 'iam:PassedToService': 'ec2.amazonaws.com' } },
      },
    ],
  };
  assert.equal((await as(addUser('passer', passing)).ec2.runInstances({ ...asked, ...profile })).Instances?.length, 1);
});

test('a role that is taken on has its own policies, until its credentials expire', async (t) => {
  const { iam, sts, as } = await awsBed(t);
  const trust = '{"Statement":[{"Effect":"Allow","Principal":"*","Action":"sts:AssumeRole"}]}';
  const { Role: role } = await iam.createRole({ RoleName: 'reader', AssumeRolePolicyDocument: trust });
  await iam.attachRolePolicy({ RoleName: 'reader', PolicyArn: 'arn:aws:iam::aws:policy/AmazonEC2ReadOnlyAccess' });
  const taken = await sts.assumeRole({ RoleArn: role!.Arn!, RoleSessionName: 'me', DurationSeconds: 900 });
  const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, SessionToken: sessionToken } = taken.Credentials!;
  const session = { accessKeyId: accessKeyId!, secretAccessKey: secretAccessKey!, sessionToken: sessionToken! };
  const reader = as(session);
  assert.match((await reader.sts.getCallerIdentity({})).Arn!, /assumed-role\/reader\/me$/);
  await reader.ec2.describeInstances({});
  await refused(reader.ec2.createKeyPair({ KeyName: 'k' }), 'UnauthorizedOperation', /assumed-role\/reader\/me/);
  await iam.putRolePolicy({
    RoleName: 'reader',
    PolicyName: 'keys',
    PolicyDocument: JSON.stringify(allow('ec2:CreateKeyPair')),
  });
  await reader.ec2.createKeyPair({ KeyName: 'k' });
  await refused(as({ ...session, sessionToken: 'other' }).ec2.describeInstances({}), 'AuthFailure');
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 1_000_000 });
  await refused(reader.ec2.describeInstances({}), 'RequestExpired');
  await refused(reader.iam.getRole({ RoleName: 'reader' }), 'ExpiredToken');
  await refused(reader.ssm.getParameter({ Name: 'a' }), 'ExpiredTokenException');
});
