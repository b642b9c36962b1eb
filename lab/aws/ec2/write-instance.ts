import type { _InstanceType, Instance, InstanceState } from '@aws-sdk/client-ec2';
import type { Listed } from '../../cloud/cloud.ts';
import type { CloudInstance, Snapshot } from '../../cloud/instance.ts';
import type { Caller } from '../caller.ts';
import type { Facts } from '../world.ts';
import { writeTags } from './listing.ts';

const states = {
  pending: { Code: 0, Name: 'pending' },
  running: { Code: 16, Name: 'running' },
  terminating: { Code: 32, Name: 'shutting-down' },
  terminated: { Code: 48, Name: 'terminated' },
  stopping: { Code: 64, Name: 'stopping' },
  stopped: { Code: 80, Name: 'stopped' },
  gone: { Code: 48, Name: 'terminated' },
} as const satisfies Readonly<Record<Snapshot['state'], InstanceState>>;

export const writeState = (snapshot: Snapshot): InstanceState => states[snapshot.state];

/** What was missing, as EC2 calls it. */
const refusals: Readonly<Record<string, string>> = {
  'no-capacity': 'Server.InsufficientInstanceCapacity',
  quota: 'Client.VolumeLimitExceeded',
  key: 'Client.InternalError',
};

const causes = {
  order: ['Client.UserInitiatedShutdown', 'User initiated shutdown'],
  itself: ['Client.InstanceInitiatedShutdown', 'Instance initiated shutdown'],
  preemption: ['Server.SpotInstanceTermination', 'Spot Instance termination'],
  fault: ['Server.InternalError', 'Internal error on launch'],
} as const;

export function stateReason({ state, refused, cause }: Snapshot): { Code: string; Message: string } | undefined {
  if (refused !== undefined) {
    const code = refusals[refused.code] ?? refused.code;
    return { Code: code, Message: `${code}: ${refused.message}` };
  }
  if (state === 'pending') return { Code: 'pending', Message: 'pending' };
  if (cause === undefined || cause === 'refusal') return undefined;
  const [code, words] = causes[cause];
  return { Code: code, Message: `${code}: ${words}` };
}

/** Of the one network card of an instance. */
export const macOf = (id: string): string => `02:${id.slice(-10).match(/../g)!.join(':')}`;

const dns = (address: string): string => `ip-${address.replaceAll('.', '-')}`;

export function writeInstance(caller: Caller, { instance, snapshot }: Listed): Instance {
  const facts = caller.world.facts(instance);
  const { request, image, type, profile } = facts;
  const ended = snapshot.state === 'terminated' || snapshot.state === 'gone';
  const reason = stateReason(snapshot);
  const started = new Date(instance.startedAt);
  return {
    InstanceId: instance.id,
    ImageId: image.id,
    State: writeState(snapshot),
    ...(reason && { StateReason: reason }),
    StateTransitionReason:
      snapshot.cause && reason
        ? `${reason.Message.slice(reason.Code.length + 2)} (${transitionTime(snapshot.at)})`
        : '',
    InstanceType: type.name as _InstanceType,
    KeyName: request.KeyName,
    LaunchTime: started,
    AmiLaunchIndex: facts.index,
    ProductCodes: [],
    Placement: {
      AvailabilityZone: instance.zone,
      Tenancy: request.Placement?.Tenancy ?? 'default',
      GroupName: request.Placement?.GroupName ?? '',
    },
    Monitoring: { State: request.Monitoring?.Enabled ? 'enabled' : 'disabled' },
    Architecture: image.architecture,
    RootDeviceType: 'ebs',
    RootDeviceName: image.rootDevice,
    VirtualizationType: 'hvm',
    Hypervisor: 'xen',
    EnaSupport: true,
    EbsOptimized: request.EbsOptimized ?? false,
    ClientToken: request.ClientToken ?? '',
    Tags: writeTags(snapshot.tags),
    ...(profile && { IamInstanceProfile: { Arn: profileArn(profile), Id: profile.id } }),
    ...(instance.market === 'spot' && {
      InstanceLifecycle: 'spot' as const,
      SpotInstanceRequestId: facts.spotRequest,
    }),
    ...(request.InstanceMarketOptions?.MarketType === 'capacity-block' && {
      InstanceLifecycle: 'capacity-block' as const,
    }),
    ...(instance.order.reservation && { CapacityReservationId: instance.order.reservation }),
    CpuOptions: { CoreCount: Math.max(1, type.vcpus / 2), ThreadsPerCore: type.vcpus > 1 ? 2 : 1 },
    MetadataOptions: writeMetadataOptions(facts),
    PlatformDetails: 'Linux/UNIX',
    UsageOperation: 'RunInstances',
    UsageOperationUpdateTime: started,
    SourceDestCheck: true,
    BlockDeviceMappings: caller.disksOf(instance.id).map((disk) => ({
      DeviceName: disk.device,
      Ebs: {
        VolumeId: disk.id,
        DeleteOnTermination: disk.deleteWithInstance,
        Status: 'attached' as const,
        AttachTime: new Date(disk.createdAt),
      },
    })),
    ...(ended
      ? { SecurityGroups: [], NetworkInterfaces: [], PrivateDnsName: '', PublicDnsName: '' }
      : writePlace(caller, instance, snapshot, facts)),
  };
}

