import type { InstanceStateChange } from '@aws-sdk/client-ec2';
import type { Listed } from '../../cloud/cloud.ts';
import type { CloudInstance } from '../../cloud/instance.ts';
import type { Caller } from '../caller.ts';
import { awsError } from '../errors.ts';
import type { Ec2Handlers } from '../handlers.ts';
import { exact, type FilterTable, filterBy, resourceTags } from './listing.ts';
import { runInstances } from './run-instances.ts';
import { profileArn, stateReason, writeInstance, writeState } from './write-instance.ts';

const notFound = (ids: readonly string[]) =>
  awsError(
    'InvalidInstanceID.NotFound',
    ids.length === 1
      ? `The instance ID '${ids[0]}' does not exist`
      : `The instance IDs '${ids.join(', ')}' do not exist`,
  );

function checkIds(ids: readonly string[]): void {
  for (const id of ids)
    if (!/^i-[0-9a-f]{8,17}$/.test(id)) throw awsError('InvalidInstanceID.Malformed', `Invalid id: "${id}"`);
}

/** Those that EC2 still knows, or the call is refused as a whole. */
function named(caller: Caller, ids: readonly string[] | undefined): readonly CloudInstance[] {
  const wanted = [...new Set(ids ?? [])];
  checkIds(wanted);
  const { world, account, region } = caller;
  const keeps = 1000 * world.cloud.settings.show_terminated_s;
  const known = (instance: CloudInstance | undefined): instance is CloudInstance =>
    instance !== undefined &&
    instance.account === account &&
    instance.zone.startsWith(region) &&
    instance.now.state !== 'gone' &&
    (instance.exists || world.now() - instance.now.at <= keeps);
  const missing = wanted.filter((id) => !known(world.cloud.instance(id)));
  if (missing.length > 0) throw notFound(missing);
  return wanted.map((id) => world.cloud.instance(id)!);
}

function mayAll(caller: Caller, instances: readonly CloudInstance[]): void {
  for (const instance of instances)
    caller.may(caller.arn(`instance/${instance.id}`), {
      ...resourceTags(instance.now.tags),
      'ec2:InstanceType': [instance.order.machine_type],
    });
}

/** What an instance can be found by. */
const filters = (caller: Caller): FilterTable<Listed> => {
  const facts = ({ instance }: Listed) => caller.world.facts(instance);
  return {
    'instance-id': ({ instance }) => [instance.id],
    'instance-state-name': ({ snapshot }) => [writeState(snapshot).Name],
    'instance-state-code': ({ snapshot }) => exact(writeState(snapshot).Code),
    'instance-type': ({ instance }) => [instance.order.machine_type],
    'instance-lifecycle': ({ instance }) => (instance.market === 'spot' ? ['spot'] : []),
    'availability-zone': ({ instance }) => [instance.zone],
    'client-token': (each) => exact(facts(each).request.ClientToken),
    'reservation-id': (each) => [facts(each).reservation],
    'spot-instance-request-id': (each) => [facts(each).spotRequest],
    'image-id': (each) => [facts(each).image.id],
    'key-name': (each) => exact(facts(each).request.KeyName),
    'subnet-id': (each) => [facts(each).subnet.id],
    'network-interface.subnet-id': (each) => [facts(each).subnet.id],
    'vpc-id': (each) => [facts(each).subnet.vpc],
    'instance.group-id': (each) => facts(each).groups,
    'network-interface.group-id': (each) => facts(each).groups,
    'iam-instance-profile.arn': (each) => exact(facts(each).profile && profileArn(facts(each).profile!)),
    'private-ip-address': ({ snapshot }) => exact(snapshot.address),
    'network-interface.addresses.private-ip-address': ({ snapshot }) => exact(snapshot.address),
    'ip-address': ({ snapshot }) => exact(snapshot.outside),
    'state-reason-code': ({ snapshot }) => exact(stateReason(snapshot)?.Code),
    architecture: (each) => [facts(each).image.architecture],
    'launch-time': ({ instance }) => [new Date(instance.startedAt).toISOString()],
  };
};

const stateChange = (instance: CloudInstance, before: CloudInstance['now']): InstanceStateChange => ({
  InstanceId: instance.id,
  PreviousState: writeState(before),
  CurrentState: writeState(instance.now),
});

/** What EC2 must know of something it does to instances, whichever it is. */
function changeEach(
  caller: Caller,
  instances: readonly CloudInstance[],
  change: (instance: CloudInstance) => void,
): InstanceStateChange[] {
  caller.commit();
  return instances.map((instance) => {
    const before = instance.now;
    change(instance);
    return stateChange(instance, before);
  });
}

