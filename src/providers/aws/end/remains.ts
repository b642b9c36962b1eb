import {
  DescribeNetworkInterfacesCommand,
  DescribeVolumesCommand,
  type Filter,
  type NetworkInterface,
  type Volume,
} from '@aws-sdk/client-ec2';
import type { Plain } from '../../../core/spec/cluster.ts';
import { mapOf } from '../../../core/spec/plain.ts';
import type { Remain } from '../../clouds.ts';
import type { AwsCalls } from '../client/calls.ts';
import { allPages, describeSpotRequests } from '../list/listing.ts';
import { diskPrice } from '../prices.ts';
import { clusterIdTag, fromAws, ofCluster } from '../tags.ts';
import { findOwnRole, taggedGroups, taggedKeys } from './belongings.ts';

/** Everything beside instances that carries the cluster's tag. `refused`: as `releaseMade` returns it. */
export async function findRemains(
  calls: AwsCalls,
  refused: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<readonly Remain[]> {
  const found = await Promise.all([
    disks(calls, signal),
    interfaces(calls, signal),
    findGroups(calls, signal),
    keyPairs(calls, signal),
    spotRequests(calls, signal),
    roles(calls, signal),
  ]);
  return found.flat().map((remain) => {
    const { kind, id } = remain;
    const why = [remain.detail, refused.get(`${kind} ${id}`) ?? refused.get(kind)].filter((each) => each !== undefined);
    return { ...remain, ...(why.length > 0 && { detail: why.join(': ') }) };
  });
}

async function disks(calls: AwsCalls, signal: AbortSignal): Promise<readonly Remain[]> {
  const { aws, client } = calls;
  const call = 'DescribeVolumes';
  const found = await allPages(
    call,
    (NextToken) => {
      const command = new DescribeVolumesCommand({ Filters: [ofCluster(client.clusterId)], NextToken });
      return aws.askPatiently({ call }, (options) => aws.ec2.send(command, options), signal);
    },
    ({ Volumes }) => Volumes,
  );
  const keeps = keepsDisks(calls);
  const kinds = [...new Set(found.flatMap(({ VolumeType }) => VolumeType ?? []))];
  // A price that AWS does not tell, or that this login may not ask for, is not known.
  const prices = new Map(
    await Promise.all(
      kinds.map(async (kind): Promise<[string, number | undefined]> => {
        const price = diskPrice(aws, calls.region, kind, signal);
        return [kind, await price.catch(() => undefined)];
      }),
    ),
  );
  return found.filter(outlives).map(({ VolumeId: id = '', State, Size = 0, VolumeType = '' }) => {
    const price = prices.get(VolumeType);
    return {
      kind: 'disk',
      id,
      ...(keeps && { keeps: 'by the file' as const }),
      detail: `${Size} GiB ${VolumeType}, ${State}`,
      ...(price !== undefined && { cost: Size * price }),
    };
  });
}

/** A disk of an instance that goes with it is the instance's matter. */
const outlives = ({ Attachments = [] }: Volume): boolean =>
  Attachments.every(({ DeleteOnTermination }) => DeleteOnTermination === false);

/** Whether the file says so of any disk. What a template says of its disks is not known here: it may. */
function keepsDisks({ client }: AwsCalls): boolean {
  const spec = client.spec();
  return [spec.head.launchConfig, ...spec.nodeTypes.map(({ launchConfig }) => launchConfig)].some(
    ({ BlockDeviceMappings: disks, LaunchTemplate }) =>
      LaunchTemplate !== undefined ||
      (Array.isArray(disks) &&
        (disks as readonly Plain[]).some((disk) => mapOf(mapOf(disk).Ebs).DeleteOnTermination === false)),
  );
}

async function describeInterfaces(
  { aws }: AwsCalls,
  filter: Filter,
  signal: AbortSignal,
): Promise<readonly NetworkInterface[]> {
  const call = 'DescribeNetworkInterfaces';
  return await allPages(
    call,
    (NextToken) => {
      const command = new DescribeNetworkInterfacesCommand({ Filters: [filter], NextToken });
      return aws.askPatiently({ call }, (options) => aws.ec2.send(command, options), signal);
    },
    ({ NetworkInterfaces }) => NetworkInterfaces,
  );
}

async function interfaces(calls: AwsCalls, signal: AbortSignal): Promise<readonly Remain[]> {
  const found = await describeInterfaces(calls, ofCluster(calls.client.clusterId), signal);
  return found
    .filter(({ Attachment }) => Attachment?.InstanceId === undefined || Attachment.DeleteOnTermination === false)
    .map(({ NetworkInterfaceId: id = '', Status }) => ({
      kind: 'network interface',
      id,
      ...(Status !== undefined && { detail: Status }),
    }));
}

/** `shared`: where instances of others are in it. */
export async function findGroups(calls: AwsCalls, signal: AbortSignal): Promise<readonly Remain[]> {
  const { aws, client } = calls;
  const found = await taggedGroups(aws, ofCluster(client.clusterId), signal);
  return await Promise.all(
    found.map(async ({ GroupId: id = '', GroupName: name }): Promise<Remain> => {
      const users = await describeInterfaces(calls, { Name: 'group-id', Values: [id] }, signal);
      const other = users.find(({ TagSet }) => fromAws(TagSet)[clusterIdTag] !== client.clusterId);
      return {
        ...{ kind: 'security group', id },
        ...(other !== undefined && { keeps: 'shared' as const }),
        detail: other === undefined ? (name ?? '') : `${name}, used by ${other.NetworkInterfaceId}`,
      };
    }),
  );
}

async function keyPairs({ aws, client }: AwsCalls, signal: AbortSignal): Promise<readonly Remain[]> {
  const found = await taggedKeys(aws, ofCluster(client.clusterId), signal);
  return found.map(({ KeyPairId: id = '', KeyName: name = '' }) => ({ kind: 'key pair', id, detail: name }));
}

async function spotRequests({ aws, client }: AwsCalls, signal: AbortSignal): Promise<readonly Remain[]> {
  const alive = { Name: 'state', Values: ['open', 'active'] };
  const found = await describeSpotRequests(aws, [ofCluster(client.clusterId), alive], signal);
  return found.map(({ SpotInstanceRequestId: id = '', Status }) => ({
    ...{ kind: 'spot request', id },
    ...(Status?.Code !== undefined && { detail: Status.Code }),
  }));
}

async function roles(calls: AwsCalls, signal: AbortSignal): Promise<readonly Remain[]> {
  const { role, profile } = await findOwnRole(calls, signal);
  return [
    ...(role === undefined ? [] : [{ kind: 'role', id: role.RoleName ?? '' }]),
    ...(profile === undefined ? [] : [{ kind: 'instance profile', id: profile.InstanceProfileName ?? '' }]),
  ];
}
