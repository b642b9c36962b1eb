import type { RunInstancesRequest } from '@aws-sdk/client-ec2';
import type { DiskOrder, Group, Image, Profile } from '../../cloud/belongings.ts';
import type { Market } from '../../cloud/catalog.ts';
import type { CloudError } from '../../cloud/errors.ts';
import type { LaunchOrder } from '../../cloud/instance.ts';
import type { Caller } from '../caller.ts';
import type { AwsType } from '../catalog.ts';
import { awsError } from '../errors.ts';
import type { LaunchTemplate, Subnet } from '../world.ts';
import { allGroups } from './groups.ts';
import { allKeys } from './keys.ts';
import { specifiedTags, type Tags } from './listing.ts';
import { allSubnets } from './network.ts';
import { profileArn } from './write-instance.ts';

const invalid = (message: string): CloudError => awsError('InvalidParameterValue', message);

/** A launch whose every name has been looked up. */
export interface LaunchPlan {
  readonly request: RunInstancesRequest;
  readonly template: LaunchTemplate | undefined;
  readonly image: Image;
  readonly type: AwsType;
  /** Those that it may go to, in the order in which they are tried. */
  readonly subnets: readonly Subnet[];
  /** Whether the caller chose the subnet or the zone. */
  readonly placed: boolean;
  readonly groups: readonly Group[];
  readonly profile: Profile | undefined;
  readonly market: Market;
  readonly persistent: boolean;
  readonly maxPrice: number | undefined;
  readonly reservation: string | undefined;
  readonly tags: ReadonlyMap<string, Tags>;
  readonly disks: readonly DiskOrder[];
  readonly outside: boolean | undefined;
  readonly login: LaunchOrder['login'];
}

const taggable = ['instance', 'volume', 'network-interface', 'spot-instances-request', 'elastic-gpu'] as const;

/** Looks up what a launch names; throws EC2's words for what it cannot have. */
export function planOf(request: RunInstancesRequest, template: LaunchTemplate | undefined, caller: Caller): LaunchPlan {
  const { MinCount: least = 1, MaxCount: most = 1, ClientToken: token } = request;
  if (least < 1 || most < least)
    throw invalid(
      `Invalid value '${least}' for min instance count. It must be at least 1, and at most max instance count.`,
    );
  if (token !== undefined && (token.length > 64 || !/^[\x20-\x7e]*$/.test(token)))
    throw invalid(`Invalid value '${token}' for clientToken. It must be 64 or fewer ASCII characters.`);
  const { image, type } = machineOf(request, caller);
  const { subnets, groups, outside, placed } = placeOf(request, caller);
  const market = marketOf(request, type, subnets, caller);
  const key = keyOf(request, caller);
  checkUserData(request.UserData);
  const tags = specifiedTags(request.TagSpecifications, taggable);
  return {
    ...{ request, template, image, type, subnets, groups, outside, placed, ...market, tags },
    profile: profileOf(request, caller),
    disks: disksOf(request, image, tags.get('volume') ?? {}),
    login: key === undefined ? undefined : { user: image.user, public_key: key },
  };
}

function machineOf({ ImageId: id, InstanceType: name = 'm1.small' }: RunInstancesRequest, caller: Caller) {
  const { world, account, region } = caller;
  if (id === undefined) throw awsError('MissingParameter', 'The request must contain the parameter ImageId');
  if (!/^ami-[0-9a-f]{8,17}$/.test(id))
    throw awsError('InvalidAMIID.Malformed', `Invalid id: "${id}" (expecting "ami-...")`);
  const image = world.images(account, region).find((each) => each.id === id);
  if (image === undefined) throw awsError('InvalidAMIID.NotFound', `The image id '[${id}]' does not exist`);
  const type = world.type(name);
  if (type === undefined) throw invalid(`Invalid value '${name}' for InstanceType.`);
  if (type.architecture !== image.architecture)
    throw invalid(
      `The architecture '${type.architecture}' of the specified instance type does not match the architecture '${image.architecture}' of the specified AMI. Specify an instance type and an AMI that have matching architectures, and try again. You can use 'describe-instance-types' or 'describe-images' to discover the architecture of the instance type or AMI.`,
    );
  return { image, type };
}

