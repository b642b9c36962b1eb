import type { _InstanceType, InstanceTypeInfo, SpotPrice } from '@aws-sdk/client-ec2';
import type { Image } from '../../cloud/belongings.ts';
import { type AwsType, awsTypes, isOffered } from '../catalog.ts';
import { awsError } from '../errors.ts';
import type { Ec2Handlers } from '../handlers.ts';
import { byIds, exact, filterBy, pageOf, writeTags } from './listing.ts';

/** The client's list of names ends where its model does. */
const typeName = (name: string): _InstanceType => name as _InstanceType;

function writeType(type: AwsType): InstanceTypeInfo {
  const { gpu, neuron, architecture } = type;
  const device = (each: NonNullable<AwsType['gpu']>) => ({
    Name: each.name,
    Count: each.count,
    ...(each.maker === 'NVIDIA' && { Manufacturer: each.maker }),
    MemoryInfo: { SizeInMiB: each.mib },
  });
  return {
    InstanceType: typeName(type.name),
    CurrentGeneration: !type.previous,
    FreeTierEligible: type.name === 't2.micro' || type.name === 't3.micro',
    SupportedUsageClasses: ['on-demand', 'spot'],
    SupportedRootDeviceTypes: ['ebs'],
    SupportedVirtualizationTypes: ['hvm'],
    BareMetal: type.name.includes('.metal'),
    Hypervisor: type.previous ? 'xen' : 'nitro',
    ProcessorInfo: {
      SupportedArchitectures: type.family === 't1' || type.family === 't2' ? ['i386', 'x86_64'] : [architecture],
      SustainedClockSpeedInGhz: 3,
      Manufacturer: architecture === 'arm64' ? 'AWS' : 'Intel',
    },
    VCpuInfo: {
      DefaultVCpus: type.vcpus,
      DefaultCores: Math.max(1, architecture === 'arm64' ? type.vcpus : type.vcpus / 2),
      DefaultThreadsPerCore: architecture === 'arm64' || type.vcpus === 1 ? 1 : 2,
    },
    MemoryInfo: { SizeInMiB: type.mib },
    InstanceStorageSupported: type.localGb !== undefined,
    ...(type.localGb !== undefined && { InstanceStorageInfo: { TotalSizeInGB: type.localGb } }),
    EbsInfo: { EbsOptimizedSupport: 'default', EncryptionSupport: 'supported', NvmeSupport: 'required' },
    NetworkInfo: {
      NetworkPerformance: 'Up to 10 Gigabit',
      MaximumNetworkInterfaces: 4 * type.cards,
      MaximumNetworkCards: type.cards,
      DefaultNetworkCardIndex: 0,
      NetworkCards: Array.from({ length: type.cards }, (_, index) => ({
        NetworkCardIndex: index,
        NetworkPerformance: 'Up to 10 Gigabit',
        MaximumNetworkInterfaces: 4,
      })),
      Ipv4AddressesPerInterface: 15,
      Ipv6AddressesPerInterface: 15,
      Ipv6Supported: true,
      EnaSupport: 'required',
      EfaSupported: type.efa,
      ...(type.efa && { EfaInfo: { MaximumEfaInterfaces: type.cards } }),
    },
    ...(gpu && { GpuInfo: { Gpus: [device(gpu)], TotalGpuMemoryInMiB: gpu.count * gpu.mib } }),
    ...(neuron && {
      NeuronInfo: {
        NeuronDevices: [{ Name: neuron.name, Count: neuron.count, MemoryInfo: { SizeInMiB: neuron.mib } }],
        TotalNeuronDeviceMemoryInMiB: neuron.count * neuron.mib,
      },
      InferenceAcceleratorInfo: {
        Accelerators: [{ Name: neuron.name, Count: neuron.count, Manufacturer: 'AWS' }],
        TotalInferenceMemoryInMiB: neuron.count * neuron.mib,
      },
    }),
    PlacementGroupInfo: { SupportedStrategies: ['cluster', 'partition', 'spread'] },
    HibernationSupported: false,
    BurstablePerformanceSupported: /^t\d/.test(type.family),
    DedicatedHostsSupported: true,
    AutoRecoverySupported: true,
    SupportedBootModes: ['legacy-bios', 'uefi'],
  };
}

const writeImage = (image: Image, shared: boolean) => ({
  ImageId: image.id,
  Name: image.name,
  Description: image.description,
  Architecture: image.architecture,
  CreationDate: new Date(image.createdAt).toISOString(),
  ImageLocation: `${image.owner}/${image.name}`,
  ImageType: 'machine' as const,
  OwnerId: image.owner,
  Public: shared,
  State: 'available' as const,
  PlatformDetails: 'Linux/UNIX',
  UsageOperation: 'RunInstances',
  VirtualizationType: 'hvm' as const,
  Hypervisor: 'xen' as const,
  EnaSupport: true,
  RootDeviceType: 'ebs' as const,
  RootDeviceName: image.rootDevice,
  BlockDeviceMappings: [
    {
      DeviceName: image.rootDevice,
      Ebs: {
        DeleteOnTermination: true,
        VolumeSize: image.rootGib,
        VolumeType: 'gp3' as const,
        Encrypted: false,
        SnapshotId: image.id.replace('ami-', 'snap-'),
      },
    },
  ],
  Tags: writeTags(image.tags),
});

const aliases: Readonly<Record<string, string>> = { '898082745236': 'amazon', '137112412989': 'amazon' };

