/** Makes an instance. What is wrong with a request is said at once; what is missing for it, by its operation. */
import { type Caller, type Request, textAt } from '../caller.ts';
import { googleError } from '../errors.ts';
import type { ComputeOperation } from '../operations.ts';
import type { InstanceBody } from '../shapes.ts';
import { begin, follow, launch } from './launch.ts';
import { planOf, withTemplate } from './launch-plan.ts';
import { checkPolicies } from './policies.ts';

export function insert(request: Request<InstanceBody>, caller: Caller): ComputeOperation {
  const zone = request.path.get('zone')!;
  const { name = '' } = request.body;
  const body = withTemplate(caller, request.body, textAt(request.query, 'sourceInstanceTemplate'));
  mayInsert(caller, zone, name, body);
  const id = textAt(request.query, 'requestId');
  return caller.project.operations.once(id, () => {
    const plan = planOf(caller, zone, body);
    checkPolicies(caller, plan);
    checkNames(caller, zone, [name]);
    const made = launch(caller, plan, [name], 1, name);
    const operation = begin(caller, plan, name, made);
    if ('error' in made) queueMicrotask(() => operation.finish(made.error));
    else follow(caller, made.instances[0]!, operation);
    return operation;
  });
}

/** An insert is asked for by what it sets. */
export function mayInsert(caller: Caller, zone: string, name: string, body: InstanceBody): void {
  const path = `projects/${caller.projectId}/zones/${zone}/instances/${name}`;
  caller.may('compute.instances.create', path);
  if (body.labels !== undefined) caller.may('compute.instances.setLabels', path);
  if (body.metadata?.items !== undefined) caller.may('compute.instances.setMetadata', path);
  if (body.tags?.items !== undefined) caller.may('compute.instances.setTags', path);
  if (body.serviceAccounts !== undefined) caller.may('compute.instances.setServiceAccount', path);
}

export function checkNames(caller: Caller, zone: string, names: readonly string[]): void {
  for (const name of names)
    if (caller.world.instance(caller.projectId, zone, name) !== undefined)
      throw googleError(
        'alreadyExists',
        `The resource 'projects/${caller.projectId}/zones/${zone}/instances/${name}' already exists`,
      );
}