export const instanceHandlers: Ec2Handlers = {
  RunInstances: (request, caller) => runInstances(request, caller),

  DescribeInstances(request, caller) {
    caller.may();
    const ids = request.InstanceIds ?? [];
    checkIds(ids);
    if (ids.length > 0 && request.MaxResults !== undefined)
      throw awsError(
        'InvalidParameterCombination',
        'The parameter instancesSet cannot be used with the parameter maxResults',
      );
    if (request.MaxResults !== undefined && (request.MaxResults < 5 || request.MaxResults > 1000))
      throw awsError(
        'InvalidParameterValue',
        `Value ( ${request.MaxResults} ) for parameter maxResults is invalid. Expecting a value between 5 and 1000.`,
      );
    const fits = filterBy(request.Filters, filters(caller), ({ snapshot }) => snapshot.tags);
    const { world, account, region } = caller;
    const { entries, next } = world.cloud.page(
      account,
      { pageSize: request.MaxResults ?? undefined, pageToken: request.NextToken },
      (each) =>
        each.instance.zone.startsWith(region) && (ids.length === 0 || ids.includes(each.instance.id)) && fits(each),
    );
    const missing = ids.filter((id) => !entries.some(({ instance }) => instance.id === id));
    if (missing.length > 0 && !request.Filters?.length && next === undefined) throw notFound(missing);
    const byReservation = Map.groupBy(entries, ({ instance }) => world.facts(instance).reservation);
    return {
      Reservations: [...byReservation].map(([id, each]) => ({
        ReservationId: id,
        OwnerId: account,
        Groups: [],
        Instances: each.map((listed) => writeInstance(caller, listed)),
      })),
      NextToken: next,
    };
  },

  DescribeInstanceStatus(request, caller) {
    caller.may();
    const ids = request.InstanceIds ?? [];
    if (ids.length > 0) named(caller, ids);
    const fits = filterBy(request.Filters, filters(caller), ({ snapshot }) => snapshot.tags);
    const { world, account, region } = caller;
    const { entries, next } = world.cloud.page(
      account,
      { pageSize: request.MaxResults ?? undefined, pageToken: request.NextToken },
      (each) =>
        each.instance.zone.startsWith(region) &&
        (request.IncludeAllInstances || each.snapshot.state === 'running') &&
        (ids.length === 0 || ids.includes(each.instance.id)) &&
        fits(each),
    );
    return {
      InstanceStatuses: entries.map(({ instance, snapshot }) => {
        const runs = snapshot.state === 'running';
        const status = runs ? ('ok' as const) : ('not-applicable' as const);
        const details = runs ? [{ Name: 'reachability' as const, Status: 'passed' as const }] : [];
        return {
          InstanceId: instance.id,
          AvailabilityZone: instance.zone,
          InstanceState: writeState(snapshot),
          InstanceStatus: { Status: status, Details: details },
          SystemStatus: { Status: status, Details: details },
          Events: [],
        };
      }),
      NextToken: next,
    };
  },

  TerminateInstances({ InstanceIds: ids }, caller) {
    const instances = named(caller, ids);
    mayAll(caller, instances);
    const held = instances.find((instance) => caller.world.facts(instance).protected);
    if (held !== undefined)
      throw awsError(
        'OperationNotPermitted',
        `The instance '${held.id}' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.`,
      );
    return {
      TerminatingInstances: changeEach(caller, instances, ({ id }) =>
        caller.world.cloud.terminate(caller.account, [id]),
      ),
    };
  },

  StopInstances({ InstanceIds: ids }, caller) {
    const { world, account } = caller;
    const instances = named(caller, ids);
    mayAll(caller, instances);
    for (const instance of instances) {
      const request = world.spotRequests.get(account, world.facts(instance).spotRequest ?? '');
      if (instance.market === 'spot' && !request?.persistent)
        throw awsError(
          'UnsupportedOperation',
          `You can't stop the Spot Instance '${instance.id}' because it is associated with a one-time Spot Instance request. You can only stop Spot Instances associated with persistent Spot Instance requests.`,
        );
      if (world.facts(instance).stopProtected)
        throw awsError(
          'OperationNotPermitted',
          `The instance '${instance.id}' may not be stopped. Modify its 'disableApiStop' instance attribute and try again.`,
        );
      if (!/^(?:running|stopping|stopped)$/.test(instance.now.state)) throw wrongState(instance, 'stopped');
    }
    return { StoppingInstances: changeEach(caller, instances, ({ id }) => world.cloud.stop(account, id)) };
  },

  StartInstances({ InstanceIds: ids }, caller) {
    const { world, account } = caller;
    const instances = named(caller, ids);
    mayAll(caller, instances);
    for (const instance of instances)
      if (!/^(?:pending|running|stopped)$/.test(instance.now.state)) throw wrongState(instance, 'started');
    return { StartingInstances: changeEach(caller, instances, ({ id }) => world.cloud.start(account, id)) };
  },

  ModifyInstanceAttribute(request, caller) {
    const [instance] = named(caller, [request.InstanceId ?? '']);
    mayAll(caller, [instance!]);
    caller.commit();
    const { world, account } = caller;
    const facts = world.facts(instance!);
    if (request.DisableApiTermination?.Value !== undefined) facts.protected = request.DisableApiTermination.Value;
    if (request.DisableApiStop?.Value !== undefined) facts.stopProtected = request.DisableApiStop.Value;
    if (request.Groups?.length) facts.groups = request.Groups;
    for (const { DeviceName, Ebs } of request.BlockDeviceMappings ?? [])
      for (const disk of world.cloud.has.disks.of(account))
        if (disk.instance === instance!.id && disk.device === DeviceName && Ebs?.DeleteOnTermination !== undefined)
          disk.deleteWithInstance = Ebs.DeleteOnTermination;
    return {};
  },

  GetConsoleOutput({ InstanceId: id = '' }, caller) {
    const [instance] = named(caller, [id]);
    mayAll(caller, [instance!]);
    const text = instance!.exists ? caller.world.cloud.console(caller.account, id) : '';
    return { InstanceId: id, Timestamp: new Date(), Output: Buffer.from(text).toString('base64') };
  },
};

const wrongState = (instance: CloudInstance, verb: string) =>
  awsError(
    'IncorrectInstanceState',
    `The instance '${instance.id}' is not in a state from which it can be ${verb}: it is ${writeState(instance.now).Name}.`,
  );
