import type { Reservation, RunInstancesRequest } from '@aws-sdk/client-ec2';
import type { Market } from '../../cloud/catalog.ts';
import { CloudError } from '../../cloud/errors.ts';
import type { CloudInstance, LaunchOrder } from '../../cloud/instance.ts';
import type { Caller } from '../caller.ts';
import { isOffered } from '../catalog.ts';
import { userDataProgram } from '../cloud-init.ts';
import { awsError } from '../errors.ts';
import type { Conditions } from '../policy.ts';
import { type Facts, type SpotRequest, type Subnet, spotRole } from '../world.ts';
import { type LaunchPlan, planOf } from './launch-plan.ts';
import { requestTags, resourceTags } from './listing.ts';
import { inSubnet } from './network.ts';
import { templateOf, withTemplate } from './templates.ts';
import { profileArn, writeInstance } from './write-instance.ts';

export function runInstances(given: RunInstancesRequest, caller: Caller): Reservation {
  const named = given.LaunchTemplate && templateOf(caller, given.LaunchTemplate);
  const request = named ? withTemplate(given, named.data) : given;
  const plan = planOf(request, named?.template, caller);
  authorise(plan, caller);
  caller.commit();
  const made = launchOnce(plan, caller);
  return {
    ReservationId: caller.world.facts(made[0]!).reservation,
    OwnerId: caller.account,
    Groups: [],
    Instances: made.map((instance) => writeInstance(caller, { instance, snapshot: instance.now })),
  };
}

/** Every thing that the launch uses or makes is asked for by itself. */
function authorise(plan: LaunchPlan, caller: Caller): void {
  const { request, template, image, type, subnets, groups, profile, market, tags } = plan;
  const about: Conditions = {
    'ec2:InstanceType': [type.name],
    'ec2:InstanceMarketType': [market === 'spot' ? 'spot' : 'on-demand'],
    ...(profile && { 'ec2:InstanceProfile': [profileArn(profile)] }),
    ...(template && { 'ec2:LaunchTemplate': [caller.arn(`launch-template/${template.id}`)] }),
  };
  caller.may(`arn:aws:ec2:${caller.region}::image/${image.id}`, { ...about, ...resourceTags(image.tags) });
  caller.may(caller.arn(`subnet/${subnets[0]!.id}`), { ...about, ...resourceTags(subnets[0]!.tags) });
  for (const group of groups)
    caller.may(caller.arn(`security-group/${group.id}`), { ...about, ...resourceTags(group.tags) });
  if (request.KeyName !== undefined) caller.may(caller.arn(`key-pair/${request.KeyName}`), about);
  if (template) caller.may(caller.arn(`launch-template/${template.id}`), { ...about, ...resourceTags(template.tags) });
  const made = ['instance', 'volume', 'network-interface'] as readonly string[];
  for (const kind of tags.has('spot-instances-request') ? [...made, 'spot-instances-request'] : made)
    caller.may(caller.arn(`${kind}/*`), { ...about, ...requestTags(tags.get(kind) ?? {}) });
  for (const [kind, given] of tags)
    if (Object.keys(given).length > 0)
      caller.may(
        caller.arn(`${kind}/*`),
        { ...requestTags(given), 'ec2:CreateAction': ['RunInstances'] },
        'ec2:CreateTags',
      );
  const role = profile?.role === undefined ? undefined : caller.world.role(caller.account, profile.role);
  if (role !== undefined)
    caller.may(
      `arn:aws:iam::${role.account}:role${role.path}${role.name}`,
      { 'iam:PassedToService': ['ec2.amazonaws.com'] },
      'iam:PassRole',
    );
  if (market === 'spot') needSpotRole(caller);
}

/** The first spot launch of an account makes the role by which EC2 acts for it, where the caller may. */
function needSpotRole(caller: Caller): void {
  const { world, account } = caller;
  if (world.role(account, spotRole) !== undefined) return;
  try {
    caller.may(
      `arn:aws:iam::${account}:role/aws-service-role/spot.amazonaws.com/${spotRole}`,
      { 'iam:AWSServiceName': ['spot.amazonaws.com'] },
      'iam:CreateServiceLinkedRole',
    );
  } catch {
    throw awsError(
      'AuthFailure.ServiceLinkedRoleCreationNotPermitted',
      'The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.',
    );
  }
}

/** A token stands for one launch in one zone; in another zone the same one makes a second set. */
function launchOnce(plan: LaunchPlan, caller: Caller): readonly CloudInstance[] {
  const { world, account, region } = caller;
  const { ClientToken: token } = plan.request;
  if (token === undefined || token === '') return launch(plan, caller);
  const asked = JSON.stringify(plan.request);
  const key = (zone: string): string => JSON.stringify([account, region, zone, token]);
  const earlier = plan.subnets.map(({ zone }) => world.tokens.get(key(zone))).find((use) => use !== undefined);
  if (earlier === undefined) {
    const made = launch(plan, caller);
    world.tokens.set(key(made[0]!.zone), { asked, made: made.map(({ id }) => id) });
    return made;
  }
  if (earlier.asked !== asked)
    throw awsError(
      'IdempotentParameterMismatch',
      'The client token you have provided is associated with a previous request with different parameters.',
    );
  const known = earlier.made.map((id) => world.cloud.instance(id)!);
  if (known.some(({ exists }) => !exists))
    throw awsError(
      'IdempotentInstanceTerminated',
      `The client token you have provided is associated with a resource that is already deleted. Please use a different client token for the request.`,
    );
  return known;
}