function placeOf(request: RunInstancesRequest, caller: Caller) {
  const interfaces = request.NetworkInterfaces ?? [];
  const [first] = interfaces;
  if (first && request.SubnetId !== undefined)
    throw awsError(
      'InvalidParameterCombination',
      'Network interfaces and an instance-level subnet ID may not be specified on the same request',
    );
  if (first && (request.SecurityGroupIds?.length || request.SecurityGroups?.length))
    throw awsError(
      'InvalidParameterCombination',
      'Network interfaces and an instance-level security groups may not be specified on the same request',
    );
  if (interfaces.length > 1 && interfaces.some(({ AssociatePublicIpAddress }) => AssociatePublicIpAddress))
    throw awsError(
      'InvalidParameterCombination',
      'The associatePublicIPAddress parameter cannot be specified when launching with multiple network interfaces.',
    );
  const wanted = first?.SubnetId ?? request.SubnetId;
  const zone = request.Placement?.AvailabilityZone;
  const subnets = subnetsOf(wanted, zone, caller);
  return {
    subnets,
    placed: wanted !== undefined || zone !== undefined,
    groups: groupsOf(first?.Groups ?? request.SecurityGroupIds, request.SecurityGroups, subnets[0]!, caller),
    // With several interfaces none gets a public address by itself.
    outside: interfaces.length > 1 ? false : first?.AssociatePublicIpAddress,
  };
}

function subnetsOf(id: string | undefined, zone: string | undefined, caller: Caller): readonly Subnet[] {
  const { region, world } = caller;
  const all = allSubnets(caller);
  if (zone !== undefined && !world.zonesOf(region).includes(zone))
    throw invalid(`Invalid availability zone: [${zone}]`);
  if (id !== undefined) {
    const found = all.find((subnet) => subnet.id === id);
    if (found === undefined) throw awsError('InvalidSubnetID.NotFound', `The subnet ID '${id}' does not exist`);
    if (zone !== undefined && found.zone !== zone)
      throw invalid(`The availability zone '${zone}' and the subnet '${id}' do not match.`);
    return [found];
  }
  const own = all.filter(({ isDefault }) => isDefault);
  if (own.length === 0)
    throw awsError(
      'VPCIdNotSpecified',
      'No default VPC for this user. GroupName is only supported for EC2-Classic and default VPC.',
    );
  const found = own.filter((subnet) => zone === undefined || subnet.zone === zone);
  if (found.length === 0) throw awsError('MissingInput', `No default subnet for availability zone: '${zone}'.`);
  return found;
}

function groupsOf(
  ids: readonly string[] | undefined,
  names: readonly string[] | undefined,
  subnet: Subnet,
  caller: Caller,
) {
  const all = allGroups(caller);
  const found = [
    ...(ids ?? []).map((id) => all.find((group) => group.id === id) ?? id),
    ...(names ?? []).map((name) => all.find((group) => group.name === name && group.network === subnet.vpc) ?? name),
  ].map((group) => {
    if (typeof group === 'string')
      throw awsError('InvalidGroup.NotFound', `The security group '${group}' does not exist`);
    if (group.network !== subnet.vpc)
      throw awsError(
        'InvalidParameter',
        `Security group ${group.id} and subnet ${subnet.id} belong to different networks.`,
      );
    return group;
  });
  if (found.length > 0) return found;
  return all.filter((group) => group.name === 'default' && group.network === subnet.vpc);
}

function marketOf(request: RunInstancesRequest, type: AwsType, subnets: readonly Subnet[], caller: Caller) {
  const { world, account, region } = caller;
  const options = request.InstanceMarketOptions;
  const target = request.CapacityReservationSpecification?.CapacityReservationTarget?.CapacityReservationId;
  const none = { persistent: false, maxPrice: undefined, reservation: undefined };
  if (options?.MarketType === 'capacity-block' && target === undefined)
    throw awsError('MissingParameter', 'The request must contain a capacity reservation ID for a Capacity Block');
  if (target !== undefined) {
    const found = world.cloud.has.reservations.of(account, region).find(({ id }) => id === target);
    if (found === undefined)
      throw awsError('InvalidCapacityReservationId.NotFound', `The capacity reservation ID '${target}' does not exist`);
    if (found.type !== type.name)
      throw awsError(
        'InvalidCapacityReservationId.Mismatch',
        `The instance type '${type.name}' does not match the Capacity Reservation ${target}`,
      );
    return { ...none, market: 'reserved' as const, reservation: target };
  }
  if (options?.MarketType !== 'spot') return { ...none, market: 'on-demand' as const };
  const { MaxPrice, SpotInstanceType, InstanceInterruptionBehavior: behaviour } = options.SpotOptions ?? {};
  const persistent = SpotInstanceType === 'persistent';
  if (!persistent && behaviour !== undefined && behaviour !== 'terminate')
    throw awsError(
      'InvalidParameterCombination',
      `The interruption behavior '${behaviour}' requires a persistent Spot request`,
    );
  const maxPrice = MaxPrice === undefined ? undefined : Number(MaxPrice);
  if (maxPrice !== undefined && !(maxPrice > 0)) throw invalid(`Invalid value '${MaxPrice}' for MaxPrice.`);
  const price = spotPrice(caller, type.name, subnets[0]!.zone);
  if (maxPrice !== undefined && maxPrice < price)
    throw awsError(
      'SpotMaxPriceTooLow',
      `Your Spot request price of ${maxPrice} is lower than the minimum required Spot request fulfillment price of ${price}.`,
    );
  return { ...none, market: 'spot' as const, persistent, maxPrice };
}

