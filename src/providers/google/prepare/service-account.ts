import { doubling, retry } from '../../../base/time/retry.ts';
import { allOf } from '../../all-of.ts';
import type { PreparationStep } from '../../clouds.ts';
import { preparationErrors } from '../errors.ts';
import { accountDomain, ownAccount } from '../names.ts';
import { accountIn, hasAccount, headOf, type LaunchedType, scopesIn } from './file-types.ts';
import { headPermissions } from './permissions.ts';
import type { ProjectLook } from './project.ts';
import { isAbsent, isDenied, isStatus, isThere } from './refused.ts';
import type { GoogleScene, Looked } from './scene.ts';

export interface AccountLook extends Looked {
  /** What the head gets; undefined where the file gives it one. */
  readonly email: string | undefined;
  /** One that is made for this cluster, with what it lacks. */
  readonly own?: OwnAccount;
  readonly leaseDeletes: boolean;
}

interface OwnAccount {
  readonly id: string;
  readonly email: string;
  /** `projects/P/roles/R`. */
  readonly role: string;
  readonly permissions: readonly string[];
  readonly lacksAccount: boolean;
  /** A role that was deleted can be had back for some weeks, and its name is taken until then. */
  readonly lacksRole: 'all' | 'deleted' | 'permissions' | 'nothing';
  readonly lacksBinding: boolean;
}

interface Binding {
  readonly role: string;
  readonly members?: readonly string[];
  readonly condition?: unknown;
}

interface IamPolicy {
  readonly version?: number;
  readonly etag?: string;
  readonly bindings?: readonly Binding[];
}

export const scopes = ['https://www.googleapis.com/auth/cloud-platform'];

/** What Ray's own launcher makes. */
const rayAccount = (project: string): string => `ray-autoscaler-sa-v1@${accountDomain(project)}`;

/** The account of the head: that of the file, else Ray's own where it exists, else one with what a head needs. */
export async function lookAtAccount(
  scene: GoogleScene,
  types: readonly LaunchedType[],
  asked: Promise<ProjectLook>,
): Promise<AccountLook> {
  const head = headOf(types);
  const given = hasAccount(head.config);
  const email = rayAccount(scene.project);
  const [policy, isRays, { defaultAccount }] = await allOf([
    askPolicy(scene),
    given ? false : exists(scene, email),
    asked,
    checkNamed(scene, types),
  ]);
  const lease = leaseOf(types, policy, defaultAccount);
  const told = { leaseDeletes: lease.length === 0, warnings: leaseWarnings(lease) };
  if (given) {
    const id = accountIn(head.config);
    const step: PreparationStep = { what: 'service account of the head', action: 'found', note: 'as the file says' };
    return { ...told, email: undefined, steps: [{ ...step, ...(id !== undefined && { id }) }] };
  }
  if (isRays) {
    const warnings = [...told.warnings, ...rayWarnings(scene, types, policy)];
    const step = { what: 'service account of the head', action: 'found', id: email, note: "Ray's own" } as const;
    return { ...told, email, steps: [step], warnings };
  }
  const own = await lookAtOwn(scene, types, policy);
  return { ...told, email: own.email, own, steps: [ownStep(own)] };
}

function ownStep({ email, lacksAccount, lacksRole, lacksBinding }: OwnAccount): PreparationStep {
  const whole = !lacksAccount && lacksRole === 'nothing' && !lacksBinding;
  const action = lacksAccount ? 'create' : whole ? 'found' : 'change';
  return {
    what: 'service account of the head',
    action,
    id: email,
    note: 'with a role that allows only what a head calls',
  };
}

