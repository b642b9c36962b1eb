import {
  DescribeKeyPairsCommand,
  DescribeSecurityGroupsCommand,
  type Filter,
  type KeyPairInfo,
  type SecurityGroup,
} from '@aws-sdk/client-ec2';
import { GetInstanceProfileCommand, GetRoleCommand, type InstanceProfile, type Role } from '@aws-sdk/client-iam';
import { providerErrors } from '../../errors.ts';
import type { AwsCalls } from '../client/calls.ts';
import type { AwsClient } from '../client/client.ts';
import { awsCode } from '../client/refusals.ts';
import { allPages } from '../list/listing.ts';
import { headOf, profileIn, typesInFile } from '../prepare/file-types.ts';
import { headRoleName, ownerOf } from '../prepare/ownership.ts';

/** Security groups by their tag. */
export async function taggedGroups(
  aws: AwsClient,
  filter: Filter,
  signal: AbortSignal,
): Promise<readonly SecurityGroup[]> {
  const call = 'DescribeSecurityGroups';
  return await allPages(
    call,
    (NextToken) => {
      const command = new DescribeSecurityGroupsCommand({ Filters: [filter], NextToken });
      return aws.askPatiently({ call }, (options) => aws.ec2.send(command, options), signal);
    },
    ({ SecurityGroups }) => SecurityGroups,
  );
}

/** Key pairs by their tag. */
export async function taggedKeys(aws: AwsClient, filter: Filter, signal: AbortSignal): Promise<readonly KeyPairInfo[]> {
  const call = 'DescribeKeyPairs';
  const command = new DescribeKeyPairsCommand({ Filters: [filter] });
  const { KeyPairs } = await aws.askPatiently({ call }, (options) => aws.ec2.send(command, options), signal);
  if (KeyPairs === undefined) throw providerErrors.Unreachable({ call, detail: 'the response has no list' });
  return KeyPairs;
}

/** What IAM has of the cluster. It has no list by tag: both are found by their name, and are the cluster's by their tag. */
export interface OwnRole {
  readonly role?: Role;
  readonly profile?: InstanceProfile;
}

export async function findOwnRole(calls: AwsCalls, signal: AbortSignal): Promise<OwnRole> {
  const { aws, client } = calls;
  const name = headRoleName(client);
  const [role, profile] = await Promise.all([
    seen(calls, async () => {
      const command = new GetRoleCommand({ RoleName: name });
      const about = { call: 'GetRole' };
      return (await aws.askPatiently(about, (options) => aws.iam.send(command, options), signal)).Role;
    }),
    seen(calls, async () => {
      const command = new GetInstanceProfileCommand({ InstanceProfileName: name });
      const about = { call: 'GetInstanceProfile' };
      return (await aws.askPatiently(about, (options) => aws.iam.send(command, options), signal)).InstanceProfile;
    }),
  ]);
  const isOwn = ({ Tags }: Role | InstanceProfile): boolean => ownerOf(Tags) === client.clusterId;
  return { ...(role && isOwn(role) && { role }), ...(profile && isOwn(profile) && { profile }) };
}

/** Who names a profile for the head need not be allowed to look for others. */
async function seen<Value>({ client, prepared }: AwsCalls, ask: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await ask();
  } catch (error) {
    const code = awsCode(error);
    if (code === 'NoSuchEntity') return undefined;
    const given = prepared?.headProfile ?? profileIn(headOf(typesInFile(client.spec())).config);
    if (code === 'AccessDenied' && given !== undefined && given.Name !== headRoleName(client)) return undefined;
    throw error;
  }
}
