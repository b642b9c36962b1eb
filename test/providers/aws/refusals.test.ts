// needs: botocore

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MantaError } from '../../../src/base/errors.ts';
import { awsErrors } from '../../../src/providers/aws/errors.ts';
import { providerErrors } from '../../../src/providers/errors.ts';
import { never } from '../../contract/waiting.ts';
import { ask, clusterText, fastClock, preparedOf, providerOf, standInAws, zone } from './aws-bed.ts';

const rows: readonly (readonly [code: string, error: { readonly code: string }, words?: RegExp])[] = [
  ['InsufficientInstanceCapacity', providerErrors.NoCapacity],
  ['InsufficientFreeAddressesInSubnet', providerErrors.NoCapacity],
  ['SpotMaxPriceTooLow', providerErrors.NoCapacity],
  ['Unsupported', providerErrors.NoCapacity],
  ['ReservationCapacityExceeded', providerErrors.NoCapacity],
  ['InsufficientHostCapacity', providerErrors.NoCapacity],
  ['InsufficientVolumeCapacity', providerErrors.NoCapacity],
  ['VcpuLimitExceeded', providerErrors.Quota],
  ['MaxIOPSLimitExceeded', providerErrors.Quota],
  ['InstanceLimitExceeded', providerErrors.Quota],
  ['MaxSpotInstanceCountExceeded', providerErrors.Quota],
  ['VolumeLimitExceeded', providerErrors.Quota],
  ['RequestLimitExceeded', providerErrors.Throttled],
  ['Throttling', providerErrors.Throttled],
  ['EC2ThrottledException', providerErrors.Throttled],
  ['UnauthorizedOperation', providerErrors.Denied],
  ['OptInRequired', providerErrors.Denied, /finish signing up for EC2/],
  ['PendingVerification', providerErrors.Denied, /wait for its email/],
  [
    'AuthFailure.ServiceLinkedRoleCreationNotPermitted',
    providerErrors.Denied,
    /create-service-linked-role --aws-service-name spot\.amazonaws\.com/,
  ],
  ['InvalidAMIID.NotFound', providerErrors.Denied],
  ['InternalError', providerErrors.Unreachable],
  ['Unavailable', providerErrors.Unreachable],
  ['SomethingNew', providerErrors.Denied],
];

test('what EC2 says of a launch chooses what happens next, by its code', async (t) => {
  const aws = await standInAws(t);
  const provider = providerOf(aws, { clock: fastClock });
  for (const [code, error, words = /as AWS says it/] of rows) {
    aws.cloud.faults.add({ fault: 'refuse', call: 'RunInstances', code, message: 'as AWS says it', times: 1 });
    const failure = await provider.launch(ask(code), never).then(
      () => assert.fail(`${code} was no refusal`),
      (thrown: unknown) => thrown,
    );
    assert.ok(failure instanceof MantaError, code);
    assert.equal(failure.code, error.code, code);
    assert.match(failure.message, words);
    assert.equal(failure.exit, 5);
  }
  assert.deepEqual(await provider.list(never), []);
});

test('a quota of CPUs or disks closes the region', async (t) => {
  const aws = await standInAws(t, {
    settings: { quotas: { instances: null, cpus_on_demand: 1, cpus_spot: 1, disk_gib: null } },
  });
  const provider = providerOf(aws);
  for (const market of ['on-demand', 'spot'] as const)
    await assert.rejects(
      provider.launch(ask(market, { market }), never),
      (error) => providerErrors.Quota.is(error) && error.data.closes === 'region' && error.data.zone === zone,
    );
});

test('a spot price above the limit of the file, and a type that the zone does not have, lead to the next offer', async (t) => {
  const aws = await standInAws(t);
  const cheap = clusterText({
    worker: ['InstanceMarketOptions: {MarketType: spot, SpotOptions: {MaxPrice: 0.001}}'],
  });
  await assert.rejects(providerOf(aws, { text: cheap }).launch(ask('cheap', { market: 'spot' }), never), {
    code: providerErrors.NoCapacity.code,
    message: /0\.001/,
  });
  const elsewhere = providerOf(aws, {
    text: clusterText().replaceAll('m5.large', 'p5.48xlarge'),
    prepared: (given) => preparedOf(given, {}, { instanceType: 'p5.48xlarge' }),
  });
  const zones = aws.world.zonesOf('us-west-2');
  const answers = await Promise.allSettled(zones.map((each) => elsewhere.launch(ask(each, { zone: each }), never)));
  assert.ok(answers.some((each) => each.status === 'rejected' && providerErrors.NoCapacity.is(each.reason)));
});

test('a missing permission is named with its action and resource, decoded where that is allowed', async (t) => {
  const aws = await standInAws(t);
  const may = (...actions: readonly string[]) =>
    aws.addUser(`user ${actions.length}`, {
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: [...actions], Resource: '*' }],
    });
  const denied = async (credentials: ReturnType<typeof may>, words: RegExp) =>
    assert.rejects(providerOf(aws, { credentials }).launch(ask('denied'), never), {
      code: providerErrors.Denied.code,
      message: words,
    });
  await denied(
    may('ec2:RunInstances', 'sts:DecodeAuthorizationMessage'),
    /no policy allows arn:aws:iam::123456789012:user\/user 2 the action ec2:CreateTags on arn:aws:ec2:us-west-2:123456789012:instance\/\*$/,
  );
  await denied(may('ec2:DescribeInstances'), /ec2:RunInstances on resource: arn:aws:ec2:us-west-2::image\/[^ ]+/);
  await assert.rejects(
    providerOf(aws, { credentials: may() }).list(never),
    (error: Error) => providerErrors.Denied.is(error) && !error.message.includes('Encoded'),
  );
});

test('a login that has expired is told with the command that renews it', async (t) => {
  const aws = await standInAws(t);
  aws.cloud.faults.add({ fault: 'refuse', code: 'RequestExpired', message: 'Request has expired.', times: 1 });
  const env = { ...aws.environment(), AWS_PROFILE: 'research' };
  const provider = providerOf(aws, { client: { identity: () => ({ kind: 'user', env }) } });
  await assert.rejects(provider.list(never), {
    code: awsErrors.LoginExpired.code,
    exit: 5,
    hint: /aws sso login --profile research/,
  });
});

test('a profile without credentials is told with how to log in', async (t) => {
  const aws = await standInAws(t);
  const { AWS_ENDPOINT_URL = '' } = aws.environment();
  const env = { AWS_ENDPOINT_URL, AWS_PROFILE: 'no-such-profile' };
  const provider = providerOf(aws, { client: { identity: () => ({ kind: 'user', env }) } });
  await assert.rejects(provider.list(never), { code: awsErrors.NoLogin.code, hint: /--profile no-such-profile/ });
});

test('no answer, half of one, and one from something else are no refusals', async (t) => {
  const aws = await standInAws(t);
  const provider = providerOf(aws);
  for (const fault of ['lost-request', 'lost-answer', 'server-error'] as const) {
    aws.cloud.faults.add({ fault, call: 'RunInstances', times: 1 });
    await assert.rejects(provider.launch(ask(fault), never), { code: providerErrors.Unreachable.code }, fault);
  }
  aws.cloud.faults.add({ fault: 'half-list', times: 1 });
  await assert.rejects(provider.list(never), { code: providerErrors.Unreachable.code });
});