async function exists(scene: GoogleScene, email: string): Promise<boolean> {
  try {
    await scene.ask({ call: 'iam.serviceAccounts.get', url: scene.iam(`serviceAccounts/${email}`) });
    return true;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

/** Accounts of the project that the file names: those of others may be used by those who may not read them. */
async function checkNamed(scene: GoogleScene, types: readonly LaunchedType[]): Promise<void> {
  const named = new Map(types.map((type) => [accountIn(type.config), type]));
  await allOf(
    [...named].map(async ([email, { at, isSlice }]) => {
      if (email === undefined || !email.endsWith(`@${accountDomain(scene.project)}`)) return;
      try {
        if (await exists(scene, email)) return;
      } catch (error) {
        if (isDenied(error)) return;
        throw error;
      }
      const key = isSlice ? 'serviceAccount' : 'serviceAccounts';
      throw preparationErrors.NoAccount({ at: [...at, key], email, id: email.split('@')[0]!, project: scene.project });
    }),
  );
}

async function lookAtOwn(
  scene: GoogleScene,
  types: readonly LaunchedType[],
  policy: IamPolicy | undefined,
): Promise<OwnAccount> {
  const { project, request } = scene;
  const { id, email, role } = ownAccount(project, request.cluster, request.clusterId);
  const permissions = headPermissions(scene.spec, types);
  const [isThereYet, found] = await allOf([exists(scene, email), askRole(scene, role)]);
  const bound = (policy?.bindings ?? []).some(
    (binding) => binding.role === role && binding.members?.includes(`serviceAccount:${email}`),
  );
  return {
    ...{ id, email, role, permissions },
    lacksAccount: !isThereYet,
    lacksRole: lackOf(found, permissions),
    lacksBinding: !bound,
  };
}

interface RoleAnswer {
  readonly includedPermissions?: readonly string[];
  readonly deleted?: boolean;
}

function lackOf(found: RoleAnswer | undefined, permissions: readonly string[]): OwnAccount['lacksRole'] {
  if (found === undefined) return 'all';
  if (found.deleted === true) return 'deleted';
  const has = new Set(found.includedPermissions);
  return has.size === permissions.length && permissions.every((each) => has.has(each)) ? 'nothing' : 'permissions';
}

/** A role of the project; undefined where there is none. */
async function askRole(scene: GoogleScene, role: string): Promise<RoleAnswer | undefined> {
  try {
    return await scene.ask<RoleAnswer>({ call: 'iam.roles.get', url: scene.iam(`roles/${role.split('/').at(-1)}`) });
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** Who may do what in the project; undefined where that may not be read. */
async function askPolicy(scene: GoogleScene): Promise<IamPolicy | undefined> {
  try {
    return await readPolicy(scene);
  } catch (error) {
    if (isDenied(error)) return undefined;
    throw error;
  }
}

const readPolicy = async (scene: GoogleScene): Promise<IamPolicy> =>
  await scene.ask<IamPolicy>({
    call: 'cloudresourcemanager.projects.getIamPolicy',
    method: 'POST',
    url: scene.resourceManager('getIamPolicy'),
    // Without it bindings with conditions are left out, and would be lost when the policy is written.
    body: { options: { requestedPolicyVersion: 3 } },
    reads: true,
  });

const hasRole = (policy: IamPolicy | undefined, email: string, roles: readonly string[]): boolean =>
  (policy?.bindings ?? []).some(
    ({ role, members = [] }) => roles.includes(role) && members.includes(`serviceAccount:${email}`),
  );

const whole = ['roles/owner', 'roles/editor'];
const deleting = {
  compute: [...whole, 'roles/compute.admin', 'roles/compute.instanceAdmin', 'roles/compute.instanceAdmin.v1'],
  tpu: [...whole, 'roles/tpu.admin'],
};

/** What a token must be for, whatever its account may do. */
const deletingScopes = new Set(scopes.concat('https://www.googleapis.com/auth/compute'));

/** Types whose workers may not delete themselves, as far as roles tell. */
function leaseOf(
  types: readonly LaunchedType[],
  policy: IamPolicy | undefined,
  defaultAccount: string | undefined,
): readonly LaunchedType[] {
  return types.filter(({ config, hasWorkers, isHead, isSlice }) => {
    if (!hasWorkers || isHead) return false;
    // A machine without an account in its request has none; a slice has that of the project.
    const account = accountIn(config) ?? (isSlice || hasAccount(config) ? defaultAccount : undefined);
    const email = account === 'default' ? defaultAccount : account;
    if (email === undefined || (!isSlice && !scopesIn(config).some((scope) => deletingScopes.has(scope)))) return true;
    return !hasRole(policy, email, isSlice ? deleting.tpu : deleting.compute);
  });
}

function leaseWarnings(types: readonly LaunchedType[]): readonly string[] {
  const names = (slices: boolean): string =>
    types
      .filter(({ isSlice }) => isSlice === slices)
      .map(({ name }) => name)
      .join(', ');
  const [machines, slices] = [names(false), names(true)];
  return [
    ...(machines === ''
      ? []
      : [
          `workers of ${machines} have no service account that may delete them: a worker that loses its head for good powers itself off, but you pay for its disk until \`manta down\``,
        ]),
    ...(slices === ''
      ? []
      : [
          `slices of ${slices} have no lease: their service account may not delete TPU nodes (roles/tpu.admin), so if the head is lost, you pay for them until \`manta down\``,
        ]),
  ];
}

/** Ray gives its account what it needs when it makes it, and TPUs only to clusters that have some. */
function rayWarnings(
  scene: GoogleScene,
  types: readonly LaunchedType[],
  policy: IamPolicy | undefined,
): readonly string[] {
  if (policy === undefined) return [];
  const email = rayAccount(scene.project);
  const needed = [
    'roles/compute.admin',
    'roles/iam.serviceAccountUser',
    ...(types.some(({ isSlice }) => isSlice) ? ['roles/tpu.admin'] : []),
  ];
  return needed
    .filter((role) => !hasRole(policy, email, [role, 'roles/owner']))
    .map(
      (role) =>
        `${email} lacks ${role}, so the head cannot do all of its work; run 'gcloud projects add-iam-policy-binding ${scene.project} --member serviceAccount:${email} --role ${role}'`,
    );
}

/** What was made is not known everywhere at once. */
const knownWithin = 60_000;

/** Makes what is missing of the account; each step finds what an earlier one made. */
export async function makeAccount(scene: GoogleScene, { own }: AccountLook): Promise<void> {
  if (own === undefined) return;
  await allOf([own.lacksAccount && createAccount(scene, own), makeRole(scene, own)]);
  if (own.lacksBinding || own.lacksAccount) await bind(scene, own);
}

async function createAccount(scene: GoogleScene, { id }: OwnAccount): Promise<void> {
  const { cluster, clusterId } = scene.request;
  try {
    await scene.ask({
      call: 'iam.serviceAccounts.create',
      method: 'POST',
      url: scene.iam('serviceAccounts'),
      body: {
        accountId: id,
        serviceAccount: {
          displayName: `Head of the Ray cluster ${cluster}`.slice(0, 100),
          description: `Made by Manta for the cluster ${cluster} (${clusterId}), and removed with it`.slice(0, 256),
        },
      },
    });
  } catch (error) {
    if (!isThere(error)) throw error;
  }
}

async function makeRole(scene: GoogleScene, { role, permissions, lacksRole }: OwnAccount): Promise<void> {
  if (lacksRole === 'nothing') return;
  const { cluster, clusterId } = scene.request;
  const roleId = role.split('/').at(-1)!;
  const change = async (): Promise<unknown> =>
    await scene.ask({
      call: 'iam.roles.patch',
      method: 'PATCH',
      url: scene.iam(`roles/${roleId}`),
      query: { updateMask: 'includedPermissions' },
      body: { includedPermissions: permissions },
    });
  if (lacksRole === 'deleted')
    await scene.ask({
      call: 'iam.roles.undelete',
      method: 'POST',
      url: scene.iam(`roles/${roleId}:undelete`),
      body: {},
    });
  if (lacksRole !== 'all') {
    await change();
    return;
  }
  const description = `Made by Manta for the cluster ${cluster} (${clusterId}), and removed with it`.slice(0, 256);
  try {
    await scene.ask({
      call: 'iam.roles.create',
      method: 'POST',
      url: scene.iam('roles'),
      body: {
        roleId,
        role: { title: `Head of ${cluster}`.slice(0, 100), description, includedPermissions: permissions, stage: 'GA' },
      },
    });
  } catch (error) {
    if (!isThere(error)) throw error;
    await change();
  }
}

/** Others change the policy too: it is read again then. A new account is not known to it for some seconds. */
async function bind(scene: GoogleScene, { role, email }: OwnAccount): Promise<void> {
  const { clock } = scene.request;
  const start = clock.now();
  await retry(
    async () => {
      const policy = await readPolicy(scene);
      const bindings = policy.bindings ?? [];
      const member = `serviceAccount:${email}`;
      if (bindings.some((each) => each.role === role && each.members?.includes(member))) return;
      await scene.ask({
        call: 'cloudresourcemanager.projects.setIamPolicy',
        method: 'POST',
        url: scene.resourceManager('setIamPolicy'),
        body: { policy: { ...policy, bindings: [...bindings, { role, members: [member] }] } },
      });
    },
    {
      clock,
      signal: scene.signal,
      pause: doubling(500, 5_000),
      again: (error) => isStatus(400, 404, 409)(error) && clock.now() - start < knownWithin,
    },
  );
}
