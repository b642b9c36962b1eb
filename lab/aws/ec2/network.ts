import type { CloudInstance } from '../../cloud/instance.ts';
import type { Caller } from '../caller.ts';
import { regionNames } from '../catalog.ts';
import type { Ec2Handlers } from '../handlers.ts';
import { hex, type Subnet, type Vpc } from '../world.ts';
import { byIds, exact, filterBy, pageOf, writeTags } from './listing.ts';

export const allSubnets = ({ world, account, region }: Caller): readonly Subnet[] => {
  world.network(account, region);
  return world.subnets.of(account, region);
};

const allVpcs = ({ world, account, region }: Caller): readonly Vpc[] => {
  world.network(account, region);
  return world.vpcs.of(account, region);
};

/** Instances that have an address in a subnet. */
export const inSubnet = ({ world, account }: Caller, subnet: string): readonly CloudInstance[] =>
  world.cloud.existing(account).filter((instance) => world.facts(instance).subnet.id === subnet);

/** The same zone has another name in another account, and the same id. */
const zoneId = (zone: string): string =>
  zone.replace(
    /^(\w)\w*-(\w)\w*-(\d)(\w)$/,
    (_, a: string, b: string, n: string, letter: string) => `${a}s${b}${n}-az${letter.charCodeAt(0) - 96}`,
  );

interface Table {
  readonly id: string;
  readonly vpc: Vpc;
  readonly main: boolean;
  readonly subnets: readonly Subnet[];
  readonly routed: boolean;
}

/** Each network has a main table, which leads out, and one for subnets from which nothing does. */
const routeTables = (caller: Caller): readonly Table[] =>
  allVpcs(caller).flatMap((vpc) => {
    const subnets = allSubnets(caller).filter((subnet) => subnet.vpc === vpc.id);
    const closed = subnets.filter(({ routed }) => !routed);
    const main = { id: `rtb-${hex(vpc.id, 17)}`, vpc, main: true, subnets: [], routed: true };
    return closed.length === 0
      ? [main]
      : [main, { id: `rtb-${hex(`${vpc.id} closed`, 17)}`, vpc, main: false, subnets: closed, routed: false }];
  });

const gatewayOf = (vpc: Vpc): string => `igw-${hex(vpc.id, 17)}`;

