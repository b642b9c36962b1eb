import { DescribeAvailabilityZonesCommand, DescribeSubnetsCommand } from '@aws-sdk/client-ec2';
import { isText, mapOf } from '../../../core/spec/plain.ts';
import type { Path } from '../../../core/spec/problem.ts';
import { pathText } from '../../../core/spec/problems.ts';
import { awsErrors } from '../errors.ts';
import { type FileType, hasPlacedInterfaces, mapsOf, subnetsIn } from './file-types.ts';
import type { Scene, Told } from './scene.ts';

export interface Subnet {
  readonly id: string;
  readonly zone: string;
  readonly vpc: string;
  readonly isAvailable: boolean;
  /** Instances in it get a public address. */
  readonly isPublic: boolean;
  /** Of the VPC that AWS makes for every account. */
  readonly isDefault: boolean;
}

/** Where instances go. */
export interface SubnetChoice extends Told {
  /** Of the types whose network the file does not leave to EC2, in order of preference. */
  readonly byType: ReadonlyMap<FileType, readonly Subnet[]>;
  /** Absent where every type has interfaces of its own that name no subnet. */
  readonly vpc?: string;
}

/** Something in the file that is in one VPC, and where it stands. */
export interface InVpc {
  readonly at: Path;
  readonly vpc: string;
}

export async function lookAtSubnets(scene: Scene): Promise<readonly Subnet[]> {
  const pages = await scene.askAll('ec2:DescribeSubnets', (page, options) =>
    scene.aws.ec2.send(new DescribeSubnetsCommand(page), options),
  );
  const all = pages.flatMap(({ Subnets }) => Subnets ?? []);
  const home = all.find(({ DefaultForAz }) => DefaultForAz)?.VpcId;
  return all.map((subnet) => ({
    id: subnet.SubnetId ?? '',
    zone: subnet.AvailabilityZone ?? '',
    vpc: subnet.VpcId ?? '',
    isAvailable: subnet.State === 'available',
    isPublic: subnet.MapPublicIpOnLaunch === true,
    isDefault: subnet.VpcId === home,
  }));
}

/** Zones of `provider.availability_zone`, in order. Empty: all. */
function zonesInFile({ spec }: Scene): readonly string[] {
  const { availability_zone: zones } = spec.provider.config;
  return isText(zones) ? [...new Set(zones.split(',').map((zone) => zone.trim()))].filter(Boolean) : [];
}

/** Zones bear the name of their region: no call is needed to tell that one is in another. */
export function checkZones(scene: Scene, types: readonly FileType[]): void {
  const { region, spec } = scene;
  const named = [
    ...zonesInFile(scene).map((zone) => ({ at: ['provider', 'availability_zone'], zone })),
    ...placedZones(types),
    ...[...spec.provider.manta.nodeTypes].flatMap(([name, { zones }]) =>
      zones.map((zone) => ({ at: ['provider', 'manta', 'node_types', name, 'zones'], zone })),
    ),
  ];
  const stray = named.find(({ zone }) => !zone.startsWith(region));
  if (stray !== undefined) throw awsErrors.ZoneOutside({ ...stray, region });
}

/** Picks subnets for every type, all in one VPC. `others`: what else of the file is in a VPC. */
export function chooseSubnets(
  scene: Scene,
  types: readonly FileType[],
  all: readonly Subnet[],
  others: readonly InVpc[],
): SubnetChoice {
  const given = types.flatMap((type) => givenSubnets(scene, type, all));
  const bound = [...given.map(({ at, subnet }) => ({ at, vpc: subnet.vpc })), ...others];
  const stray = bound.find(({ vpc }) => vpc !== bound[0]?.vpc);
  if (stray !== undefined) throw awsErrors.SeveralNetworks({ at: stray.at, networks: bound });
  const byType = new Map<FileType, readonly Subnet[]>(
    types
      .filter(({ config }) => !hasPlacedInterfaces(config) && subnetsIn(config).length > 0)
      .map((type) => [type, given.filter((each) => each.type === type).map(({ subnet }) => subnet)] as const),
  );
  const free = types.filter(({ config }) => !hasPlacedInterfaces(config) && subnetsIn(config).length === 0);
  if (free.length === 0) return { byType, steps: [], warnings: [], ...(bound[0] && { vpc: bound[0].vpc }) };
  const { usable, note, warnings } = chooseVpc(scene, all, bound[0]);
  for (const type of free)
    byType.set(type, placedZone(type) === undefined ? usable : inZoneOf(scene, type, all, usable));
  const zones = [...new Set(usable.map(({ zone }) => zone))];
  const vpc = usable[0]!.vpc;
  return {
    ...{ byType, vpc, warnings },
    steps: [{ what: 'subnets', action: 'found', id: vpc, note: `${note}; zones ${zones.join(', ')}` }],
  };
}

interface Given {
  readonly type: FileType;
  readonly at: Path;
  readonly subnet: Subnet;
}

