import { defineError } from '../../base/errors.ts';
import type { Path } from '../../core/spec/problem.ts';
import { pathText } from '../../core/spec/problems.ts';

/** A place in the cluster file, whose text tells the line. */
interface InFile {
  at: Path;
}

export const awsErrors = {
  NoLogin: defineError<{ profile?: string | undefined; detail: string }>({
    code: 'MANTA_AWS_NO_LOGIN',
    exit: 5,
    message: (e) =>
      `there are no usable AWS credentials${e.profile ? ` in the profile '${e.profile}'` : ''}: ${e.detail}`,
    hint: (e) =>
      `run 'aws sso login${e.profile ? ` --profile ${e.profile}` : ''}' if you sign in with SSO; otherwise set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
  }),
  LoginExpired: defineError<{ profile?: string | undefined; detail: string }>({
    code: 'MANTA_AWS_LOGIN_EXPIRED',
    exit: 5,
    message: (e) => `your AWS login${e.profile ? ` (profile '${e.profile}')` : ''} has expired: ${e.detail}`,
    hint: (e) =>
      `run 'aws sso login${e.profile ? ` --profile ${e.profile}` : ''}', or export new AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, then repeat the command`,
  }),
  CredentialsExpire: defineError<InFile & { minutes?: number | undefined }>({
    code: 'MANTA_AWS_CREDENTIALS_EXPIRE',
    exit: 2,
    message: (e) =>
      `provider.aws_credentials are temporary${e.minutes === undefined ? '' : ` (${e.minutes} minutes left)`}: the head would soon be unable to launch or terminate instances`,
    hint: () =>
      'remove aws_credentials, so that the head uses its own role, or give it the key of a user, which has no aws_session_token',
  }),
  BadCredentials: defineError<InFile & { missing: string }>({
    code: 'MANTA_AWS_BAD_CREDENTIALS',
    exit: 2,
    message: (e) => `${e.missing} is missing in provider.aws_credentials`,
    hint: () => 'write aws_access_key_id and aws_secret_access_key, or remove aws_credentials',
  }),
  Protected: defineError<{ ids: readonly string[]; detail: string }>({
    code: 'MANTA_AWS_PROTECTED',
    exit: 1,
    message: (e) => `cannot terminate ${e.ids.join(', ')}: ${e.detail}`,
    hint: () => 'turn off termination protection (DisableApiTermination) of the instance, then run `manta down` again',
  }),
  BadConfig: defineError<InFile & { problem: string; hint?: string }>({
    code: 'MANTA_AWS_BAD_CONFIG',
    exit: 2,
    message: (e) => `${pathText(e.at)} ${e.problem}`,
    hint: (e) => e.hint ?? 'correct the cluster file',
  }),
  UnknownType: defineError<InFile & { type: string; region: string; instead: readonly string[] }>({
    code: 'MANTA_AWS_UNKNOWN_TYPE',
    exit: 2,
    message: (e) => `${pathText(e.at)}: ${e.region} does not offer instance type '${e.type}'`,
    hint: (e) =>
      e.instead.length > 0
        ? `use one that the region offers, such as ${e.instead.join(', ')}`
        : 'use an instance type that the region offers, or another region',
  }),
  OtherArchitecture: defineError<InFile & { type: string; types: string; image: string; images: string }>({
    code: 'MANTA_AWS_OTHER_ARCHITECTURE',
    exit: 2,
    message: (e) =>
      `${pathText(e.at)}: image ${e.image} is for ${e.images}, but instance type '${e.type}' is ${e.types}`,
    hint: (e) => `use an image for ${e.types}, remove ImageId to have one chosen, or use another instance type`,
  }),
  NoImage: defineError<InFile & { image: string; region: string }>({
    code: 'MANTA_AWS_NO_IMAGE',
    exit: 2,
    message: (e) => `${pathText(e.at)}: there is no image '${e.image}' in ${e.region} that this account can use`,
    hint: () => 'image ids differ by region; use one of this region, or remove ImageId to have a current one chosen',
  }),
  NoDefaultImage: defineError<InFile & { types: readonly string[]; region: string; looked: readonly string[] }>({
    code: 'MANTA_AWS_NO_DEFAULT_IMAGE',
    exit: 2,
    message: (e) =>
      `${e.region} has no current Deep Learning AMI for ${e.types.join(', ')} (looked for ${e.looked.join(', ')})`,
    hint: () => 'set ImageId in node_config',
  }),
  SmallDisk: defineError<InFile & { size: number; image: string; needs: number }>({
    code: 'MANTA_AWS_SMALL_DISK',
    exit: 2,
    message: (e) =>
      `${pathText(e.at)}: a root disk of ${e.size} GiB is smaller than image ${e.image}, which needs ${e.needs} GiB`,
    hint: (e) => `set VolumeSize to ${e.needs} or more, or use a smaller image`,
  }),
  NoPrivateKey: defineError<InFile & { key: string; file?: string | undefined }>({
    code: 'MANTA_AWS_NO_PRIVATE_KEY',
    exit: 2,
    message: (e) =>
      e.file === undefined
        ? `${pathText(e.at)} names key pair '${e.key}', but auth.ssh_private_key does not say where its private key is`
        : `${pathText(e.at)} names key pair '${e.key}', but its private key is not at ${e.file}`,
    hint: () => 'set auth.ssh_private_key to its private key on this machine, or remove KeyName to have a key created',
  }),
  NoKeyPair: defineError<InFile & { key: string; region: string }>({
    code: 'MANTA_AWS_NO_KEY_PAIR',
    exit: 2,
    message: (e) => `${pathText(e.at)}: there is no key pair '${e.key}' in ${e.region}`,
    hint: (e) =>
      `import its public key with 'aws ec2 import-key-pair --region ${e.region} --key-name ${e.key} --public-key-material fileb://KEY.pub', or remove KeyName`,
  }),
  NoTemplate: defineError<InFile & { template: string; version: string; region: string }>({
    code: 'MANTA_AWS_NO_TEMPLATE',
    exit: 2,
    message: (e) =>
      `${pathText(e.at)}: there is no launch template '${e.template}' with version ${e.version} in ${e.region}`,
    hint: (e) => `list its versions with 'aws ec2 describe-launch-template-versions --region ${e.region}'`,
  }),
  ZoneOutside: defineError<InFile & { zone: string; region: string; zones?: readonly string[] }>({
    code: 'MANTA_AWS_ZONE_OUTSIDE',
    exit: 2,
    message: (e) => `${pathText(e.at)}: zone '${e.zone}' is not in region ${e.region}`,
    hint: (e) => (e.zones?.length ? `zones of the region: ${e.zones.join(', ')}` : 'correct region or zone'),
  }),
  NoSubnet: defineError<InFile & { subnet: string; region: string }>({
    code: 'MANTA_AWS_NO_SUBNET',
    exit: 2,
    message: (e) => `${pathText(e.at)}: there is no subnet '${e.subnet}' in ${e.region}`,
    hint: () => 'correct the subnet or the region; without a subnet one is chosen',
  }),
  SubnetOutside: defineError<InFile & { subnet: string; zone: string; wanted: readonly string[] }>({
    code: 'MANTA_AWS_SUBNET_OUTSIDE',
    exit: 2,
    message: (e) =>
      `${pathText(e.at)}: subnet ${e.subnet} is in zone ${e.zone}, but the file asks for ${e.wanted.join(', ')}`,
    hint: () => 'name a subnet of that zone, or remove the zone',
  }),
  NoGroup: defineError<InFile & { group: string; region: string }>({
    code: 'MANTA_AWS_NO_GROUP',
    exit: 2,
    message: (e) => `${pathText(e.at)}: there is no security group '${e.group}' in ${e.region}`,
    hint: () => 'correct the group or the region; without SecurityGroupIds a group is created',
  }),
  SeveralNetworks: defineError<InFile & { networks: readonly { at: Path; vpc: string }[] }>({
    code: 'MANTA_AWS_SEVERAL_NETWORKS',
    exit: 2,
    message: (e) =>
      `node types are in different VPCs: ${e.networks.map(({ at, vpc }) => `${pathText(at)} in ${vpc}`).join(', ')}`,
    hint: () => 'name subnets and security groups of one VPC',
  }),
  NoUsableSubnet: defineError<{ region: string; looked: readonly { id: string; zone: string; why: string }[] }>({
    code: 'MANTA_AWS_NO_USABLE_SUBNET',
    exit: 5,
    message: (e) =>
      e.looked.length === 0
        ? `${e.region} has no subnet`
        : `no subnet of ${e.region} can be used: ${e.looked.map(({ id, zone, why }) => `${id} in ${zone} ${why}`).join('; ')}`,
    hint: () =>
      "create a default VPC with 'aws ec2 create-default-vpc', name SubnetIds in node_config, or set use_internal_ips: true for private subnets",
  }),
  NoProfile: defineError<InFile & { profile: string }>({
    code: 'MANTA_AWS_NO_PROFILE',
    exit: 2,
    message: (e) => `${pathText(e.at)}: there is no instance profile '${e.profile}'`,
    hint: () => 'correct its name, or remove IamInstanceProfile to have a role created for the head',
  }),
  ForeignProfile: defineError<InFile & { profile: string; owner: string; account: string }>({
    code: 'MANTA_AWS_FOREIGN_PROFILE',
    exit: 2,
    message: (e) =>
      `${pathText(e.at)}: instance profile '${e.profile}' is in account ${e.owner}, but you are logged in to ${e.account}`,
    hint: () => 'log in to that account (AWS_PROFILE), or write the name of a profile of this one',
  }),
  NoPolicy: defineError<InFile & { policy: string }>({
    code: 'MANTA_AWS_NO_POLICY',
    exit: 2,
    message: (e) => `provider.manta.head_policies: there is no policy '${e.policy}'`,
    hint: () => 'write the ARN of a policy, such as arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess',
  }),
  RoleDenied: defineError<{ action: string; resource?: string | undefined; role: string; policy: string }>({
    code: 'MANTA_AWS_ROLE_DENIED',
    exit: 5,
    message: (e) =>
      `cannot create role '${e.role}' for the head: you lack the permission ${e.action}${e.resource ? ` on ${e.resource}` : ''}`,
    hint: (e) =>
      `ask an administrator for an instance profile with the policy below, and name it in IamInstanceProfile of the head's node_config\n${e.policy}`,
  }),
  MissingPermission: defineError<{ action: string; resource?: string | undefined }>({
    code: 'MANTA_AWS_MISSING_PERMISSION',
    exit: 5,
    message: (e) => `you lack the permission ${e.action}${e.resource ? ` on ${e.resource}` : ''}`,
    hint: () => "ask an administrator for the policy that 'manta cloud policy FILE' prints",
  }),
  LoginRefused: defineError<{ profile?: string | undefined; detail: string }>({
    code: 'MANTA_AWS_LOGIN_REFUSED',
    exit: 5,
    message: (e) => `your AWS credentials${e.profile ? ` (profile '${e.profile}')` : ''} are not accepted: ${e.detail}`,
    hint: () => 'check the access key, the clock of this machine, and that the region is enabled for the account',
  }),
  AccountNotReady: defineError<{ call: string; detail: string; step: string }>({
    code: 'MANTA_AWS_ACCOUNT_NOT_READY',
    exit: 5,
    message: (e) => `the AWS account is not ready (${e.call}): ${e.detail}`,
    hint: (e) => e.step,
  }),
};
