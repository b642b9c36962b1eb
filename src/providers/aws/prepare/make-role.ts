import {
  AddRoleToInstanceProfileCommand,
  AttachRolePolicyCommand,
  CreateInstanceProfileCommand,
  CreateRoleCommand,
  PutRolePolicyCommand,
} from '@aws-sdk/client-iam';
import { doubling, retry } from '../../../base/time/retry.ts';
import { allOf } from '../../all-of.ts';
import { awsErrors } from '../errors.ts';
import { policyName, type RoleLook } from './head-role.ts';
import { ec2Service } from './policies.ts';
import { isCode, isDenied, refusedAction } from './refused.ts';
import type { Scene } from './scene.ts';

const isAbsent = isCode('NoSuchEntity');
const isThere = isCode('EntityAlreadyExists');

/** What was made is not known everywhere in IAM at once. */
const knownWithin = 60_000;

/** Makes what is missing of the role; each step finds what an earlier one made. */
export async function makeRole(scene: Scene, { own }: RoleLook): Promise<void> {
  if (own === undefined) return;
  const { name } = own;
  try {
    await allOf([
      own.lacksProfile && createProfile(scene, name),
      (own.lacksMember || own.lacksPolicy) && createRole(scene, name),
    ]);
    await allOf([own.lacksMember && addMember(scene, name), own.lacksPolicy && putPolicy(scene, name, own.policy)]);
    // By now the role is known: what IAM does not know is the policy.
    await allOf(own.attach.map((arn) => attach(scene, name, arn)));
  } catch (error) {
    if (!isDenied(error)) throw error;
    const denied = refusedAction(error, 'iam:CreateRole');
    throw awsErrors.RoleDenied({ ...denied, role: name, policy: own.policy }, error);
  }
}

/** Asks again while IAM does not know yet what was just made. */
async function settled<Value>({ request: { clock }, signal }: Scene, work: () => Promise<Value>): Promise<Value> {
  const start = clock.now();
  return await retry(work, {
    clock,
    signal,
    pause: doubling(500, 5_000),
    again: (error) => isAbsent(error) && clock.now() - start < knownWithin,
  });
}

async function unlessThere(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isThere(error)) throw error;
  }
}

const createProfile = async (scene: Scene, name: string): Promise<void> =>
  await unlessThere(() =>
    scene.ask('iam:CreateInstanceProfile', (options) =>
      scene.aws.iam.send(new CreateInstanceProfileCommand({ InstanceProfileName: name, Tags: scene.tags }), options),
    ),
  );

const trust = (region: string): string =>
  JSON.stringify({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Principal: { Service: ec2Service(region) }, Action: 'sts:AssumeRole' }],
  });

const createRole = async (scene: Scene, name: string): Promise<void> =>
  await unlessThere(() =>
    scene.ask('iam:CreateRole', (options) =>
      scene.aws.iam.send(
        new CreateRoleCommand({
          RoleName: name,
          AssumeRolePolicyDocument: trust(scene.region),
          Description: 'Head of a Ray cluster, made by Manta',
          Tags: scene.tags,
        }),
        options,
      ),
    ),
  );

async function addMember(scene: Scene, name: string): Promise<void> {
  try {
    await settled(scene, () =>
      scene.ask('iam:AddRoleToInstanceProfile', (options) =>
        scene.aws.iam.send(new AddRoleToInstanceProfileCommand({ InstanceProfileName: name, RoleName: name }), options),
      ),
    );
  } catch (error) {
    // A profile has one role, and this one has it already.
    if (!isCode('LimitExceeded')(error)) throw error;
  }
}

const putPolicy = async (scene: Scene, name: string, policy: string): Promise<unknown> =>
  await settled(scene, () =>
    scene.ask('iam:PutRolePolicy', (options) =>
      scene.aws.iam.send(
        new PutRolePolicyCommand({ RoleName: name, PolicyName: policyName, PolicyDocument: policy }),
        options,
      ),
    ),
  );

async function attach(scene: Scene, name: string, arn: string): Promise<void> {
  try {
    await scene.ask('iam:AttachRolePolicy', (options) =>
      scene.aws.iam.send(new AttachRolePolicyCommand({ RoleName: name, PolicyArn: arn }), options),
    );
  } catch (error) {
    if (!isCode('NoSuchEntity', 'InvalidInput')(error)) throw error;
    const index = scene.spec.provider.manta.headPolicies.indexOf(arn);
    throw awsErrors.NoPolicy({ at: ['provider', 'manta', 'head_policies', index], policy: arn }, error);
  }
}