export const typeHandlers: Ec2Handlers = {
  DescribeInstanceTypes(request, caller) {
    caller.may();
    const all = caller.world.types();
    const unknown = request.InstanceTypes?.filter((name) => !all.some((type) => type.name === name)) ?? [];
    if (unknown.length > 0)
      throw awsError(
        'InvalidInstanceType',
        `The following supplied instance types do not exist: [${unknown.join(', ')}]`,
      );
    if ((request.InstanceTypes?.length ?? 0) > 100)
      throw awsError('InvalidParameterValue', 'The maximum number of instance types that can be specified is 100');
    const fits = filterBy<AwsType>(
      request.Filters,
      {
        'instance-type': ({ name }) => [name],
        'current-generation': ({ previous }) => exact(!previous),
        'processor-info.supported-architecture': ({ architecture }) => [architecture],
        'vcpu-info.default-vcpus': ({ vcpus }) => exact(vcpus),
        'memory-info.size-in-mib': ({ mib }) => exact(mib),
        'network-info.efa-supported': ({ efa }) => exact(efa),
        'instance-storage-supported': ({ localGb }) => exact(localGb !== undefined),
        'supported-usage-class': () => ['on-demand', 'spot'],
        'bare-metal': ({ name }) => exact(name.includes('.metal')),
        hypervisor: ({ previous }) => [previous ? 'xen' : 'nitro'],
      },
      () => ({}),
    );
    const found = all.filter(
      ({ name }) => !request.InstanceTypes?.length || request.InstanceTypes.includes(typeName(name)),
    );
    const { page, next } = pageOf(caller, found.filter(fits), request, 100);
    return { InstanceTypes: page.map(writeType), NextToken: next };
  },

  DescribeInstanceTypeOfferings(request, caller) {
    caller.may();
    const kind = request.LocationType ?? 'region';
    const places = kind === 'region' ? [caller.region] : caller.world.zonesOf(caller.region);
    const offered = (type: AwsType, place: string): boolean =>
      kind === 'region' ? caller.world.zonesOf(place).some((zone) => isOffered(type, zone)) : isOffered(type, place);
    const all = caller.world
      .types()
      .flatMap((type) => places.filter((place) => offered(type, place)).map((place) => ({ type: type.name, place })));
    const fits = filterBy<(typeof all)[number]>(
      request.Filters,
      { 'instance-type': ({ type }) => [type], location: ({ place }) => [place] },
      () => ({}),
    );
    const { page, next } = pageOf(caller, all.filter(fits), request, 1000);
    return {
      InstanceTypeOfferings: page.map(({ type, place }) => ({
        InstanceType: typeName(type),
        Location: place,
        LocationType: kind,
      })),
      NextToken: next,
    };
  },

  DescribeImages(request, caller) {
    caller.may();
    const { account, region, world } = caller;
    for (const id of request.ImageIds ?? [])
      if (!/^ami-[0-9a-f]{8,17}$/.test(id))
        throw awsError('InvalidAMIID.Malformed', `Invalid id: "${id}" (expecting "ami-...")`);
    const all = world.images(account, region);
    const owners = request.Owners ?? [];
    const mine = (image: Image): boolean =>
      owners.length === 0 ||
      owners.includes(image.owner) ||
      owners.includes(aliases[image.owner] ?? '') ||
      (owners.includes('self') && image.owner === account);
    const fits = filterBy<Image>(
      request.Filters,
      {
        'image-id': ({ id }) => [id],
        name: ({ name }) => [name],
        architecture: ({ architecture }) => [architecture],
        description: ({ description }) => [description],
        'owner-id': ({ owner }) => [owner],
        'owner-alias': ({ owner }) => exact(aliases[owner]),
        state: () => ['available'],
        'root-device-name': ({ rootDevice }) => [rootDevice],
        'root-device-type': () => ['ebs'],
        'virtualization-type': () => ['hvm'],
        'image-type': () => ['machine'],
        'is-public': (image) => exact(image.account !== account),
      },
      ({ tags }) => tags,
    );
    const found = byIds(all, request.ImageIds, 'InvalidAMIID.NotFound', 'image id').filter(mine).filter(fits);
    const { page, next } = pageOf(caller, found, request);
    return { Images: page.map((image) => writeImage(image, image.account !== account)), NextToken: next };
  },

  DescribeSpotPriceHistory(request, caller) {
    caller.may();
    const { world, region } = caller;
    const zones = world.zonesOf(region);
    const names = request.InstanceTypes;
    for (const name of names ?? [])
      if (!awsTypes().has(name)) throw awsError('InvalidParameterValue', `Invalid value '${name}' for instanceType`);
    const products = request.ProductDescriptions ?? ['Linux/UNIX'];
    const all = world.cloud
      .prices({ zones, ...(names?.length && { types: names }) })
      .filter(({ market, type }) => market === 'spot' && world.type(type))
      .filter(({ zone }) => request.AvailabilityZone === undefined || zone === request.AvailabilityZone)
      .filter(({ type, zone }) => isOffered(awsTypes().get(type)!, zone))
      .flatMap((price) => products.map((product) => ({ ...price, product })))
      .filter(({ product }) => /^Linux\/UNIX(?: \(Amazon VPC\))?$/.test(product));
    const fits = filterBy<(typeof all)[number]>(
      request.Filters,
      {
        'availability-zone': ({ zone }) => [zone],
        'instance-type': ({ type }) => [type],
        'product-description': ({ product }) => [product],
      },
      () => ({}),
    );
    const { page, next } = pageOf(caller, all.filter(fits), request, 1000);
    return {
      SpotPriceHistory: page.map(
        ({ type, zone, price, product }): SpotPrice => ({
          InstanceType: typeName(type),
          AvailabilityZone: zone,
          SpotPrice: price.toFixed(6),
          ProductDescription: product as 'Linux/UNIX',
          Timestamp: new Date(3_600_000 * Math.floor(Date.now() / 3_600_000)),
        }),
      ),
      NextToken: next ?? '',
    };
  },
};
