import type { InstanceProfile, Role as ShownRole } from '@aws-sdk/client-iam';
import type { Profile, Role } from '../cloud/belongings.ts';
import type { Caller } from './caller.ts';
import { readTags, requestTags, type Tags, writeTags } from './ec2/listing.ts';
import { profileArn } from './ec2/write-instance.ts';
import { awsError } from './errors.ts';
import type { IamHandlers } from './handlers.ts';
import { type Conditions, judge, managedPolicies, readPolicy } from './policy.ts';
import { randomId } from './principals.ts';

export const roleArn = ({ account, path, name }: Pick<Role, 'account' | 'path' | 'name'>): string =>
  `arn:aws:iam::${account}:role${path}${name}`;

/** IAM keeps documents as URLs keep text. */
const stored = (document: string): string => encodeURIComponent(document);

const writeRole = (role: Role): ShownRole => ({
  RoleName: role.name,
  RoleId: role.id,
  Arn: roleArn(role),
  Path: role.path,
  CreateDate: new Date(role.createdAt),
  AssumeRolePolicyDocument: stored(role.trust),
  Description: role.description,
  MaxSessionDuration: 3600,
  Tags: writeTags(role.tags) as { Key: string; Value: string }[],
});

function writeProfile(caller: Caller, profile: Profile): InstanceProfile {
  const role = profile.role === undefined ? undefined : caller.world.role(caller.account, profile.role);
  return {
    InstanceProfileName: profile.name,
    InstanceProfileId: profile.id,
    Arn: profileArn(profile),
    Path: profile.path,
    CreateDate: new Date(profile.createdAt),
    Roles: role === undefined ? [] : [writeRole(role)],
    Tags: writeTags(profile.tags) as { Key: string; Value: string }[],
  };
}

const mayRole = (caller: Caller, name: string, tags: Tags = {}, path = '/'): void =>
  caller.may(roleArn({ account: caller.account, path, name }), requestTags(tags));
const mayProfile = (caller: Caller, name: string, tags: Tags = {}): void =>
  caller.may(profileArn({ account: caller.account, path: '/', name }), requestTags(tags));

function roleOf(caller: Caller, name = '', about: Conditions = {}): Role {
  const path = caller.world.role(caller.account, name)?.path ?? '/';
  caller.may(roleArn({ account: caller.account, path, name }), about);
  const found = caller.world.role(caller.account, name);
  if (found === undefined) throw awsError('NoSuchEntity', `The role with name ${name} cannot be found.`);
  return found;
}

function profileOf(caller: Caller, name = ''): Profile {
  mayProfile(caller, name);
  const found = caller.world.profile(caller.account, name);
  if (found === undefined) throw awsError('NoSuchEntity', `Instance Profile ${name} cannot be found.`);
  return found;
}

function addRole(caller: Caller, has: Pick<Role, 'name' | 'path' | 'trust' | 'description' | 'tags'>): Role {
  const { account, world } = caller;
  const base = { account, createdAt: world.now(), attached: [], own: new Map<string, string>() };
  return world.cloud.has.roles.add({ ...base, ...has, id: randomId('AROA') });
}