const spotPrice = ({ world }: Caller, type: string, zone: string): number =>
  world.cloud.prices({ types: [type], zones: [zone] }).find(({ market }) => market === 'spot')!.price;

function keyOf({ KeyName: name }: RunInstancesRequest, caller: Caller): string | undefined {
  if (name === undefined) return undefined;
  const found = allKeys(caller).find((key) => key.name === name);
  if (found === undefined) throw awsError('InvalidKeyPair.NotFound', `The key pair '${name}' does not exist`);
  return found.publicKey;
}

function checkUserData(text: string | undefined): void {
  if (text === undefined || text === '') return;
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(text))
    throw awsError('InvalidUserData.Malformed', 'Invalid BASE64 encoding of user data.');
  if (Buffer.from(text, 'base64').length > 16_384) throw invalid('User data is limited to 16384 bytes');
}

/** A profile is known to IAM before it is to EC2. */
function profileOf({ IamInstanceProfile: given }: RunInstancesRequest, caller: Caller): Profile | undefined {
  if (given === undefined) return undefined;
  const { Arn: arn, Name: name } = given;
  if (arn !== undefined && name !== undefined)
    throw awsError(
      'InvalidParameterCombination',
      "The parameter 'iamInstanceProfile.name' may not be used in combination with 'iamInstanceProfile.arn'",
    );
  const { world, account } = caller;
  const wanted = name ?? arn?.slice(arn.lastIndexOf('/') + 1) ?? '';
  const found = world.profile(account, wanted);
  const what = name === undefined ? 'arn' : 'name';
  const known = (at: number): boolean => at + 1000 * world.cloud.settings.role_lag_s <= world.now();
  const role = found?.role === undefined ? undefined : world.role(account, found.role);
  if (found === undefined || !known(found.createdAt) || (arn !== undefined && arn !== profileArn(found)))
    throw invalid(
      `Value (${name ?? arn}) for parameter iamInstanceProfile.${what} is invalid. Invalid IAM Instance Profile ${what === 'arn' ? 'ARN' : what}`,
    );
  if (role === undefined || !known(role.createdAt))
    throw invalid(`IAM Instance Profile "${profileArn(found)}" has no associated IAM Roles`);
  return found;
}

function disksOf(
  { BlockDeviceMappings: given = [] }: RunInstancesRequest,
  image: Image,
  tags: Tags,
): readonly DiskOrder[] {
  const root: DiskOrder = {
    device: image.rootDevice,
    gib: image.rootGib,
    kind: 'gp3',
    deleteWithInstance: true,
    image: image.id,
    tags,
  };
  const disks = new Map([[root.device, root]]);
  for (const { DeviceName: device = '', Ebs: ebs, NoDevice, VirtualName } of given) {
    if (device === '') throw awsError('MissingParameter', 'The request must contain the parameter deviceName');
    if (NoDevice !== undefined || VirtualName !== undefined) continue;
    const before = disks.get(device);
    const gib = ebs?.VolumeSize ?? before?.gib ?? (ebs?.SnapshotId === undefined ? undefined : 8);
    if (gib === undefined)
      throw awsError('MissingParameter', 'The request must contain the parameter size or snapshotId');
    if (before !== undefined && gib < before.gib)
      throw awsError(
        'InvalidBlockDeviceMapping',
        `Volume of size ${gib}GB is smaller than snapshot '${image.id.replace('ami-', 'snap-')}', expect size >= ${before.gib}GB`,
      );
    if (gib < 1 || gib > 65_536) throw invalid(`Volume of ${gib}GiB is out of range`);
    const kind = ebs?.VolumeType ?? before?.kind ?? 'gp2';
    if (/^io[12]$/.test(kind) && ebs?.Iops === undefined)
      throw awsError('MissingParameter', `The parameter iops must be specified for ${kind} volumes.`);
    disks.set(device, {
      ...before,
      device,
      gib,
      kind,
      deleteWithInstance: ebs?.DeleteOnTermination ?? before?.deleteWithInstance ?? true,
      iops: ebs?.Iops,
      throughput: ebs?.Throughput,
      encrypted: ebs?.Encrypted ?? false,
      tags,
    });
  }
  return [...disks.values()];
}
