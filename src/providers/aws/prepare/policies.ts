import { rayTags } from '../../../core/ray-tags.ts';
import type { ClusterSpec } from '../../../core/spec/cluster.ts';
import { isText, mapOf } from '../../../core/spec/plain.ts';
import type { CloudPolicies } from '../../clouds.ts';
import { type FileType, headOf, plainName, profileIn, typesInFile } from './file-types.ts';
import { roleName } from './ownership.ts';
import { spotRole, spotService } from './spot-role.ts';

/** Who a policy is for, as far as that is known. */
export interface PolicyScope {
  readonly region: string;
  /** `*` where it is not known yet. */
  readonly account: string;
  /** What all that is made for the cluster carries. */
  readonly tag: { readonly key: string; readonly value: string };
  /** ARNs of roles that the head passes on to workers. */
  readonly workerRoles: readonly string[];
  /** Whether instances of a capacity block run, whose end is asked for. */
  readonly usesBlocks: boolean;
}

interface Statement {
  readonly Sid: string;
  readonly Effect: 'Allow';
  readonly Action: readonly string[];
  readonly Resource: string | readonly string[];
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
}

export const partitionOf = (region: string): string =>
  region.startsWith('cn-') ? 'aws-cn' : region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws';

/** As roles and policies name EC2 itself. */
export const ec2Service = (region: string): string =>
  partitionOf(region) === 'aws-cn' ? 'ec2.amazonaws.com.cn' : 'ec2.amazonaws.com';

const document = (statements: readonly Statement[]): string =>
  JSON.stringify({ Version: '2012-10-17', Statement: statements });

const ec2Arns =
  ({ region, account }: PolicyScope) =>
  (...kinds: readonly string[]): readonly string[] =>
    kinds.map((kind) => `arn:${partitionOf(region)}:ec2:${region}:${account}:${kind}/*`);

/** Launches whose instances carry the cluster's tag, from anything that the account can use. */
function launching(scope: PolicyScope): readonly Statement[] {
  const arns = ec2Arns(scope);
  const made = arns('instance', 'volume', 'spot-instances-request');
  const { key, value } = scope.tag;
  return [
    {
      Sid: 'LaunchTagged',
      Effect: 'Allow',
      Action: ['ec2:RunInstances'],
      Resource: made,
      Condition: { StringEquals: { [`aws:RequestTag/${key}`]: value } },
    },
    {
      Sid: 'LaunchFrom',
      Effect: 'Allow',
      Action: ['ec2:RunInstances'],
      Resource: [
        `arn:${partitionOf(scope.region)}:ec2:${scope.region}::image/*`,
        `arn:${partitionOf(scope.region)}:ec2:${scope.region}::snapshot/*`,
        ...arns(
          'image',
          'snapshot',
          'subnet',
          'security-group',
          'network-interface',
          'key-pair',
          'launch-template',
          'placement-group',
          'capacity-reservation',
        ),
      ],
    },
    {
      Sid: 'TagAtLaunch',
      Effect: 'Allow',
      Action: ['ec2:CreateTags'],
      Resource: [...made, ...arns('network-interface')],
      Condition: { StringEquals: { 'ec2:CreateAction': 'RunInstances' } },
    },
    {
      Sid: 'ChangeOwn',
      Effect: 'Allow',
      Action: [
        'ec2:CreateTags',
        'ec2:TerminateInstances',
        'ec2:StopInstances',
        'ec2:StartInstances',
        'ec2:CancelSpotInstanceRequests',
      ],
      Resource: arns('instance', 'spot-instances-request'),
      Condition: { StringEquals: { [`aws:ResourceTag/${key}`]: value } },
    },
  ];
}

const passing = (sid: string, roles: readonly string[], region: string): readonly Statement[] =>
  roles.length === 0
    ? []
    : [
        {
          Sid: sid,
          Effect: 'Allow',
          Action: ['iam:PassRole'],
          Resource: roles,
          Condition: { StringEquals: { 'iam:PassedToService': ec2Service(region) } },
        },
      ];

