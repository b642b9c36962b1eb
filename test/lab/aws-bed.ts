// needs: botocore

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { EC2 } from '@aws-sdk/client-ec2';
import { IAM } from '@aws-sdk/client-iam';
import { Pricing } from '@aws-sdk/client-pricing';
import { SSM } from '@aws-sdk/client-ssm';
import { STS } from '@aws-sdk/client-sts';
import { type Aws, type AwsOptions, openStandInAws } from '../../lab/aws/open.ts';
import type { Credentials } from '../../lab/aws/principals.ts';
import { until } from '../contract/waiting.ts';

export interface Clients {
  readonly ec2: EC2;
  readonly iam: IAM;
  readonly sts: STS;
  readonly ssm: SSM;
  readonly pricing: Pricing;
  destroy(): void;
}

/** The official clients, which ask once and give up. */
export function clientsOf(endpoint: string, credentials: Credentials, region = 'us-west-2'): Clients {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const given = { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
  const options = { endpoint, region, credentials: given, maxAttempts: 1 };
  const clients = {
    ec2: new EC2(options),
    iam: new IAM(options),
    sts: new STS(options),
    ssm: new SSM(options),
    pricing: new Pricing({ ...options, region: 'us-east-1' }),
  };
  return {
    ...clients,
    destroy: () => {
      for (const client of Object.values(clients)) client.destroy();
    },
  };
}

export async function awsBed(t: TestContext, options: AwsOptions = {}) {
  const aws = await openStandInAws(options);
  t.after(() => aws.close());
  const as = (credentials: Credentials, region?: string): Clients => {
    const clients = clientsOf(aws.localEndpoint, credentials, region);
    t.after(() => clients.destroy());
    return clients;
  };
  const clients = as(aws.credentials);
  const image = imageOf(aws);
  const run = async (more: object = {}) => {
    const asked = { MinCount: 1, MaxCount: 1, ImageId: image, InstanceType: 'm5.large' as const, ...more };
    return (await clients.ec2.runInstances(asked)).Instances ?? [];
  };
  const describe = async (more: object = {}) =>
    (await clients.ec2.describeInstances(more)).Reservations!.flatMap(({ Instances }) => Instances ?? []);
  const state = async (id: string) => (await describe({ InstanceIds: [id] }))[0]?.State?.Name;
  const reaches = (id: string, wanted: string) => until(`${id} is ${wanted}`, async () => (await state(id)) === wanted);
  return { ...aws, ...clients, as, image, run, describe, state, reaches };
}

/** A current image of Ubuntu. */
export const imageOf = ({ world }: Aws, region = 'us-west-2', arch = 'amd64'): string =>
  world.parameters.get(
    `${region}/aws/service/canonical/ubuntu/server/24.04/stable/current/${arch}/hvm/ebs-gp3/ami-id`,
  )!;

/** That a call is refused with this code, and with these words where they are given. */
export async function refused(call: Promise<unknown>, code: string, words?: RegExp, status?: number): Promise<Error> {
  const error = await call.then(
    () => assert.fail(`the call was not refused with ${code}`),
    (each: Error & { $metadata?: { httpStatusCode?: number }; Code?: string }) => each,
  );
  assert.equal(error.name, code, error.message);
  if (words !== undefined) assert.match(error.message, words);
  if (status !== undefined) assert.equal(error.$metadata?.httpStatusCode, status);
  return error;
}
