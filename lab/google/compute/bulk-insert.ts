import { randomUUID } from 'node:crypto';
import type { CloudInstance } from '../../cloud/instance.ts';
import { type Caller, type Request, textAt } from '../caller.ts';
import { googleError } from '../errors.ts';
import type { BulkStatus, ComputeOperation, OperationError } from '../operations.ts';
import type { BulkBody, InstanceBody } from '../shapes.ts';
import { checkNames, mayInsert } from './insert.ts';
import { begin, exhausted, follow, launch } from './launch.ts';
import { type LaunchPlan, planOf, withTemplate } from './launch-plan.ts';
import { checkPolicies } from './policies.ts';

/** Several at once: as many as there are, but not fewer than the least number, or none of them. */
export function bulkInsert(request: Request<BulkBody>, caller: Caller): ComputeOperation {
  const zone = request.path.get('zone')!;
  const { body } = request;
  const properties = linked(zone, withTemplate(caller, body.instanceProperties ?? {}, body.sourceInstanceTemplate));
  const count = Number(body.count ?? 0);
  if (count < 1 || count > 5000)
    throw googleError('invalid', `Invalid value for field 'resource.count': '${count}'. Must be 1 to 5000.`);
  const least = Number(body.minCount ?? count);
  if (least > count)
    throw googleError('invalid', `Invalid value for field 'resource.minCount': '${least}'. Must not exceed count.`);
  mayInsert(caller, zone, '', properties);
  const id = textAt(request.query, 'requestId');
  return caller.project.operations.once(id, () => {
    const names = namesOf(caller, zone, body, count);
    const plan = planOf(caller, zone, properties);
    checkPolicies(caller, plan);
    checkNames(caller, zone, names);
    return new BulkLaunch(caller, plan, names, least).begin();
  });
}

/** Properties name types alone, where an instance has links to them. */
function linked(zone: string, properties: InstanceBody): InstanceBody {
  const link = (collection: string, name: string, field: string): string => {
    if (name.includes('/'))
      throw googleError(
        'invalid',
        `Invalid value for field 'resource.instanceProperties.${field}': '${name}'. Not a name.`,
      );
    return `zones/${zone}/${collection}/${name}`;
  };
  const { machineType, guestAccelerators, disks } = properties;
  return {
    ...properties,
    ...(machineType !== undefined && { machineType: link('machineTypes', machineType, 'machineType') }),
    ...(guestAccelerators && {
      guestAccelerators: guestAccelerators.map((each) => ({
        ...each,
        acceleratorType: link('acceleratorTypes', each.acceleratorType ?? '', 'guestAccelerators[0].acceleratorType'),
      })),
    }),
    ...(disks && {
      disks: disks.map(({ initializeParams: params, ...disk }) => ({
        ...disk,
        ...(params && {
          initializeParams: {
            ...params,
            ...(params.diskType !== undefined && {
              diskType: link('diskTypes', params.diskType, 'disks[0].initializeParams.diskType'),
            }),
          },
        }),
      })),
    }),
  };
}

