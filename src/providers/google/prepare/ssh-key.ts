import { preparationErrors } from '../errors.ts';
import { type LaunchedType, metadataIn } from './file-types.ts';
import type { OrgPolicies } from './org-policies.ts';
import type { ProjectLook } from './project.ts';
import { isDenied, isStatus } from './refused.ts';
import type { GoogleScene, Looked } from './scene.ts';

export interface LoginLook extends Looked {
  /** Where instances take keys of OS Login alone. */
  readonly osLogin?: OsLogin;
}

interface OsLogin {
  /** Who asks, whose key it becomes. */
  readonly account: string;
  /** The name by which instances know them. */
  readonly user: string;
  /** `users/ACCOUNT/sshPublicKeys/FINGERPRINT`, once it is there. */
  readonly key: string | undefined;
}

interface LoginProfile {
  readonly posixAccounts?: readonly { readonly primary?: boolean; readonly username?: string }[];
  readonly sshPublicKeys?: Readonly<
    Record<string, { readonly key?: string; readonly name?: string; fingerprint?: string }>
  >;
}

/** How the cluster's key gets to its instances: in their own metadata, unless OS Login is required. */
export async function lookAtKey(
  scene: GoogleScene,
  types: readonly LaunchedType[],
  { policies, project }: { readonly policies: Promise<OrgPolicies>; readonly project: Promise<ProjectLook> },
): Promise<LoginLook> {
  const [{ requiresOsLogin }, { metadata }] = await Promise.all([policies, project]);
  const asks = types.some(({ config }) => isOn(metadataIn(config).get('enable-oslogin')));
  if (!requiresOsLogin && !asks) {
    const note = `in the metadata of each instance${isOn(metadata.get('enable-oslogin')) ? '; OS Login of the project does not apply to them' : ''}`;
    return { steps: [{ what: 'SSH key', action: 'found', note }], warnings: [] };
  }
  const osLogin = await lookAtProfile(scene);
  return {
    osLogin,
    steps: [
      {
        what: 'SSH key',
        action: osLogin.key === undefined ? 'create' : 'found',
        note: `OS Login ${requiresOsLogin ? 'is required' : 'as the file says'}: you log in as ${osLogin.user}`,
      },
    ],
    warnings: [],
  };
}

const isOn = (value: string | undefined): boolean => /^(?:true|1|y|yes)$/i.test(value ?? '');

async function lookAtProfile(scene: GoogleScene): Promise<OsLogin> {
  const { project } = scene;
  const account = await accountOf(scene);
  await checkLogin(scene, account);
  try {
    const profile = await scene.ask<LoginProfile>({
      call: 'oslogin.users.getLoginProfile',
      url: `${users}/${encodeURIComponent(account)}/loginProfile`,
      query: { projectId: project },
    });
    return { account, user: userOf(profile, project), key: keyIn(profile, scene.request.login().publicKey) };
  } catch (error) {
    if (!isDenied(error)) throw error;
    throw preparationErrors.OsLoginRequired({ project, detail: (error as Error).message }, error);
  }
}

const users = 'https://oslogin.googleapis.com/v1/users';
/** Setting up a machine takes sudo. */
const login = ['compute.instances.osLogin', 'compute.instances.osAdminLogin'];

async function checkLogin(scene: GoogleScene, account: string): Promise<void> {
  const { permissions = [] } = await scene.ask<{ readonly permissions?: readonly string[] }>({
    call: 'cloudresourcemanager.projects.testIamPermissions',
    method: 'POST',
    url: scene.resourceManager('testIamPermissions'),
    body: { permissions: login },
    reads: true,
  });
  const missing = login.filter((each) => !permissions.includes(each));
  if (missing.length > 0)
    throw preparationErrors.OsLoginRequired({
      project: scene.project,
      detail: `${account} lacks the permission ${missing.join(' and ')}`,
    });
}

function userOf({ posixAccounts = [] }: LoginProfile, project: string): string {
  const found = posixAccounts.find(({ primary }) => primary === true) ?? posixAccounts[0];
  if (found?.username !== undefined) return found.username;
  throw preparationErrors.OsLoginRequired({ project, detail: 'your account has no user name there' });
}

/** The comment behind a key does not count. */
const plainKey = (key: string): string => key.trim().split(/\s+/).slice(0, 2).join(' ');

function keyIn({ sshPublicKeys = {} }: LoginProfile, publicKey: string): string | undefined {
  const wanted = plainKey(publicKey);
  return Object.values(sshPublicKeys).find(({ key = '' }) => plainKey(key) === wanted)?.name;
}

/** Gives the key to OS Login where it is not there yet. The path of the key there; undefined where it is not used. */
export async function makeKey(scene: GoogleScene, { osLogin }: LoginLook): Promise<string | undefined> {
  if (osLogin === undefined) return undefined;
  return osLogin.key ?? (await importKey(scene, osLogin.account, scene.request.login().publicKey));
}

/** The same for another key of the cluster. */
export async function admitKey(scene: GoogleScene, publicKey: string): Promise<string> {
  return await importKey(scene, await accountOf(scene), publicKey);
}

async function importKey(scene: GoogleScene, account: string, publicKey: string): Promise<string> {
  const { project } = scene;
  try {
    const { loginProfile = {} } = await scene.ask<{ readonly loginProfile?: LoginProfile }>({
      call: 'oslogin.users.importSshPublicKey',
      method: 'POST',
      url: `${users}/${encodeURIComponent(account)}:importSshPublicKey`,
      query: { projectId: project },
      body: { key: publicKey },
    });
    const key = keyIn(loginProfile, publicKey);
    if (key !== undefined) return key;
    throw preparationErrors.OsLoginRequired({ project, detail: 'it did not keep the key' });
  } catch (error) {
    if (!isDenied(error) && !isStatus(400)(error)) throw error;
    throw preparationErrors.OsLoginRequired({ project, detail: (error as Error).message }, error);
  }
}

async function accountOf(scene: GoogleScene): Promise<string> {
  const account = await scene.caller();
  if (account !== undefined) return account;
  const detail = 'the account of your credentials is not known';
  throw preparationErrors.OsLoginRequired({ project: scene.project, detail });
}