function launch(plan: LaunchPlan, caller: Caller): readonly CloudInstance[] {
  const { world } = caller;
  const { request, type, market } = plan;
  const least = request.MinCount ?? 1;
  let refusal: unknown;
  for (const subnet of plan.subnets) {
    if (!isOffered(type, subnet.zone)) {
      const others = world.zonesOf(caller.region).filter((zone) => isOffered(type, zone));
      refusal ??= awsError(
        'Unsupported',
        `Your requested instance type (${type.name}) is not supported in your requested Availability Zone (${subnet.zone}). Please retry your request by not specifying an Availability Zone or choosing ${others.join(', ')}.`,
      );
      continue;
    }
    const free = subnet.room - inSubnet(caller, subnet.id).length;
    if (free < least) {
      refusal = awsError(
        'InsufficientFreeAddressesInSubnet',
        `There are not enough free addresses in subnet '${subnet.id}' to satisfy the requested number of instances.`,
      );
      continue;
    }
    try {
      return launchIn(plan, subnet, Math.min(request.MaxCount ?? 1, free), caller);
    } catch (error) {
      if (!(error instanceof CloudError) || error.code !== 'InsufficientCapacity') throw error;
      refusal = noCapacity(market, type.name, subnet.zone, world.zonesOf(caller.region));
    }
  }
  throw refusal;
}

function noCapacity(market: Market, type: string, zone: string, zones: readonly string[]): CloudError {
  if (market === 'reserved')
    return awsError(
      'ReservationCapacityExceeded',
      'The requested reservation does not have sufficient compatible and available capacity for this request.',
    );
  if (market === 'spot')
    return awsError('InsufficientInstanceCapacity', 'There is no Spot capacity available that matches your request.');
  const others = zones.filter((each) => each !== zone).join(', ');
  return awsError(
    'InsufficientInstanceCapacity',
    `We currently do not have sufficient ${type} capacity in the Availability Zone you requested (${zone}). Our system will be working on provisioning additional capacity. You can currently get ${type} capacity by not specifying an Availability Zone in your request or choosing ${others}.`,
  );
}

function launchIn(plan: LaunchPlan, subnet: Subnet, most: number, caller: Caller): readonly CloudInstance[] {
  const { world, account } = caller;
  const { request, type, market, tags, image, groups, profile } = plan;
  const program = userDataProgram(request.UserData);
  const order: LaunchOrder = {
    ...(request.ClientToken !== undefined && { client_token: request.ClientToken }),
    machine_type: type.name,
    zone: subnet.zone,
    market,
    count: most,
    min_count: request.MinCount ?? 1,
    tags: tags.get('instance') ?? {},
    ...(plan.login && { login: plan.login }),
    ...(program !== undefined && { user_data: program }),
    on_shutdown: request.InstanceInitiatedShutdownBehavior ?? 'stop',
    ...(plan.reservation !== undefined && { reservation: plan.reservation }),
    disks: plan.disks,
    outside: plan.outside ?? subnet.mapsPublic,
  };
  // A spot instance that switches itself off is ended, unless its request outlives it.
  const made = world.cloud.make(
    account,
    market === 'spot' && !plan.persistent ? { ...order, on_shutdown: 'terminate' } : order,
  );
  if (market === 'spot') makeSpotRole(caller);
  const reservation = world.newId('r');
  for (const [index, instance] of made.entries())
    world.remember(instance.id, {
      ...{ request, reservation, index, image, type, subnet, profile },
      groups: groups.map(({ id }) => id),
      spotRequest: market === 'spot' ? addSpotRequest(plan, subnet, instance, caller).id : undefined,
      protected: request.DisableApiTermination ?? false,
      stopProtected: request.DisableApiStop ?? false,
      interface: { id: world.newId('eni'), tags: tags.get('network-interface') ?? {} },
    });
  return made;
}

function makeSpotRole({ world, account }: Caller): void {
  if (world.role(account, spotRole) !== undefined) return;
  world.cloud.has.roles.add({
    ...{
      id: world.newId('AROA'),
      account,
      createdAt: world.now(),
      tags: {},
      name: spotRole,
      attached: [],
      own: new Map(),
    },
    path: '/aws-service-role/spot.amazonaws.com/',
    trust: '{}',
  });
}

function addSpotRequest(plan: LaunchPlan, subnet: Subnet, instance: CloudInstance, caller: Caller): SpotRequest {
  const { world, account, region } = caller;
  const request: SpotRequest = world.spotRequests.add({
    ...{ id: world.newId('sir'), account, region, createdAt: world.now(), state: 'active', code: 'fulfilled' },
    tags: plan.tags.get('spot-instances-request') ?? {},
    instance: instance.id,
    persistent: plan.persistent,
    maxPrice: (plan.maxPrice ?? plan.type.price).toFixed(6),
    zone: subnet.zone,
    again: () => {
      try {
        const [next] = world.cloud.make(account, { ...instance.order, count: 1, min_count: 1 });
        const facts: Facts = world.facts(instance);
        const card = { id: world.newId('eni'), tags: facts.interface.tags };
        world.remember(next!.id, { ...facts, spotRequest: request.id, interface: card });
        return next;
      } catch {
        return undefined;
      }
    },
  });
  return request;
}
