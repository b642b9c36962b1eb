import {
  GetInstanceProfileCommand,
  GetRolePolicyCommand,
  type InstanceProfile,
  ListAttachedRolePoliciesCommand,
  SimulatePrincipalPolicyCommand,
} from '@aws-sdk/client-iam';
import { mapOf } from '../../../core/spec/plain.ts';
import type { Path } from '../../../core/spec/problem.ts';
import { awsErrors } from '../errors.ts';
import { clusterIdTag } from '../tags.ts';
import { accountOf, type FileType, headOf, type ProfileName, plainName, profileIn } from './file-types.ts';
import { headRoleName } from './ownership.ts';
import { headPolicy, partitionOf, rayRole, usesBlocks, workerProfiles } from './policies.ts';
import { isCode, isDenied } from './refused.ts';
import type { Scene, Told } from './scene.ts';

/** As what the head will ask AWS. */
export interface RoleLook extends Told {
  /** Absent where the head asks with keys that the file has. */
  readonly profile?: ProfileName;
  readonly own?: OwnRole;
}

/** The role that Manta makes for a head, and what of it is still missing. */
interface OwnRole {
  readonly name: string;
  readonly policy: string;
  readonly lacksProfile: boolean;
  readonly lacksMember: boolean;
  readonly lacksPolicy: boolean;
  readonly attach: readonly string[];
  /** When its profile was made, where it is there. */
  readonly madeAt?: number;
}

/** Of the policy in the role itself. */
export const policyName = 'manta';
const isAbsent = isCode('NoSuchEntity');

export async function lookForRole(
  scene: Scene,
  types: readonly FileType[],
  account: Promise<string>,
): Promise<RoleLook> {
  const workers = await lookAtWorkers(scene, types, account);
  const given = profileIn(headOf(types).config);
  const extra = scene.spec.provider.manta.headPolicies;
  const unused = (role: string): readonly string[] =>
    extra.length > 0 ? [`head_policies has no effect: the head uses ${role}, which Manta did not create`] : [];
  if (given !== undefined)
    return await givenProfile(scene, types, { profile: given, account, warnings: unused(plainName(given)) });
  const keys = Object.values(mapOf(scene.spec.provider.config.aws_credentials));
  if (keys.some((value) => value !== null)) return { steps: [], warnings: unused('aws_credentials') };
  const own = headRoleName(scene.request);
  const [ray, made, document, attached] = await Promise.all([
    askProfile(scene, rayRole),
    askProfile(scene, own),
    askPolicy(scene, own),
    askAttached(scene, own, extra),
  ]);
  if (ray !== undefined && made === undefined)
    return {
      profile: { Name: rayRole },
      steps: [{ what: 'role of the head', action: 'found', id: rayRole, note: 'as Ray made it' }],
      warnings: [...unused(rayRole), ...(await passRoleWarnings(scene, types, ray))],
    };
  const policy = headPolicy({
    region: scene.region,
    account: await account,
    tag: { key: clusterIdTag, value: scene.request.clusterId },
    workerRoles: workerRoles(scene.region, workers, await account),
    usesBlocks: usesBlocks(types),
  });
  return ownRole(own, { policy, document, made, attach: extra.filter((arn) => !attached.includes(arn)) });
}

interface Found {
  readonly policy: string;
  readonly document: string | undefined;
  readonly made: InstanceProfile | undefined;
  readonly attach: readonly string[];
}

function ownRole(name: string, { policy, document, made, attach }: Found): RoleLook {
  const own: OwnRole = {
    ...{ name, policy, attach },
    lacksProfile: made === undefined,
    lacksMember: (made?.Roles ?? []).length === 0,
    lacksPolicy: document !== policy,
    ...(made?.CreateDate && { madeAt: made.CreateDate.getTime() }),
  };
  const lacks = own.lacksPolicy || own.lacksMember || attach.length > 0;
  const action = own.lacksProfile ? 'create' : lacks ? 'change' : 'found';
  const note =
    'it can only run this cluster: unlike the role that Ray creates, it has no access to S3; list more policies in provider.manta.head_policies';
  return {
    own,
    profile: { Name: name },
    steps: [{ what: 'role of the head', action, id: name, ...(attach.length === 0 && { note }) }],
    warnings: [],
  };
}

async function givenProfile(
  scene: Scene,
  types: readonly FileType[],
  { profile, account, warnings }: { profile: ProfileName; account: Promise<string>; warnings: readonly string[] },
): Promise<RoleLook> {
  const name = plainName(profile);
  const step = { what: 'role of the head', action: 'found', id: name, note: 'as the file says' } as const;
  const found = await namedProfile(scene, profile, [...headOf(types).at, 'IamInstanceProfile'], account);
  const more = found !== undefined && name === rayRole ? await passRoleWarnings(scene, types, found) : [];
  return { profile, steps: [step], warnings: [...warnings, ...more] };
}