function givenSubnets(scene: Scene, type: FileType, all: readonly Subnet[]): readonly Given[] {
  const { at, config } = type;
  const cards = mapsOf(config.NetworkInterfaces).flatMap(({ SubnetId: id }, index) =>
    isText(id) ? [{ at: [...at, 'NetworkInterfaces', index, 'SubnetId'], id }] : [],
  );
  const own = subnetsIn(config).map((id) => ({ at: [...at, 'SubnetId' in config ? 'SubnetId' : 'SubnetIds'], id }));
  const placed = placedZone(type);
  const wanted = placed === undefined ? zonesInFile(scene) : [placed];
  return [...own, ...cards].map((named) => {
    const subnet = all.find(({ id }) => id === named.id);
    if (subnet === undefined) throw awsErrors.NoSubnet({ at: named.at, subnet: named.id, region: scene.region });
    if (wanted.length > 0 && !wanted.includes(subnet.zone))
      throw awsErrors.SubnetOutside({ at: named.at, subnet: subnet.id, zone: subnet.zone, wanted });
    return { type, at: named.at, subnet };
  });
}

function chooseVpc(scene: Scene, all: readonly Subnet[], bound: InVpc | undefined) {
  const zones = zonesInFile(scene);
  const internal = scene.spec.provider.config.use_internal_ips === true;
  const rank = ({ zone }: Subnet): number => (zones.length === 0 ? 0 : zones.indexOf(zone));
  const usable = all
    .filter((subnet) => whyNot(subnet, { zones, internal, vpc: bound?.vpc }) === undefined)
    .sort((one, other) => rank(one) - rank(other) || (one.zone < other.zone ? -1 : one.zone > other.zone ? 1 : 0));
  const vpcs = [...Map.groupBy(usable, ({ vpc }) => vpc)].sort(
    ([, one], [, other]) =>
      Number(other[0]!.isDefault) - Number(one[0]!.isDefault) ||
      new Set(other.map(({ zone }) => zone)).size - new Set(one.map(({ zone }) => zone)).size,
  );
  const [chosen] = vpcs;
  if (chosen === undefined)
    throw awsErrors.NoUsableSubnet({
      region: scene.region,
      looked: all.map((subnet) => ({
        id: subnet.id,
        zone: subnet.zone,
        why: whyNot(subnet, { zones, internal, vpc: bound?.vpc }) ?? '',
      })),
    });
  const [, subnets] = chosen;
  const missing = zones.filter((zone) => !subnets.some((subnet) => subnet.zone === zone));
  return {
    usable: subnets,
    note:
      bound !== undefined
        ? `the VPC of ${pathText(bound.at)}`
        : subnets[0]!.isDefault
          ? 'the default VPC'
          : vpcs.length > 1
            ? `the VPC with the most zones of ${vpcs.length}; name SubnetIds to choose another`
            : 'the only VPC with usable subnets',
    warnings: missing.map(
      (zone) => `zone ${zone} has no subnet that can be used in ${subnets[0]!.vpc}; it is left out`,
    ),
  };
}

interface Wanted {
  readonly zones: readonly string[];
  readonly internal: boolean;
  readonly vpc: string | undefined;
}

function whyNot(subnet: Subnet, { zones, internal, vpc }: Wanted): string | undefined {
  if (vpc !== undefined && subnet.vpc !== vpc) return `is not in ${vpc}`;
  if (!subnet.isAvailable) return 'is not available yet';
  if (zones.length > 0 && !zones.includes(subnet.zone)) return `is not in ${zones.join(', ')}`;
  if (!internal && !subnet.isPublic) return 'gives no public addresses (use_internal_ips is not set)';
  return undefined;
}

/** The one zone that a type names for itself. */
function placedZone({ config }: FileType): string | undefined {
  const { AvailabilityZone: zone } = mapOf(config.Placement);
  return isText(zone) ? zone : undefined;
}

const placedZones = (types: readonly FileType[]): readonly { readonly at: Path; readonly zone: string }[] =>
  types.flatMap((type) => {
    const zone = placedZone(type);
    return zone === undefined ? [] : [{ at: [...type.at, 'Placement', 'AvailabilityZone'], zone }];
  });

/** A type that is placed in one zone has only the subnets there, whatever zones the others have. */
function inZoneOf(
  { region, spec }: Scene,
  type: FileType,
  all: readonly Subnet[],
  [other]: readonly Subnet[],
): readonly Subnet[] {
  const internal = spec.provider.config.use_internal_ips === true;
  const wanted = { zones: [placedZone(type)!], internal, vpc: other?.vpc };
  const there = all.filter((subnet) => whyNot(subnet, wanted) === undefined);
  if (there.length > 0) return there;
  const looked = all.map((subnet) => ({ id: subnet.id, zone: subnet.zone, why: whyNot(subnet, wanted) ?? '' }));
  throw awsErrors.NoUsableSubnet({ region, looked });
}

/** Throws where zones of the file do not exist. Asked only where one of them has no subnet. */
export async function checkZonesExist(scene: Scene, types: readonly FileType[], all: readonly Subnet[]): Promise<void> {
  const named = [
    ...zonesInFile(scene).map((zone) => ({ at: ['provider', 'availability_zone'], zone })),
    ...placedZones(types),
  ];
  const doubtful = named.filter(({ zone }) => !all.some((subnet) => subnet.zone === zone));
  if (doubtful.length === 0) return;
  const { AvailabilityZones: found = [] } = await scene.ask('ec2:DescribeAvailabilityZones', (options) =>
    scene.aws.ec2.send(new DescribeAvailabilityZonesCommand({}), options),
  );
  const zones = found.flatMap(({ ZoneName: name }) => name ?? []);
  const stray = doubtful.find(({ zone }) => !zones.includes(zone));
  if (stray !== undefined) throw awsErrors.ZoneOutside({ ...stray, region: scene.region, zones });
}