/** What head and laptop look at while a cluster runs. What is refused is told in a form that only AWS can decode. */
const looking = ({ usesBlocks }: PolicyScope): readonly string[] => [
  ...['ec2:DescribeInstances', 'ec2:DescribeSpotInstanceRequests', 'ec2:DescribeSpotPriceHistory'],
  ...(usesBlocks ? ['ec2:DescribeCapacityReservations'] : []),
  ...['pricing:GetProducts', 'sts:DecodeAuthorizationMessage'],
];

export const usesBlocks = (types: readonly FileType[]): boolean =>
  types.some(({ config }) => mapOf(config.InstanceMarketOptions).MarketType === 'capacity-block');

/** Exactly the calls that mantad makes. Describe calls cannot be bound to tags. */
export const headPolicy = (scope: PolicyScope): string =>
  document([
    ...launching(scope),
    { Sid: 'Look', Effect: 'Allow', Action: looking(scope), Resource: '*' },
    ...passing('PassToWorkers', scope.workerRoles, scope.region),
  ]);

/** What a laptop calls for `up`, `status` and `down` of this file. */
function userPolicy(spec: ClusterSpec, scope: PolicyScope): string {
  const types = typesInFile(spec);
  const uses = (member: string): boolean => types.some(({ config }) => member in config);
  const defaultImage = types.some(({ config }) => !isText(config.ImageId) || !config.ImageId.startsWith('ami-'));
  return document([
    ...launching(scope),
    {
      Sid: 'Look',
      Effect: 'Allow',
      Action: [
        ...looking(scope),
        ...['InstanceTypes', 'Images', 'Subnets', 'AvailabilityZones', 'SecurityGroups', 'KeyPairs'].map(lookAt),
        ...['Volumes', 'NetworkInterfaces'].map(lookAt),
        ...(uses('LaunchTemplate') ? [lookAt('LaunchTemplateVersions')] : []),
      ],
      Resource: '*',
    },
    ...(defaultImage
      ? [
          {
            Sid: 'FindImage',
            Effect: 'Allow' as const,
            Action: ['ssm:GetParameters'],
            Resource: `arn:${partitionOf(scope.region)}:ssm:${scope.region}::parameter/aws/service/*`,
          },
        ]
      : []),
    ...makingKeysAndGroups(spec, scope),
    ...roles(spec, types, scope),
  ]);
}

const lookAt = (what: string): string => `ec2:Describe${what}`;

function makingKeysAndGroups(spec: ClusterSpec, scope: PolicyScope): readonly Statement[] {
  const arns = ec2Arns(scope);
  const { key, value } = scope.tag;
  const foreign = isText(mapOf(spec.provider.config.security_group).GroupName);
  return [
    {
      Sid: 'MakeTagged',
      Effect: 'Allow',
      Action: ['ec2:ImportKeyPair', 'ec2:CreateSecurityGroup'],
      Resource: arns('key-pair', 'security-group'),
      Condition: { StringEquals: { [`aws:RequestTag/${key}`]: value } },
    },
    { Sid: 'MakeIn', Effect: 'Allow', Action: ['ec2:CreateSecurityGroup'], Resource: arns('vpc') },
    {
      Sid: 'TagMade',
      Effect: 'Allow',
      Action: ['ec2:CreateTags'],
      Resource: arns('key-pair', 'security-group'),
      Condition: { StringEquals: { 'ec2:CreateAction': ['ImportKeyPair', 'CreateSecurityGroup'] } },
    },
    {
      Sid: 'KeepOwn',
      Effect: 'Allow',
      Action: ['ec2:AuthorizeSecurityGroupIngress', 'ec2:DeleteSecurityGroup', 'ec2:DeleteKeyPair'],
      Resource: arns('security-group', 'key-pair'),
      Condition: { StringEquals: { [`aws:ResourceTag/${key}`]: value } },
    },
    ...(foreign
      ? [
          {
            Sid: 'FillGroup',
            Effect: 'Allow' as const,
            Action: ['ec2:AuthorizeSecurityGroupIngress'],
            Resource: arns('security-group'),
          },
        ]
      : []),
  ];
}