export const iamHandlers: IamHandlers = {
  GetRole: ({ RoleName: name }, caller) => ({ Role: writeRole(roleOf(caller, name)) }),

  CreateRole(request, caller) {
    const { RoleName: name = '', Path: path = '/', AssumeRolePolicyDocument: trust = '' } = request;
    const tags = readTags(request.Tags);
    mayRole(caller, name, tags, path);
    readPolicy(trust);
    if (caller.world.role(caller.account, name) !== undefined)
      throw awsError('EntityAlreadyExists', `Role with name ${name} already exists.`);
    caller.commit();
    return { Role: writeRole(addRole(caller, { name, path, trust, description: request.Description, tags })) };
  },

  DeleteRole({ RoleName: name }, caller) {
    const role = roleOf(caller, name);
    const { profiles, roles } = caller.world.cloud.has;
    if (role.attached.length > 0)
      throw awsError('DeleteConflict', 'Cannot delete entity, must detach all policies first.');
    if (role.own.size > 0) throw awsError('DeleteConflict', 'Cannot delete entity, must delete policies first.');
    if (profiles.of(caller.account).some((profile) => profile.role === role.name))
      throw awsError('DeleteConflict', 'Cannot delete entity, must remove roles from instance profile first.');
    caller.commit();
    roles.delete(role.id);
    return {};
  },

  ListRoles(_request, caller) {
    caller.may();
    return { Roles: caller.world.cloud.has.roles.of(caller.account).map(writeRole), IsTruncated: false };
  },

  ListRoleTags({ RoleName: name }, caller) {
    return { Tags: writeTags(roleOf(caller, name).tags) as { Key: string; Value: string }[], IsTruncated: false };
  },

  TagRole({ RoleName: name, Tags: given }, caller) {
    const role = roleOf(caller, name);
    const tags = readTags(given);
    caller.commit();
    role.tags = { ...role.tags, ...tags };
    return {};
  },

  AttachRolePolicy({ RoleName: name, PolicyArn: arn = '' }, caller) {
    const role = roleOf(caller, name, { 'iam:PolicyARN': [arn] });
    if (!arn.startsWith('arn:aws:iam::aws:policy/') || !managedPolicies.has(arn.slice(arn.lastIndexOf('/') + 1)))
      throw awsError('NoSuchEntity', `Policy ${arn} does not exist or is not attachable.`);
    caller.commit();
    if (!role.attached.includes(arn)) role.attached = [...role.attached, arn];
    return {};
  },

  DetachRolePolicy({ RoleName: name, PolicyArn: arn }, caller) {
    const role = roleOf(caller, name, { 'iam:PolicyARN': [arn ?? ''] });
    if (!role.attached.includes(arn ?? '')) throw awsError('NoSuchEntity', `Policy ${arn} was not found.`);
    caller.commit();
    role.attached = role.attached.filter((each) => each !== arn);
    return {};
  },

  ListAttachedRolePolicies({ RoleName: name }, caller) {
    const role = roleOf(caller, name);
    return {
      AttachedPolicies: role.attached.map((arn) => ({
        PolicyArn: arn,
        PolicyName: arn.slice(arn.lastIndexOf('/') + 1),
      })),
      IsTruncated: false,
    };
  },

  PutRolePolicy({ RoleName: name, PolicyName: policy = '', PolicyDocument: document = '' }, caller) {
    const role = roleOf(caller, name);
    readPolicy(document);
    if (document.replace(/\s/g, '').length > 10_240)
      throw awsError('LimitExceeded', `Maximum policy size of 10240 bytes exceeded for role ${role.name}`);
    caller.commit();
    role.own.set(policy, document);
    return {};
  },

  GetRolePolicy({ RoleName: name, PolicyName: policy = '' }, caller) {
    const role = roleOf(caller, name);
    const document = role.own.get(policy);
    if (document === undefined) throw awsError('NoSuchEntity', `The role policy with name ${policy} cannot be found.`);
    return { RoleName: role.name, PolicyName: policy, PolicyDocument: stored(document) };
  },

  DeleteRolePolicy({ RoleName: name, PolicyName: policy = '' }, caller) {
    const role = roleOf(caller, name);
    if (!role.own.has(policy)) throw awsError('NoSuchEntity', `The role policy with name ${policy} cannot be found.`);
    caller.commit();
    role.own.delete(policy);
    return {};
  },

  ListRolePolicies: ({ RoleName: name }, caller) => ({
    PolicyNames: [...roleOf(caller, name).own.keys()],
    IsTruncated: false,
  }),

  GetInstanceProfile: ({ InstanceProfileName: name }, caller) => ({
    InstanceProfile: writeProfile(caller, profileOf(caller, name)),
  }),

  CreateInstanceProfile(request, caller) {
    const { InstanceProfileName: name = '', Path: path = '/' } = request;
    const tags = readTags(request.Tags);
    const { account, world } = caller;
    mayProfile(caller, name, tags);
    if (world.profile(account, name) !== undefined)
      throw awsError('EntityAlreadyExists', `Instance Profile ${name} already exists.`);
    caller.commit();
    const base = { account, createdAt: world.now(), tags, name, path, role: undefined };
    return { InstanceProfile: writeProfile(caller, world.cloud.has.profiles.add({ ...base, id: randomId('AIPA') })) };
  },

  DeleteInstanceProfile({ InstanceProfileName: name }, caller) {
    const profile = profileOf(caller, name);
    if (profile.role !== undefined)
      throw awsError('DeleteConflict', 'Cannot delete entity, must remove roles from instance profile first.');
    caller.commit();
    caller.world.cloud.has.profiles.delete(profile.id);
    return {};
  },

  AddRoleToInstanceProfile({ InstanceProfileName: name, RoleName: roleName }, caller) {
    const profile = profileOf(caller, name);
    const { account, world } = caller;
    const role = world.role(account, roleName ?? '');
    if (role === undefined) throw awsError('NoSuchEntity', `The role with name ${roleName} cannot be found.`);
    caller.may(roleArn(role), { 'iam:PassedToService': ['ec2.amazonaws.com'] }, 'iam:PassRole');
    if (profile.role !== undefined)
      throw awsError('LimitExceeded', 'Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1');
    caller.commit();
    profile.role = role.name;
    return {};
  },

  RemoveRoleFromInstanceProfile({ InstanceProfileName: name, RoleName: role }, caller) {
    const profile = profileOf(caller, name);
    if (profile.role !== role) throw awsError('NoSuchEntity', `Role ${role} cannot be found in ${name}.`);
    caller.commit();
    profile.role = undefined;
    return {};
  },

  ListInstanceProfilesForRole({ RoleName: name }, caller) {
    const role = roleOf(caller, name);
    const found = caller.world.cloud.has.profiles.of(caller.account).filter((profile) => profile.role === role.name);
    return { InstanceProfiles: found.map((profile) => writeProfile(caller, profile)), IsTruncated: false };
  },

  CreateServiceLinkedRole({ AWSServiceName: service = '' }, caller) {
    const name = serviceRoles[service];
    const path = `/aws-service-role/${service}/`;
    const of = { 'iam:AWSServiceName': [service] };
    caller.may(roleArn({ account: caller.account, path, name: name ?? '*' }), of);
    if (name === undefined) throw awsError('InvalidInput', `${service} is not a valid AWS service principal`);
    if (caller.world.role(caller.account, name) !== undefined)
      throw awsError(
        'InvalidInput',
        `Service role name ${name} has been taken in this account, please try a different suffix.`,
      );
    caller.commit();
    return { Role: writeRole(addRole(caller, { name, path, trust: '{}', description: undefined, tags: {} })) };
  },

  /** For the caller alone, or a role of the account. */
  SimulatePrincipalPolicy(request, caller) {
    caller.may();
    const source = request.PolicySourceArn ?? '';
    const role = caller.world.cloud.has.roles.of(caller.account).find((each) => roleArn(each) === source);
    if (role === undefined && source !== caller.principal.arn)
      throw awsError('NoSuchEntity', `The policy source ${source} cannot be found.`);
    const policies = role === undefined ? caller.principal.policies() : caller.world.policiesOf(role);
    const conditions = Object.fromEntries(
      (request.ContextEntries ?? []).map(({ ContextKeyName: key = '', ContextKeyValues: values = [] }) => [
        key,
        values,
      ]),
    );
    const resources = request.ResourceArns?.length ? request.ResourceArns : ['*'];
    return {
      EvaluationResults: (request.ActionNames ?? []).flatMap((action) =>
        resources.map((resource) => {
          const verdict = judge(policies, { action, resource, conditions });
          return {
            EvalActionName: action,
            EvalResourceName: resource,
            EvalDecision:
              verdict === 'allowed'
                ? ('allowed' as const)
                : verdict === 'denied'
                  ? ('explicitDeny' as const)
                  : ('implicitDeny' as const),
            MatchedStatements: [],
            MissingContextValues: [],
          };
        }),
      ),
      IsTruncated: false,
    };
  },
};

const serviceRoles: Readonly<Record<string, string>> = {
  'spot.amazonaws.com': 'AWSServiceRoleForEC2Spot',
  'spotfleet.amazonaws.com': 'AWSServiceRoleForEC2SpotFleet',
  'autoscaling.amazonaws.com': 'AWSServiceRoleForAutoScaling',
};
