import { type Caller, handlers, type Request } from '../caller.ts';
import { googleError } from '../errors.ts';
import { fingerprintOf, time } from '../names.ts';
import type { Binding, Project } from '../project.ts';

const writeProject = ({ id, number, createdAt }: Project): object => ({
  projectNumber: String(number),
  projectId: id,
  lifecycleState: 'ACTIVE',
  name: id,
  createTime: time(createdAt),
});

/** Who does not ask for version 3 gets no conditions, under names of roles that cannot be written back. */
function writePolicy({ project }: Caller, version: number): object {
  const conditional = project.bindings.some(({ condition }) => condition !== undefined);
  return {
    version: version >= 3 && conditional ? 3 : 1,
    etag: project.etag,
    bindings: project.bindings.map(({ role, members, condition }) => {
      if (condition === undefined) return { role, members };
      return version >= 3
        ? { role, members, condition }
        : {
            role: `${role}_withcond_${fingerprintOf(condition)
              .replaceAll(/[^a-z0-9]/gi, '')
              .slice(0, 8)}`,
            members,
          };
    }),
  };
}

function setPolicy(
  request: Request<{
    policy?: { version?: number; bindings?: readonly Partial<Binding>[]; etag?: string };
  }>,
  caller: Caller,
): object {
  caller.may('resourcemanager.projects.setIamPolicy');
  const { version = 1, bindings = [], etag } = request.body.policy ?? {};
  const { project } = caller;
  if (etag !== undefined && etag !== project.etag)
    throw googleError(
      'aborted',
      'There were concurrent policy changes. Please retry the whole read-modify-write with exponential backoff.',
    );
  const read = bindings.map(({ role = '', members = [], condition }): Binding => {
    if (condition !== undefined && version < 3)
      throw googleError('invalid', 'A policy with conditions must be of version 3.');
    if (project.permissionsOf(role) === undefined)
      throw googleError('invalid', `Role ${role} is not supported for this resource.`);
    for (const member of members) checkMember(caller, member);
    return { role, members, ...(condition && { condition }) };
  });
  project.bind(read.filter(({ members }) => members.length > 0));
  return writePolicy(caller, version);
}

/** An account that is gone is still named, as `deleted:`; one that never was is not. */
function checkMember({ world }: Caller, member: string): void {
  const email = /^serviceAccount:(.+)$/.exec(member)?.[1];
  if (email === undefined || !email.endsWith('gserviceaccount.com')) return;
  if (![...world.projects.values()].some((project) => project.account(email) !== undefined))
    throw googleError('invalid', `Service account ${email} does not exist.`);
}

/** Constraints that are on or off; the others are lists of what is allowed. */
const isSwitch = (constraint: string): boolean => constraint.startsWith('compute.require');

function effectivePolicy(project: Project, constraint: string): object {
  const name = constraint.replace(/^constraints\//, '');
  const values = project.policies.get(name);
  if (isSwitch(name))
    return { constraint, booleanPolicy: { enforced: values !== undefined && !values.includes('off') } };
  if (values === undefined) return { constraint, listPolicy: { allValues: 'ALLOW' } };
  return { constraint, listPolicy: values.length === 0 ? { allValues: 'DENY' } : { allowedValues: values } };
}

export const resourceManagerHandlers = handlers({
  'projects.get': (request: Request, caller) => {
    caller.may('resourcemanager.projects.get', `projects/${request.path.get('project')}`);
    return writeProject(caller.project);
  },

  'projects.list': (_: Request, caller) => {
    caller.free();
    const { world, bearer } = caller;
    const mine = [...world.projects.values()].filter((each) =>
      each.allows(bearer.email, 'resourcemanager.projects.get', 0),
    );
    return { projects: mine.map(writeProject) };
  },

  'projects.create': (_: Request, caller) => {
    caller.free();
    throw googleError('forbidden', 'The caller does not have permission');
  },

  'projects.getIamPolicy': (request: Request<{ options?: { requestedPolicyVersion?: number } }>, caller) => {
    caller.may('resourcemanager.projects.getIamPolicy');
    return writePolicy(caller, request.body.options?.requestedPolicyVersion ?? 1);
  },

  'projects.setIamPolicy': setPolicy,

  'projects.getEffectiveOrgPolicy': (request: Request<{ constraint?: string }>, caller) => {
    caller.may('orgpolicy.policy.get');
    return effectivePolicy(caller.project, request.body.constraint ?? '');
  },

  'projects.testIamPermissions': (request: Request<{ permissions?: readonly string[] }>, caller) => {
    caller.free();
    const { permissions = [] } = request.body;
    return { permissions: permissions.filter((each) => caller.allows(each)) };
  },
});