/** What Ray's own launcher names its role. */
export const rayRole = 'ray-autoscaler-v1';

function roles(spec: ClusterSpec, types: readonly FileType[], scope: PolicyScope): readonly Statement[] {
  const iam = (what: string): string => `arn:${partitionOf(scope.region)}:iam::${scope.account}:${what}`;
  const given = profileIn(headOf(types).config);
  const own = roleName(spec.name, '*');
  const spot: readonly Statement[] = types.some(({ usesSpot }) => usesSpot)
    ? [
        {
          Sid: 'SpotRole',
          Effect: 'Allow',
          Action: ['iam:GetRole', 'iam:CreateServiceLinkedRole'],
          // One that does not exist yet is asked for without a path.
          Resource: [iam(`role/aws-service-role/${spotService}/${spotRole}`), iam(`role/${spotRole}`)],
        },
      ]
    : [];
  if (given !== undefined) return [...spot, ...passing('PassToHead', [iam(`role/${plainName(given)}`)], scope.region)];
  const policies = spec.provider.manta.headPolicies;
  return [
    ...spot,
    ...passing('PassToHead', [iam(`role/${own}`), iam(`role/${rayRole}`)], scope.region),
    {
      Sid: 'FindProfile',
      Effect: 'Allow',
      Action: ['iam:GetInstanceProfile'],
      Resource: [...[own, rayRole, ...workerProfiles(types)].map((name) => iam(`instance-profile/${name}`))],
    },
    {
      Sid: 'MakeRole',
      Effect: 'Allow',
      Action: [
        ...['CreateRole', 'TagRole', 'PutRolePolicy', 'GetRole', 'GetRolePolicy', 'ListRolePolicies'],
        ...['ListAttachedRolePolicies', 'DeleteRolePolicy', 'DeleteRole'],
        ...['CreateInstanceProfile', 'TagInstanceProfile', 'AddRoleToInstanceProfile'],
        ...['RemoveRoleFromInstanceProfile', 'DeleteInstanceProfile'],
      ].map((action) => `iam:${action}`),
      Resource: [iam(`role/${own}`), iam(`instance-profile/${own}`)],
    },
    ...(policies.length === 0
      ? []
      : [
          {
            Sid: 'AttachPolicies',
            Effect: 'Allow' as const,
            Action: ['iam:AttachRolePolicy', 'iam:DetachRolePolicy'],
            Resource: iam(`role/${own}`),
            Condition: { ArnEquals: { 'iam:PolicyARN': policies } },
          },
        ]),
  ];
}

/** Names of the profiles that workers have, each once. */
export const workerProfiles = (types: readonly FileType[]): readonly string[] => [
  ...new Set(
    types
      .filter(({ hasWorkers }) => hasWorkers)
      .flatMap(({ config }) => profileIn(config) ?? [])
      .map(plainName),
  ),
];

/** What head and user must be allowed to do for this file, whichever account it is in. */
export function policies(spec: ClusterSpec): CloudPolicies {
  const { region } = spec.provider.config;
  const types = typesInFile(spec);
  const scope: PolicyScope = {
    region: isText(region) ? region : '*',
    account: '*',
    tag: { key: rayTags.cluster, value: spec.name },
    // The console names a profile after its role.
    workerRoles: workerProfiles(types).map((name) => `arn:${partitionOf(String(region))}:iam::*:role/${name}`),
    usesBlocks: usesBlocks(types),
  };
  const text = (policy: string): string => JSON.stringify(JSON.parse(policy), undefined, 2);
  return { head: text(headPolicy(scope)), user: text(userPolicy(spec, scope)) };
}
