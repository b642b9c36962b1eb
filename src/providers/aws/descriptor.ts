import type { Plain, PlainMap } from '../../core/spec/cluster.ts';
import { key } from '../../core/spec/keys/key.ts';
import { isText, mapOf } from '../../core/spec/plain.ts';
import type { Path } from '../../core/spec/problem.ts';
import { listed, pathText } from '../../core/spec/problems.ts';
import type { TrapFile } from '../../core/spec/provider-facts.ts';
import type { CloudDescriptor } from '../descriptor.ts';
import { cloudLimits, cloudStart, installRay, putOnPath } from '../not-run/cloud-defaults.ts';
import { cloudProblems } from '../not-run/problems.ts';
import { checkStoppedDisks, checkZones } from '../not-run/traps.ts';
import { noFiles } from '../ray-defaults.ts';
import { availabilityZone, cacheStoppedNodes, keyPair, region } from '../shared-keys.ts';
import { isDefault } from './default-image.ts';
import { awsResources } from './machine-names.ts';
import { checkNodeConfig } from './node-config.ts';
import { memberProblems } from './problems.ts';

const tensorflow = '$HOME/anaconda3/envs/tensorflow2_p310';

const defaults: PlainMap = {
  ...cloudLimits,
  provider: {
    type: 'aws',
    region: 'us-west-2',
    availability_zone: 'us-west-2a,us-west-2b',
    cache_stopped_nodes: true,
  },
  auth: { ssh_user: 'ubuntu' },
  available_node_types: {
    'ray.head.default': {
      resources: {},
      node_config: {
        InstanceType: 'm5.large',
        BlockDeviceMappings: [{ DeviceName: '/dev/sda1', Ebs: { VolumeSize: 256 } }],
      },
    },
    'ray.worker.default': {
      min_workers: 0,
      resources: {},
      node_config: { InstanceType: 'm5.large', InstanceMarketOptions: { MarketType: 'spot' } },
    },
  },
  head_node_type: 'ray.head.default',
  ...noFiles,
  initialization_commands: [],
  setup_commands: [putOnPath(`${tensorflow}/`, `${tensorflow}/bin`), installRay('cp310-cp310')],
  head_setup_commands: ["pip install 'boto3>=1.4.8'"],
  worker_setup_commands: [],
  ...cloudStart,
};

export const isSpotOnAws = (launch: PlainMap): boolean => mapOf(launch.InstanceMarketOptions).MarketType === 'spot';

export const aws: CloudDescriptor = {
  name: 'aws',
  kind: 'cloud',
  instances: 'instances of Amazon EC2',
  keys: [
    region('us-west-2 without a provider block'),
    availabilityZone('all zones of the region'),
    cacheStoppedNodes,
    key('provider.security_group', 'section', 'Security group to use or create.', { example: { GroupName: 'ray' } }),
    key('provider.security_group.GroupName', 'string', 'Its name.', {
      default: 'ray-autoscaler-<cluster_name>',
      example: 'ray',
    }),
    key(
      'provider.security_group.IpPermissions',
      'list',
      'Inbound rules in addition to SSH and traffic inside the group.',
      {
        open: true,
        example: [{ FromPort: 443, ToPort: 443, IpProtocol: 'TCP', IpRanges: [{ CidrIp: '10.0.0.0/8' }] }],
      },
    ),
    key('provider.cloudwatch', 'map', 'CloudWatch agent, dashboard and alarms.', { nullable: true, open: true }),
    keyPair,
    key('provider.aws_credentials', 'map', 'Credentials to use instead of those in the environment.', {
      nullable: true,
      open: true,
    }),
  ],
  defaults,
  ray: 'defaults',
  offers: { markets: ['on-demand', 'spot', 'reserved'], zones: true, zoneOf, isSpot: isSpotOnAws },
  completesResources: true,
  machineOf: ({ InstanceType: name }) => (isText(name) ? name : undefined),
  likelyResources: awsResources,
  needs: ['region'],
  traps,
  load: () => import('./provider.ts'),
};

/** A subnet or a network interface is in a zone of its own. */
function zoneOf(launch: PlainMap): string | null | undefined {
  const { AvailabilityZone: zone } = mapOf(launch.Placement);
  if (typeof zone === 'string') return zone;
  return ['SubnetId', 'SubnetIds', 'NetworkInterfaces'].some((name) => Object.hasOwn(launch, name)) ? null : undefined;
}

function traps(file: TrapFile): void {
  checkZones(file);
  const bare = file.written.find(
    ({ type }) => !('LaunchTemplate' in type.launchConfig) && isDefault(type.launchConfig.ImageId),
  );
  if (bare)
    file.addAtKey(cloudProblems.OldAmi, bare.path, {
      type: bare.type.name,
      given: isText(bare.type.launchConfig.ImageId) ? 'has ImageId latest_dlami' : 'has no ImageId',
    });
  if (typeof file.auth.ssh_private_key === 'string') {
    const without = file.written.filter(
      ({ type }) => !('KeyName' in type.launchConfig) && !('LaunchTemplate' in type.launchConfig),
    );
    if (without.length > 0)
      file.addAtKey(cloudProblems.KeyNameMissing, ['auth', 'ssh_private_key'], {
        types: listed(without.map(({ type }) => `'${type.name}'`)),
      });
  }
  for (const [index, rule] of listOf(mapOf(file.provider.security_group).IpPermissions).entries()) {
    const open = openTo(mapOf(rule));
    if (open) file.add(cloudProblems.OpenPort, ['provider', 'security_group', 'IpPermissions', index], open);
  }
  checkStoppedDisks(file, 'aws');
  checkMembers(file);
}

/** What AWS would silently ignore, or refuse without saying where. */
function checkMembers(file: TrapFile): void {
  for (const { type, path } of file.written) {
    const config: Path = path[0] === 'available_node_types' ? [...path, 'node_config'] : path;
    for (const problem of checkNodeConfig(type.launchConfig)) {
      const at: Path = [...config, ...problem.path];
      switch (problem.kind) {
        case 'unknown':
          file.addAtKey(memberProblems.UnknownMember, at, problem);
          break;
        case 'type':
          file.add(memberProblems.MemberType, at, { ...problem, name: pathText(problem.path) });
          break;
        case 'missing':
          file.addAtKey(memberProblems.MissingMember, at, { ...problem, in: pathText(problem.path) });
          break;
      }
    }
  }
}

/** The ports that a rule opens to every address; undefined when it opens none, or only those of SSH, HTTP and HTTPS. */
function openTo(rule: PlainMap): { readonly ports: string; readonly range: string } | undefined {
  const world = [...listOf(rule.IpRanges), ...listOf(rule.Ipv6Ranges)]
    .map((range) => mapOf(range).CidrIp ?? mapOf(range).CidrIpv6)
    .find((range) => range === '0.0.0.0/0' || range === '::/0');
  if (world === undefined) return undefined;
  const { FromPort: from, ToPort: to } = rule;
  if (from === to && (from === 22 || from === 80 || from === 443)) return undefined;
  if (String(rule.IpProtocol) === 'icmp') return undefined;
  return {
    ports:
      String(rule.IpProtocol) === '-1' || from === undefined || from === -1
        ? 'all ports'
        : from === to
          ? `port ${String(from)}`
          : `ports ${String(from)}-${String(to)}`,
    range: String(world),
  };
}

const listOf = (value: Plain | undefined): readonly Plain[] =>
  Array.isArray(value) ? (value as readonly Plain[]) : [];
