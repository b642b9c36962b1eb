import { type Caller, handlers, type Request, textAt } from '../caller.ts';
import { googleError } from '../errors.ts';
import { fingerprintOf } from '../names.ts';
import { pageOf } from '../paging.ts';
import type { CustomRole, ServiceAccount } from '../project.ts';
import { knownPermissions, permissionsOf, predefinedRoles } from './roles.ts';

interface RoleBody {
  readonly title?: string;
  readonly description?: string;
  readonly includedPermissions?: readonly string[];
  readonly stage?: string;
}

const writeAccount = ({ projectId }: Caller, { email, number, displayName }: ServiceAccount): object => ({
  name: `projects/${projectId}/serviceAccounts/${email}`,
  projectId,
  uniqueId: number,
  email,
  displayName,
  etag: fingerprintOf(email),
  oauth2ClientId: number,
});

function account({ path }: Request, caller: Caller, permission: string): ServiceAccount {
  const email = path.get('serviceAccount')!;
  caller.may(permission);
  const found = caller.project.account(email);
  if (found === undefined)
    throw googleError('notFound', `Unknown service account: projects/${caller.projectId}/serviceAccounts/${email}`);
  return found;
}

function createAccount(
  request: Request<{ accountId?: string; serviceAccount?: { displayName?: string } }>,
  caller: Caller,
): object {
  caller.may('iam.serviceAccounts.create');
  const { accountId = '', serviceAccount } = request.body;
  if (!/^[a-z](?:[-a-z0-9]{4,28}[a-z0-9])$/.test(accountId))
    throw googleError(
      'invalid',
      `The account ID "${accountId}" does not have a length between 6 and 30, or is not valid.`,
    );
  const email = `${accountId}@${caller.projectId}.iam.gserviceaccount.com`;
  if (caller.project.account(email) !== undefined)
    throw googleError(
      'alreadyExists',
      `Service account ${accountId} already exists within project projects/${caller.projectId}.`,
    );
  return writeAccount(caller, caller.world.addAccount(caller.project, email, serviceAccount?.displayName ?? ''));
}

const writeRole = ({ id, title, description, permissions, stage }: CustomRole): object => ({
  name: id,
  title,
  description,
  includedPermissions: permissions,
  stage,
  etag: fingerprintOf([id, permissions]),
});

function customRole({ path }: Request, caller: Caller, permission: string): CustomRole {
  const name = `projects/${caller.projectId}/roles/${path.get('role')}`;
  caller.may(permission);
  const found = caller.project.roles.get(caller.projectId, name);
  if (found === undefined) throw googleError('notFound', `The role named ${name} was not found.`);
  return found;
}

function checkPermissions(permissions: readonly string[]): void {
  const wrong = permissions.find((each) => !knownPermissions.includes(each));
  if (wrong !== undefined) throw googleError('invalid', `Permission ${wrong} is not valid.`);
}

function createRole(request: Request<{ roleId?: string; role?: RoleBody }>, caller: Caller): object {
  caller.may('iam.roles.create');
  const { roleId = '', role = {} } = request.body;
  if (!/^[a-zA-Z0-9_.]{3,64}$/.test(roleId))
    throw googleError('invalid', `The role_id must match [a-zA-Z0-9_.]{3,64}; it is "${roleId}".`);
  const id = `projects/${caller.projectId}/roles/${roleId}`;
  if (caller.project.roles.get(caller.projectId, id) !== undefined)
    throw googleError('alreadyExists', `A role named ${roleId} in projects/${caller.projectId} already exists.`);
  const { title = roleId, description = '', includedPermissions: permissions = [], stage = 'GA' } = role;
  checkPermissions(permissions);
  const base = { id, account: caller.projectId, createdAt: caller.world.now(), tags: {} };
  return writeRole(caller.project.roles.add({ ...base, title, description, permissions, stage }));
}

function predefined(name: string, whole: boolean): object {
  const { title } = predefinedRoles.get(name)!;
  return {
    name,
    title,
    stage: 'GA',
    etag: fingerprintOf(name),
    ...(whole && { includedPermissions: permissionsOf(name) }),
  };
}

export const iamHandlers = handlers({
  'serviceAccounts.get': (request: Request, caller) =>
    writeAccount(caller, account(request, caller, 'iam.serviceAccounts.get')),
  'serviceAccounts.create': createAccount,

  'serviceAccounts.list': (request: Request, caller) => {
    caller.may('iam.serviceAccounts.list');
    const all = caller.project.serviceAccounts.of(caller.projectId).map((each) => writeAccount(caller, each));
    const { page, next } = pageOf(
      all,
      (request.query.get('pageSize') as number) || 100,
      textAt(request.query, 'pageToken'),
    );
    return { accounts: page, ...(next !== undefined && { nextPageToken: next }) };
  },

  'serviceAccounts.delete': (request: Request, caller) => {
    const found = account(request, caller, 'iam.serviceAccounts.delete');
    caller.project.serviceAccounts.delete(found.id);
    caller.world.tokens.revoke(found.email);
    return {};
  },

  'roles.get': (request: Request, caller) => {
    if (request.path.has('project')) return writeRole(customRole(request, caller, 'iam.roles.get'));
    caller.free();
    const name = `roles/${request.path.get('role')}`;
    if (!predefinedRoles.has(name)) throw googleError('notFound', `The role named ${name} was not found.`);
    return predefined(name, true);
  },

  'roles.list': (request: Request, caller) => {
    if (!request.path.has('project')) {
      caller.free();
      return { roles: [...predefinedRoles.keys()].map((name) => predefined(name, false)) };
    }
    caller.may('iam.roles.list');
    return { roles: caller.project.roles.of(caller.projectId).map(writeRole) };
  },

  'roles.create': createRole,

  'roles.patch': (request: Request<RoleBody>, caller) => {
    const found = customRole(request, caller, 'iam.roles.update');
    const { title = found.title, description = found.description, stage = found.stage } = request.body;
    const permissions = request.body.includedPermissions ?? found.permissions;
    checkPermissions(permissions);
    return writeRole(caller.project.roles.add({ ...found, title, description, stage, permissions }));
  },

  'roles.delete': (request: Request, caller) => {
    const found = customRole(request, caller, 'iam.roles.delete');
    caller.project.roles.delete(found.id);
    return { ...writeRole(found), deleted: true };
  },
});
