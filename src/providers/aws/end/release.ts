import { DeleteKeyPairCommand, DeleteSecurityGroupCommand } from '@aws-sdk/client-ec2';
import {
  DeleteInstanceProfileCommand,
  DeleteRoleCommand,
  DeleteRolePolicyCommand,
  DetachRolePolicyCommand,
  type InstanceProfile,
  ListAttachedRolePoliciesCommand,
  ListRolePoliciesCommand,
  RemoveRoleFromInstanceProfileCommand,
} from '@aws-sdk/client-iam';
import { messageOf } from '../../../base/errors.ts';
import type { Duration } from '../../../base/time/clock.ts';
import { doubling, retry } from '../../../base/time/retry.ts';
import { allOf } from '../../all-of.ts';
import { providerErrors } from '../../errors.ts';
import type { AwsCalls } from '../client/calls.ts';
import type { AwsClient } from '../client/client.ts';
import { awsCode } from '../client/refusals.ts';
import { ofCluster } from '../tags.ts';
import { findOwnRole, taggedKeys } from './belongings.ts';
import { cancelSpotRequests } from './ending.ts';
import { findGroups } from './remains.ts';

/** How long instances that have ended may still hold on to a group. */
const groupsGoWithin: Duration = 90_000;

/** What is deleted already, or is not to be found. */
const gone: ReadonlySet<string | undefined> = new Set([
  'NoSuchEntity',
  'InvalidGroup.NotFound',
  'InvalidGroupId.Malformed',
  'InvalidKeyPair.NotFound',
]);

/**
 * Deletes what was made for the cluster, found by its tag: a machine that has only the file does it, too. What cannot be
 * deleted stays, and `remains` names it. Returns why, by kind and id or by kind alone.
 */
export async function releaseMade(calls: AwsCalls, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const { aws, client } = calls;
  const refused = new Map<string, string>();
  const left = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      // That it did not happen is told by looking; that AWS did not answer is an error.
      if (gone.has(awsCode(error))) return;
      if (!providerErrors.Denied.is(error)) throw error;
      refused.set(what, messageOf(error));
    }
  };
  const removeKeys = async (): Promise<void> => {
    for (const { KeyPairId: id = '' } of await taggedKeys(aws, ofCluster(client.clusterId), signal))
      await left(`key pair ${id}`, () => removeKey(calls, id, signal));
  };
  const removeGroups = async (): Promise<void> => {
    for (const { id, keeps } of await findGroups(calls, signal))
      await left(`security group ${id}`, () =>
        removeGroup(calls, id, keeps === undefined ? groupsGoWithin : 0, signal),
      );
  };
  const removeOwnRole = async (): Promise<void> => {
    const { role, profile } = await findOwnRole(calls, signal);
    // A role goes after the profile that has it.
    if (profile)
      await left(`instance profile ${profile.InstanceProfileName}`, () => removeProfile(calls, profile, signal));
    if (role?.RoleName !== undefined)
      await left(`role ${role.RoleName}`, () => removeRole(calls, role.RoleName!, signal));
  };
  await left('spot request', () => cancelSpotRequests(calls, undefined, signal));
  await allOf([removeKeys(), removeGroups(), removeOwnRole()]);
  return refused;
}

/** How often a thing is deleted while no answer comes. */
const mostTries = 4;

/** Deletes one thing. Where no answer came it is deleted again: what is gone by then has been deleted. */
async function removed(
  { aws, clock }: AwsCalls,
  call: string,
  send: Parameters<AwsClient['askPatiently']>[1],
  signal: AbortSignal,
): Promise<void> {
  try {
    await retry(() => aws.askPatiently({ call }, send, signal), {
      clock,
      signal,
      pause: doubling(250, 2_000),
      again: (error, tries) => providerErrors.Unreachable.is(error) && tries < mostTries,
    });
  } catch (error) {
    if (!gone.has(awsCode(error))) throw error;
  }
}

async function removeKey(calls: AwsCalls, id: string, signal: AbortSignal): Promise<void> {
  const command = new DeleteKeyPairCommand({ KeyPairId: id });
  await removed(calls, 'DeleteKeyPair', (options) => calls.aws.ec2.send(command, options), signal);
}

/** EC2 refuses to delete a group that anybody uses. `patience`: for how long it is asked again. */
async function removeGroup(calls: AwsCalls, id: string, patience: Duration, signal: AbortSignal): Promise<void> {
  const { aws, clock } = calls;
  const until = clock.now() + patience;
  const command = new DeleteSecurityGroupCommand({ GroupId: id });
  await retry(() => removed(calls, 'DeleteSecurityGroup', (options) => aws.ec2.send(command, options), signal), {
    clock,
    signal,
    pause: doubling(500, 5_000),
    again: (error) => awsCode(error) === 'DependencyViolation' && clock.now() < until,
  });
}

async function removeProfile(
  calls: AwsCalls,
  { InstanceProfileName, Roles = [] }: InstanceProfile,
  signal: AbortSignal,
): Promise<void> {
  const profile = { InstanceProfileName };
  for (const { RoleName } of Roles) {
    const command = new RemoveRoleFromInstanceProfileCommand({ ...profile, RoleName });
    await removed(calls, 'RemoveRoleFromInstanceProfile', (options) => calls.aws.iam.send(command, options), signal);
  }
  const command = new DeleteInstanceProfileCommand(profile);
  await removed(calls, 'DeleteInstanceProfile', (options) => calls.aws.iam.send(command, options), signal);
}

async function removeRole(calls: AwsCalls, name: string, signal: AbortSignal): Promise<void> {
  const { aws } = calls;
  const role = { RoleName: name };
  const listOwn = new ListRolePoliciesCommand(role);
  const own = await aws.askPatiently({ call: 'ListRolePolicies' }, (options) => aws.iam.send(listOwn, options), signal);
  for (const PolicyName of own.PolicyNames ?? []) {
    const command = new DeleteRolePolicyCommand({ ...role, PolicyName });
    await removed(calls, 'DeleteRolePolicy', (options) => aws.iam.send(command, options), signal);
  }
  const listAttached = new ListAttachedRolePoliciesCommand(role);
  const attached = await aws.askPatiently(
    { call: 'ListAttachedRolePolicies' },
    (options) => aws.iam.send(listAttached, options),
    signal,
  );
  for (const { PolicyArn } of attached.AttachedPolicies ?? []) {
    const command = new DetachRolePolicyCommand({ ...role, PolicyArn });
    await removed(calls, 'DetachRolePolicy', (options) => aws.iam.send(command, options), signal);
  }
  const command = new DeleteRoleCommand(role);
  await removed(calls, 'DeleteRole', (options) => aws.iam.send(command, options), signal);
}