async function askProfile(scene: Scene, name: string): Promise<InstanceProfile | undefined> {
  return await unlessAbsent(async () => {
    const answer = await scene.ask('iam:GetInstanceProfile', (options) =>
      scene.aws.iam.send(new GetInstanceProfileCommand({ InstanceProfileName: name }), options),
    );
    return answer.InstanceProfile;
  });
}

async function askPolicy(scene: Scene, role: string): Promise<string | undefined> {
  return await unlessAbsent(async () => {
    const { PolicyDocument: text } = await scene.ask('iam:GetRolePolicy', (options) =>
      scene.aws.iam.send(new GetRolePolicyCommand({ RoleName: role, PolicyName: policyName }), options),
    );
    // IAM keeps documents as URLs keep text.
    return decodeURIComponent(text ?? '');
  });
}

async function askAttached(scene: Scene, role: string, wanted: readonly string[]): Promise<readonly string[]> {
  if (wanted.length === 0) return [];
  const found = await unlessAbsent(
    async () =>
      await scene.ask('iam:ListAttachedRolePolicies', (options) =>
        scene.aws.iam.send(new ListAttachedRolePoliciesCommand({ RoleName: role }), options),
      ),
  );
  return (found?.AttachedPolicies ?? []).flatMap(({ PolicyArn: arn }) => arn ?? []);
}

async function unlessAbsent<Value>(ask: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** A profile of the file; undefined where it may not be looked at. Throws where there is none. */
async function namedProfile(
  scene: Scene,
  profile: ProfileName,
  at: Path,
  account: Promise<string>,
): Promise<InstanceProfile | undefined> {
  const name = plainName(profile);
  const missing = awsErrors.NoProfile({ at, profile: name });
  // One of the same name in this account is another one.
  if ((accountOf(profile) ?? (await account)) !== (await account)) return undefined;
  try {
    const found = await askProfile(scene, name);
    if (found === undefined) throw missing;
    return found;
  } catch (error) {
    // So IAM calls what cannot be a name.
    if (isCode('ValidationError')(error)) throw missing;
    // Many who may pass on a role may not look at it.
    if (!isDenied(error)) throw error;
    return undefined;
  }
}

type WorkerProfiles = ReadonlyMap<string, InstanceProfile | undefined>;

/** The profiles of workers by name; undefined where they may not be looked at. Throws for one that does not exist. */
async function lookAtWorkers(
  scene: Scene,
  types: readonly FileType[],
  account: Promise<string>,
): Promise<WorkerProfiles> {
  const found = workerProfiles(types).map(async (name): Promise<[string, InstanceProfile | undefined]> => {
    const { at, config } = types.find((type) => plainName(profileIn(type.config) ?? { Name: '' }) === name)!;
    return [name, await namedProfile(scene, profileIn(config)!, [...at, 'IamInstanceProfile'], account)];
  });
  return new Map(await Promise.all(found));
}

/** ARNs of the roles in the profiles of workers; where they may not be looked at, the console's way of naming counts. */
function workerRoles(region: string, workers: WorkerProfiles, account: string): readonly string[] {
  const found = [...workers].map(([name, profile]) => {
    const roles = (profile?.Roles ?? []).flatMap(({ Arn: arn }) => arn ?? []);
    return roles.length > 0 ? roles : [`arn:${partitionOf(region)}:iam::${account}:role/${name}`];
  });
  return [...new Set(found.flat())].sort();
}

/** Ray's own role may launch anything, but may not hand on a role to workers. */
async function passRoleWarnings(
  scene: Scene,
  types: readonly FileType[],
  { Roles: [role] = [] }: InstanceProfile,
): Promise<readonly string[]> {
  const profiles = workerProfiles(types);
  if (profiles.length === 0 || role?.Arn === undefined) return [];
  try {
    const { EvaluationResults: results = [] } = await scene.ask('iam:SimulatePrincipalPolicy', (options) =>
      scene.aws.iam.send(
        new SimulatePrincipalPolicyCommand({ PolicySourceArn: role.Arn, ActionNames: ['iam:PassRole'] }),
        options,
      ),
    );
    if (results.every(({ EvalDecision }) => EvalDecision === 'allowed')) return [];
  } catch (error) {
    if (isDenied(error)) return [];
    throw error;
  }
  return [
    `role ${rayRole} lacks the permission iam:PassRole, so the head cannot launch workers with the instance profile ${profiles.join(', ')}; add it, or name another profile for the head`,
  ];
}