/** Names that the request gives, or the next free ones of its pattern: `worker-###`. */
function namesOf(caller: Caller, zone: string, body: BulkBody, count: number): readonly string[] {
  const given = Object.keys(body.perInstanceProperties ?? {});
  if (given.length > 0) {
    if (given.length !== count)
      throw googleError(
        'invalid',
        `Invalid value for field 'resource.perInstanceProperties': ''. There must be ${count}.`,
      );
    const wrong = given.find((name) => !/^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(name));
    if (wrong !== undefined)
      throw googleError(
        'invalid',
        `Invalid value for field 'resource.perInstanceProperties': '${wrong}'. Not a valid name.`,
      );
    return given;
  }
  const match = /^([a-z](?:[-a-z0-9]*))(#+)([-a-z0-9]*)$/.exec(body.namePattern ?? '');
  if (match === null)
    throw googleError(
      'invalid',
      `Invalid value for field 'resource.namePattern': '${body.namePattern ?? ''}'. Must be a name with one run of #.`,
    );
  const [, start = '', digits = '', end = ''] = match;
  const found: string[] = [];
  for (let number = 1; found.length < count; number++) {
    const name = `${start}${String(number).padStart(digits.length, '0')}${end}`;
    if (caller.world.instance(caller.projectId, zone, name) === undefined) found.push(name);
  }
  return found;
}

/** One bulk insert: an operation for all, and one for each machine, which are of one group. */
class BulkLaunch {
  readonly #caller: Caller;
  readonly #plan: LaunchPlan;
  readonly #names: readonly string[];
  readonly #least: number;
  readonly #group = randomUUID();
  readonly #status: BulkStatus;

  constructor(caller: Caller, plan: LaunchPlan, names: readonly string[], least: number) {
    this.#caller = caller;
    this.#plan = plan;
    this.#names = names;
    this.#least = least;
    this.#status = {
      status: 'CREATING',
      targetVmCount: names.length,
      createdVmCount: 0,
      failedToCreateVmCount: 0,
      deletedVmCount: 0,
    };
  }

  begin(): ComputeOperation {
    const { projectId, project, bearer, world } = this.#caller;
    const { zone, type, market } = this.#plan;
    const scope = `zones/${zone}`;
    const chance = {
      call: 'launch',
      operation: 'instances.bulkInsert',
      account: projectId,
      type: type.name,
      zone,
      market,
    } as const;
    const stuck = world.cloud.faults.take('stuck-operation', chance) !== undefined;
    const whole = project.operations.begin(
      {
        ...{ type: 'bulkInsert', project: projectId, scope, target: scope, user: bearer.email, group: this.#group },
        bulk: new Map([[scope, this.#status]]),
      },
      stuck,
    );
    const rule = world.cloud.faults.take('rollback', chance);
    const wanted = rule ? Math.min(rule.count ?? 1, this.#names.length) : this.#names.length;
    const least = rule ? 1 : this.#least;
    const made = launch(this.#caller, this.#plan, this.#names.slice(0, wanted), least, this.#names[0]!);
    const operations = this.#names.map((name) => begin(this.#caller, this.#plan, name, made, this.#group));
    if ('error' in made) queueMicrotask(() => this.#fail(whole, operations, made.error));
    else this.#follow(whole, operations, made.instances, rule && world.cloud.faults.delay(rule));
    return whole;
  }

  #fail(whole: ComputeOperation, operations: readonly ComputeOperation[], error: OperationError): void {
    this.#status.failedToCreateVmCount = operations.length;
    this.#status.status = 'DONE';
    for (const operation of operations) operation.finish(error);
    whole.finish(error);
  }

  #follow(
    whole: ComputeOperation,
    operations: readonly ComputeOperation[],
    instances: readonly CloudInstance[],
    rollsBackIn: number | undefined,
  ): void {
    const { world } = this.#caller;
    const none = exhausted(this.#caller, this.#plan.zone);
    const missing = operations.slice(instances.length);
    this.#status.failedToCreateVmCount = missing.length;
    queueMicrotask(() => {
      for (const operation of missing) operation.finish(none);
    });
    let settled = 0;
    for (const [index, instance] of instances.entries()) {
      follow(this.#caller, instance, operations[index]!);
      world.watch(instance, ({ now }) => {
        if (now.state === 'pending') return false;
        if (now.state === 'running') this.#status.createdVmCount++;
        else this.#status.failedToCreateVmCount++;
        if (++settled === instances.length && rollsBackIn === undefined) this.#settle(whole, instances);
        return true;
      });
    }
    if (rollsBackIn !== undefined)
      void world.cloud.clock.sleep(rollsBackIn).then(() => this.#rollBack(whole, instances, none));
  }

  /** Machines that were refused late count as not made: below the least number the rest is taken back. */
  #settle(whole: ComputeOperation, instances: readonly CloudInstance[]): void {
    if (this.#status.createdVmCount < this.#least) {
      const running = instances.filter(({ now }) => now.state === 'running');
      return this.#rollBack(whole, running, exhausted(this.#caller, this.#plan.zone));
    }
    this.#status.status = 'DONE';
    whole.finish();
  }

  #rollBack(whole: ComputeOperation, instances: readonly CloudInstance[], error: OperationError): void {
    const { world, projectId } = this.#caller;
    const end = (): void => {
      this.#status.status = 'DONE';
      whole.finish(error);
    };
    this.#status.status = 'ROLLING_BACK';
    if (instances.length === 0) return end();
    for (const instance of instances)
      world.watch(instance, ({ exists }) => {
        if (exists) return false;
        if (++this.#status.deletedVmCount === instances.length) end();
        return true;
      });
    world.cloud.terminate(
      projectId,
      instances.map(({ id }) => id),
    );
  }
}