export const networkHandlers: Ec2Handlers = {
  DescribeVpcs(request, caller) {
    caller.may();
    const fits = filterBy<Vpc>(
      request.Filters,
      {
        'vpc-id': ({ id }) => [id],
        isDefault: ({ isDefault }) => exact(isDefault),
        'is-default': ({ isDefault }) => exact(isDefault),
        cidr: ({ cidr }) => [cidr],
        state: () => ['available'],
      },
      ({ tags }) => tags,
    );
    const found = byIds(allVpcs(caller), request.VpcIds, 'InvalidVpcID.NotFound', 'vpc ID').filter(fits);
    const { page, next } = pageOf(caller, found, request);
    return {
      Vpcs: page.map((vpc) => ({
        VpcId: vpc.id,
        OwnerId: vpc.account,
        CidrBlock: vpc.cidr,
        IsDefault: vpc.isDefault,
        State: 'available' as const,
        InstanceTenancy: 'default' as const,
        DhcpOptionsId: `dopt-${hex(vpc.id, 17)}`,
        CidrBlockAssociationSet: [
          {
            AssociationId: `vpc-cidr-assoc-${hex(vpc.id, 17)}`,
            CidrBlock: vpc.cidr,
            CidrBlockState: { State: 'associated' as const },
          },
        ],
        Tags: writeTags(vpc.tags),
      })),
      NextToken: next,
    };
  },

  DescribeSubnets(request, caller) {
    caller.may();
    const fits = filterBy<Subnet>(
      request.Filters,
      {
        'subnet-id': ({ id }) => [id],
        'vpc-id': ({ vpc }) => [vpc],
        'availability-zone': ({ zone }) => [zone],
        availabilityZone: ({ zone }) => [zone],
        'default-for-az': ({ isDefault }) => exact(isDefault),
        defaultForAz: ({ isDefault }) => exact(isDefault),
        'map-public-ip-on-launch': ({ mapsPublic }) => exact(mapsPublic),
        state: ({ state }) => [state],
        'cidr-block': ({ cidr }) => [cidr],
      },
      ({ tags }) => tags,
    );
    const found = byIds(allSubnets(caller), request.SubnetIds, 'InvalidSubnetID.NotFound', 'subnet ID').filter(fits);
    const { page, next } = pageOf(caller, found, request);
    return {
      Subnets: page.map((subnet) => ({
        SubnetId: subnet.id,
        SubnetArn: caller.arn(`subnet/${subnet.id}`),
        VpcId: subnet.vpc,
        OwnerId: subnet.account,
        AvailabilityZone: subnet.zone,
        AvailabilityZoneId: zoneId(subnet.zone),
        CidrBlock: subnet.cidr,
        DefaultForAz: subnet.isDefault,
        MapPublicIpOnLaunch: subnet.mapsPublic,
        State: subnet.state,
        AvailableIpAddressCount: Math.max(0, subnet.room - inSubnet(caller, subnet.id).length),
        AssignIpv6AddressOnCreation: false,
        Tags: writeTags(subnet.tags),
      })),
      NextToken: next,
    };
  },

  DescribeRouteTables(request, caller) {
    caller.may();
    const fits = filterBy<Table>(
      request.Filters,
      {
        'route-table-id': ({ id }) => [id],
        'vpc-id': ({ vpc }) => [vpc.id],
        'association.main': ({ main }) => exact(main),
        'association.subnet-id': ({ subnets }) => subnets.map(({ id }) => id),
        'route.gateway-id': ({ vpc, routed }) => ['local', ...(routed ? [gatewayOf(vpc)] : [])],
        'route.destination-cidr-block': ({ vpc, routed }) => [vpc.cidr, ...(routed ? ['0.0.0.0/0'] : [])],
      },
      () => ({}),
    );
    const found = byIds(routeTables(caller), request.RouteTableIds, 'InvalidRouteTableID.NotFound', 'routeTable ID');
    const { page, next } = pageOf(caller, found.filter(fits), request);
    const route = (to: string, by: string) => ({
      DestinationCidrBlock: to,
      GatewayId: by,
      State: 'active' as const,
      Origin: by === 'local' ? ('CreateRouteTable' as const) : ('CreateRoute' as const),
    });
    return {
      RouteTables: page.map(({ id, vpc, main, subnets, routed }) => ({
        RouteTableId: id,
        VpcId: vpc.id,
        OwnerId: vpc.account,
        Associations: (main ? [undefined] : subnets).map((subnet) => ({
          RouteTableAssociationId: `rtbassoc-${hex(`${id}${subnet?.id}`, 17)}`,
          RouteTableId: id,
          Main: main,
          ...(subnet && { SubnetId: subnet.id }),
          AssociationState: { State: 'associated' as const },
        })),
        Routes: [route(vpc.cidr, 'local'), ...(routed ? [route('0.0.0.0/0', gatewayOf(vpc))] : [])],
        Tags: [],
      })),
      NextToken: next,
    };
  },

  DescribeInternetGateways(request, caller) {
    caller.may();
    const all = allVpcs(caller).map((vpc) => ({ id: gatewayOf(vpc), vpc }));
    const fits = filterBy<(typeof all)[number]>(
      request.Filters,
      {
        'internet-gateway-id': ({ id }) => [id],
        'attachment.vpc-id': ({ vpc }) => [vpc.id],
        'attachment.state': () => ['available'],
      },
      () => ({}),
    );
    const ids = request.InternetGatewayIds;
    const { page, next } = pageOf(
      caller,
      byIds(all, ids, 'InvalidInternetGatewayID.NotFound', 'internetGateway ID').filter(fits),
      request,
    );
    return {
      InternetGateways: page.map(({ id, vpc }) => ({
        InternetGatewayId: id,
        OwnerId: vpc.account,
        Attachments: [{ VpcId: vpc.id, State: 'available' as never }],
        Tags: [],
      })),
      NextToken: next,
    };
  },

  DescribeAvailabilityZones(request, caller) {
    caller.may();
    const all = caller.world.zonesOf(caller.region).map((id) => ({ id }));
    const fits = filterBy<{ id: string }>(
      request.Filters,
      {
        'zone-name': ({ id }) => [id],
        'region-name': () => [caller.region],
        state: () => ['available'],
        'zone-type': () => ['availability-zone'],
        'zone-id': ({ id }) => [zoneId(id)],
        'opt-in-status': () => ['opt-in-not-required'],
      },
      () => ({}),
    );
    const found = byIds(all, request.ZoneNames, 'InvalidParameterValue', 'availability zone').filter(fits);
    return {
      AvailabilityZones: found.map(({ id }) => ({
        ZoneName: id,
        ZoneId: zoneId(id),
        RegionName: caller.region,
        State: 'available' as const,
        ZoneType: 'availability-zone',
        OptInStatus: 'opt-in-not-required' as const,
        GroupName: caller.region,
        NetworkBorderGroup: caller.region,
        Messages: [],
      })),
    };
  },

  DescribeRegions(request, caller) {
    caller.may();
    const all = Object.keys(regionNames).map((id) => ({ id }));
    const fits = filterBy<{ id: string }>(
      request.Filters,
      { 'region-name': ({ id }) => [id], 'opt-in-status': () => ['opt-in-not-required'] },
      () => ({}),
    );
    const found = byIds(all, request.RegionNames, 'InvalidParameterValue', 'region').filter(fits);
    return {
      Regions: found.map(({ id }) => ({
        RegionName: id,
        Endpoint: `ec2.${id}.amazonaws.com`,
        OptInStatus: 'opt-in-not-required',
      })),
    };
  },

  DescribeNetworkInterfaces(request, caller) {
    caller.may();
    const { world, account, region } = caller;
    const all = world.cloud
      .existing(account)
      .map((instance) => ({ instance, facts: world.facts(instance) }))
      .filter(({ facts }) => facts.subnet.region === region)
      .map(({ instance, facts }) => ({ id: facts.interface.id, tags: facts.interface.tags, instance, facts }));
    const fits = filterBy<(typeof all)[number]>(
      request.Filters,
      {
        'network-interface-id': ({ id }) => [id],
        'attachment.instance-id': ({ instance }) => [instance.id],
        'group-id': ({ facts }) => facts.groups,
        'subnet-id': ({ facts }) => [facts.subnet.id],
        'vpc-id': ({ facts }) => [facts.subnet.vpc],
        status: () => ['in-use'],
        'private-ip-address': ({ instance }) => exact(instance.now.address),
      },
      ({ tags }) => tags,
    );
    const ids = request.NetworkInterfaceIds;
    const found = byIds(all, ids, 'InvalidNetworkInterfaceID.NotFound', 'networkInterface ID').filter(fits);
    const { page, next } = pageOf(caller, found, request);
    return {
      NetworkInterfaces: page.map(({ id, tags, instance, facts }) => ({
        NetworkInterfaceId: id,
        SubnetId: facts.subnet.id,
        VpcId: facts.subnet.vpc,
        AvailabilityZone: facts.subnet.zone,
        OwnerId: account,
        Status: 'in-use' as const,
        InterfaceType: 'interface' as const,
        PrivateIpAddress: instance.now.address,
        Groups: facts.groups.map((GroupId) => ({ GroupId })),
        Attachment: { InstanceId: instance.id, DeviceIndex: 0, DeleteOnTermination: true, Status: 'attached' as const },
        TagSet: writeTags(tags),
      })),
      NextToken: next,
    };
  },
};