/** Where it is in the network; nowhere when it has ended. */
function writePlace(caller: Caller, instance: CloudInstance, snapshot: Snapshot, facts: Facts): Partial<Instance> {
  const { address, outside } = snapshot;
  const { account, region, world } = caller;
  const groups = facts.groups.map((id) => ({ GroupId: id, GroupName: world.cloud.has.groups.get(account, id)?.name }));
  const outsideName =
    outside === undefined ? '' : `${dns(outside).replace('ip', 'ec2')}.${region}.compute.amazonaws.com`;
  const insideName = address === undefined ? '' : `${dns(address)}.${region}.compute.internal`;
  const association = outside !== undefined && {
    Association: { PublicIp: outside, PublicDnsName: outsideName, IpOwnerId: 'amazon' },
  };
  return {
    SubnetId: facts.subnet.id,
    VpcId: facts.subnet.vpc,
    PrivateIpAddress: address,
    PrivateDnsName: insideName,
    PublicIpAddress: outside,
    PublicDnsName: outsideName,
    SecurityGroups: groups,
    NetworkInterfaces: [
      {
        NetworkInterfaceId: facts.interface.id,
        SubnetId: facts.subnet.id,
        VpcId: facts.subnet.vpc,
        OwnerId: account,
        Status: 'in-use',
        InterfaceType: facts.request.NetworkInterfaces?.[0]?.InterfaceType ?? 'interface',
        PrivateIpAddress: address,
        PrivateDnsName: insideName,
        SourceDestCheck: true,
        Groups: groups,
        MacAddress: macOf(instance.id),
        Description: '',
        ...association,
        Attachment: {
          AttachmentId: facts.interface.id.replace('eni', 'eni-attach'),
          DeviceIndex: 0,
          NetworkCardIndex: 0,
          DeleteOnTermination: true,
          Status: 'attached',
          AttachTime: new Date(instance.launchedAt),
        },
        PrivateIpAddresses:
          address === undefined
            ? []
            : [{ Primary: true, PrivateIpAddress: address, PrivateDnsName: insideName, ...association }],
      },
    ],
  };
}

const transitionTime = (at: number): string =>
  `${new Date(at)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, '')} GMT`;

export const profileArn = ({ account, path, name }: { account: string; path: string; name: string }): string =>
  `arn:aws:iam::${account}:instance-profile${path}${name}`;

function writeMetadataOptions({ request: { MetadataOptions: asked } }: Facts) {
  return {
    State: 'applied' as const,
    HttpTokens: asked?.HttpTokens ?? ('required' as const),
    HttpPutResponseHopLimit: asked?.HttpPutResponseHopLimit ?? 2,
    HttpEndpoint: asked?.HttpEndpoint ?? ('enabled' as const),
    HttpProtocolIpv6: 'disabled' as const,
    InstanceMetadataTags: asked?.InstanceMetadataTags ?? ('disabled' as const),
  };
}
