import type { VolumeType } from '@aws-sdk/client-ec2';
import type { Disk, Reservation } from '../../cloud/belongings.ts';
import type { Caller } from '../caller.ts';
import { awsError } from '../errors.ts';
import type { Ec2Handlers } from '../handlers.ts';
import type { SpotRequest } from '../world.ts';
import { byIds, exact, filterBy, mayTouch, pageOf, writeTags } from './listing.ts';

/** An announced end is in the request two minutes before, as long as it is announced. */
function statusOf({ world }: Caller, { instance, code, createdAt }: SpotRequest) {
  const end = world.cloud.instance(instance)?.now.preemptionAt;
  const shown = end === undefined || code !== 'fulfilled' ? code : 'marked-for-termination';
  return { Code: shown, Message: shown, UpdateTime: new Date(shown === code ? createdAt : end! - 120_000) };
}

export const volumeHandlers: Ec2Handlers = {
  DescribeVolumes(request, caller) {
    caller.may();
    const all = caller.world.cloud.has.disks.of(caller.account, caller.region);
    const status = ({ instance }: Disk) => (instance === undefined ? 'available' : 'in-use');
    const fits = filterBy<Disk>(
      request.Filters,
      {
        'volume-id': ({ id }) => [id],
        'attachment.instance-id': ({ instance }) => [instance],
        'attachment.delete-on-termination': ({ deleteWithInstance }) => exact(deleteWithInstance),
        status: (disk) => [status(disk)],
        'availability-zone': ({ zone }) => [zone],
        size: ({ gib }) => exact(gib),
        'volume-type': ({ kind }) => [kind],
      },
      ({ tags }) => tags,
    );
    const found = byIds(all, request.VolumeIds, 'InvalidVolume.NotFound', 'volume').filter(fits);
    const { page, next } = pageOf(caller, found, request);
    return {
      Volumes: page.map((disk) => ({
        VolumeId: disk.id,
        Size: disk.gib,
        VolumeType: disk.kind as VolumeType,
        AvailabilityZone: disk.zone,
        State: status(disk),
        CreateTime: new Date(disk.createdAt),
        Encrypted: disk.encrypted ?? false,
        Iops: disk.iops,
        Throughput: disk.throughput,
        MultiAttachEnabled: false,
        Attachments:
          disk.instance === undefined
            ? []
            : [
                {
                  VolumeId: disk.id,
                  InstanceId: disk.instance,
                  Device: disk.device,
                  State: 'attached' as const,
                  AttachTime: new Date(disk.createdAt),
                  DeleteOnTermination: disk.deleteWithInstance,
                },
              ],
        Tags: writeTags(disk.tags),
      })),
      NextToken: next,
    };
  },

  DeleteVolume({ VolumeId: id = '' }, caller) {
    const { disks } = caller.world.cloud.has;
    const disk = disks.get(caller.account, id);
    if (disk === undefined) throw awsError('InvalidVolume.NotFound', `The volume '${id}' does not exist.`);
    mayTouch(caller, 'volume', disk);
    if (disk.instance !== undefined)
      throw awsError('VolumeInUse', `Volume ${id} is currently attached to ${disk.instance}`);
    caller.commit();
    disks.delete(id);
    return {};
  },

  DescribeCapacityReservations(request, caller) {
    caller.may();
    const { world, account, region } = caller;
    const all = world.cloud.has.reservations.of(account, region);
    const state = ({ until }: Reservation) =>
      until !== undefined && until <= world.now() ? ('expired' as const) : ('active' as const);
    const used = ({ id }: Reservation): number =>
      world.cloud.existing(account).filter(({ order }) => order.reservation === id).length;
    const fits = filterBy<Reservation>(
      request.Filters,
      {
        'instance-type': ({ type }) => [type],
        'availability-zone': ({ zone }) => [zone],
        state: (each) => [state(each)],
        'instance-match-criteria': ({ targeted }) => [targeted ? 'targeted' : 'open'],
      },
      ({ tags }) => tags,
    );
    const ids = request.CapacityReservationIds;
    const found = byIds(all, ids, 'InvalidCapacityReservationId.NotFound', 'capacity reservation ID').filter(fits);
    const { page, next } = pageOf(caller, found, request);
    return {
      CapacityReservations: page.map((each) => ({
        CapacityReservationId: each.id,
        CapacityReservationArn: caller.arn(`capacity-reservation/${each.id}`),
        OwnerId: account,
        InstanceType: each.type,
        InstancePlatform: 'Linux/UNIX' as const,
        AvailabilityZone: each.zone,
        Tenancy: 'default' as const,
        TotalInstanceCount: each.total,
        AvailableInstanceCount: Math.max(0, each.total - used(each)),
        State: state(each),
        StartDate: new Date(each.createdAt),
        CreateDate: new Date(each.createdAt),
        EndDateType: each.until === undefined ? ('unlimited' as const) : ('limited' as const),
        ...(each.until !== undefined && { EndDate: new Date(each.until) }),
        InstanceMatchCriteria: each.targeted ? ('targeted' as const) : ('open' as const),
        ReservationType: each.block ? ('capacity-block' as const) : ('default' as const),
        EphemeralStorage: false,
        EbsOptimized: true,
        Tags: writeTags(each.tags),
      })),
      NextToken: next,
    };
  },

  DescribeSpotInstanceRequests(request, caller) {
    caller.may();
    const all = caller.world.spotRequests.of(caller.account, caller.region);
    const fits = filterBy<SpotRequest>(
      request.Filters,
      {
        'spot-instance-request-id': ({ id }) => [id],
        state: ({ state }) => [state],
        'instance-id': ({ instance }) => [instance],
        'status-code': ({ code }) => [code],
        type: ({ persistent }) => [persistent ? 'persistent' : 'one-time'],
        'launched-availability-zone': ({ zone }) => [zone],
      },
      ({ tags }) => tags,
    );
    const ids = request.SpotInstanceRequestIds;
    const found = byIds(all, ids, 'InvalidSpotInstanceRequestID.NotFound', 'spot instance request ID').filter(fits);
    const { page, next } = pageOf(caller, found, request);
    return {
      SpotInstanceRequests: page.map((each) => ({
        SpotInstanceRequestId: each.id,
        InstanceId: each.instance,
        State: each.state,
        Status: statusOf(caller, each),
        Type: each.persistent ? ('persistent' as const) : ('one-time' as const),
        SpotPrice: each.maxPrice,
        CreateTime: new Date(each.createdAt),
        LaunchedAvailabilityZone: each.zone,
        ProductDescription: 'Linux/UNIX' as const,
        InstanceInterruptionBehavior: 'terminate' as const,
        Tags: writeTags(each.tags),
      })),
      NextToken: next,
    };
  },

  /** The instances of a request that is cancelled go on. */
  CancelSpotInstanceRequests({ SpotInstanceRequestIds: ids = [] }, caller) {
    const all = caller.world.spotRequests.of(caller.account, caller.region);
    const found = byIds(all, ids, 'InvalidSpotInstanceRequestID.NotFound', 'spot instance request ID');
    for (const each of found) mayTouch(caller, 'spot-instances-request', each);
    caller.commit();
    for (const each of found) {
      if (each.state === 'closed') continue;
      const lives = each.state === 'active';
      each.state = 'cancelled';
      each.code = lives ? 'request-canceled-and-instance-running' : 'canceled-before-fulfillment';
    }
    return {
      CancelledSpotInstanceRequests: found.map(({ id, state }) => ({
        SpotInstanceRequestId: id,
        State: state as 'cancelled',
      })),
    };
  },
};
