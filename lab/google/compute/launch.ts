/** What an insert comes to: machines of the world, with what Compute Engine remembers of them, and their operations. */
import { CloudError } from '../../cloud/errors.ts';
import type { CloudInstance, LaunchOrder } from '../../cloud/instance.ts';
import type { Caller } from '../caller.ts';
import { numberOf } from '../names.ts';
import type { ComputeOperation, OperationError } from '../operations.ts';
import type { LaunchPlan } from './launch-plan.ts';
import { outsideRefusal } from './policies.ts';
import { allowedMachines, quotaError, quotaOfCloud } from './quotas.ts';

/** The operation of one instance, which has the number of what was made, if it was. */
export function begin(caller: Caller, plan: LaunchPlan, name: string, made: Made, group?: string): ComputeOperation {
  const { world, projectId, project, bearer } = caller;
  const { zone, type, market } = plan;
  const chance = { call: 'launch', operation: caller.name, account: projectId, type: type.name, zone, market } as const;
  const stuck = world.cloud.faults.take('stuck-operation', chance) !== undefined;
  const scope = `zones/${zone}`;
  const target = `${scope}/instances/${name}`;
  const order = { type: 'insert', project: projectId, scope, target, user: bearer.email, group };
  const instance = 'error' in made ? undefined : made.instances.find((each) => each.name === name);
  return project.operations.begin({ ...order, targetId: numberOf(instance?.id ?? `${target}/${world.now()}`) }, stuck);
}

export type Made = { readonly instances: readonly CloudInstance[] } | { readonly error: OperationError };

export const exhausted = (caller: Caller, zone: string): OperationError => ({
  code: 'ZONE_RESOURCE_POOL_EXHAUSTED',
  message: `The zone 'projects/${caller.projectId}/zones/${zone}' does not have enough resources available to fulfill the request.  Try a different zone, or try again later.`,
});

/** Instances of these names, the first of them as many as there is room for. */
export function launch(caller: Caller, plan: LaunchPlan, names: readonly string[], least: number, path: string): Made {
  const { world, project } = caller;
  const { zone, type, market } = plan;
  const whole = `projects/${project.id}/zones/${zone}/instances/${path}`;
  const refused = outsideRefusal(caller, plan.outside, whole);
  if (refused !== undefined) return { error: refused };
  const allowed = allowedMachines(world, project, zone, plan.usage);
  if (allowed.count < least) return { error: quotaError(allowed.limit!) };
  const order: LaunchOrder = {
    ...{ machine_type: type.name, zone, market, names, tags: plan.labels, disks: plan.disks, outside: plan.outside },
    count: Math.min(names.length, allowed.count),
    min_count: least,
    on_shutdown: 'stop',
    on_preemption: plan.onPreemption,
    ...(plan.reservation !== undefined && { reservation: plan.reservation }),
  };
  try {
    const instances = world.cloud.make(project.id, order);
    for (const instance of instances) remember(caller, plan, instance);
    return { instances };
  } catch (error) {
    if (error instanceof CloudError && error.code === 'InsufficientCapacity') return { error: exhausted(caller, zone) };
    if (error instanceof CloudError && error.code === 'QuotaExceeded')
      return { error: quotaOfCloud(world, error, zone) };
    throw error;
  }
}

function remember({ world }: Caller, plan: LaunchPlan, instance: CloudInstance): void {
  const name = instance.name!;
  const number = numberOf(instance.id);
  const { body, type, subnetwork, account, usage, metadata } = plan;
  world.remember(instance.id, { body, name, number, type, subnetwork, account, usage, metadata, changes: 0 });
  for (const [index, disk] of world.disksOf(instance.id).entries())
    world.diskNames.set(disk.id, plan.disks[index]?.name ?? (index === 0 ? name : `${name}-${index}`));
}

/** The operation of an insert ends when its machine runs, or when it turns out that it never will. */
export function follow(caller: Caller, instance: CloudInstance, operation: ComputeOperation): void {
  caller.world.watch(instance, ({ now }) => {
    if (now.state === 'pending') return false;
    if (now.state === 'running') operation.finish();
    else operation.finish(now.refused ? lateError(caller, instance, now.refused) : gone(caller, instance));
    return true;
  });
}

const gone = (caller: Caller, { zone, name }: CloudInstance): OperationError => ({
  code: 'RESOURCE_NOT_FOUND',
  message: `The resource 'projects/${caller.projectId}/zones/${zone}/instances/${name}' was not found`,
});

/** What a late refusal was for, in the words of Google; a code of its own stays as it is. */
function lateError(
  caller: Caller,
  { zone }: CloudInstance,
  { code, message }: { code: string; message: string },
): OperationError {
  if (code === 'no-capacity') return exhausted(caller, zone);
  if (code === 'quota') return { code: 'QUOTA_EXCEEDED', message };
  return { code: code === 'key' ? 'INTERNAL_ERROR' : code, message };
}
