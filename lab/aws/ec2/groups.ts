import type { IpPermission, SecurityGroup, SecurityGroupRule } from '@aws-sdk/client-ec2';
import type { Group, GroupRule } from '../../cloud/belongings.ts';
import type { Caller } from '../caller.ts';
import { awsError } from '../errors.ts';
import type { Ec2Handlers } from '../handlers.ts';
import { byIds, exact, filterBy, mayCreate, mayTouch, pageOf, specifiedTags, writeTags } from './listing.ts';

export const allGroups = ({ world, account, region }: Caller): readonly Group[] => {
  world.network(account, region);
  return world.cloud.has.groups.of(account, region);
};

const writeGroup = (caller: Caller, group: Group): SecurityGroup => ({
  GroupId: group.id,
  GroupName: group.name,
  Description: group.description,
  OwnerId: group.account,
  VpcId: group.network,
  SecurityGroupArn: caller.arn(`security-group/${group.id}`),
  IpPermissions: writePermissions(
    group,
    group.rules.filter(({ outwards }) => !outwards),
  ),
  IpPermissionsEgress: writePermissions(
    group,
    group.rules.filter(({ outwards }) => outwards),
  ),
  Tags: writeTags(group.tags),
});

/** Rules of the same protocol and ports are one permission. */
function writePermissions(group: Group, rules: readonly GroupRule[]): IpPermission[] {
  const byPorts = Map.groupBy(rules, ({ protocol, from, to }) => `${protocol} ${from} ${to}`);
  return [...byPorts.values()].map((each): IpPermission => {
    const { protocol, from, to } = each[0]!;
    const own = (described: GroupRule) => ({ Description: described.description });
    return {
      IpProtocol: protocol,
      FromPort: from,
      ToPort: to,
      IpRanges: each.flatMap((rule) => (rule.cidr ? [{ CidrIp: rule.cidr, ...own(rule) }] : [])),
      Ipv6Ranges: each.flatMap((rule) => (rule.cidr6 ? [{ CidrIpv6: rule.cidr6, ...own(rule) }] : [])),
      PrefixListIds: each.flatMap((rule) => (rule.prefixList ? [{ PrefixListId: rule.prefixList, ...own(rule) }] : [])),
      UserIdGroupPairs: each.flatMap((rule) =>
        rule.group ? [{ GroupId: rule.group, UserId: group.account, ...own(rule) }] : [],
      ),
    };
  });
}

const writeRule = (group: Group, rule: GroupRule, caller: Caller): SecurityGroupRule => ({
  SecurityGroupRuleId: rule.id,
  GroupId: group.id,
  GroupOwnerId: group.account,
  IsEgress: rule.outwards,
  IpProtocol: rule.protocol,
  FromPort: rule.from ?? -1,
  ToPort: rule.to ?? -1,
  CidrIpv4: rule.cidr,
  CidrIpv6: rule.cidr6,
  PrefixListId: rule.prefixList,
  ...(rule.group && { ReferencedGroupInfo: { GroupId: rule.group, UserId: group.account } }),
  Description: rule.description,
  SecurityGroupRuleArn: caller.arn(`security-group-rule/${rule.id}`),
  Tags: [],
});

interface RuleRequest {
  readonly GroupId?: string | undefined;
  readonly GroupName?: string | undefined;
  readonly IpPermissions?: readonly IpPermission[] | undefined;
  readonly IpProtocol?: string | undefined;
  readonly FromPort?: number | undefined;
  readonly ToPort?: number | undefined;
  readonly CidrIp?: string | undefined;
  readonly SecurityGroupRuleIds?: readonly string[] | undefined;
}

function findGroup(caller: Caller, { GroupId: id, GroupName: name }: RuleRequest): Group {
  const all = allGroups(caller);
  if (id === undefined && name === undefined)
    throw awsError('MissingParameter', 'The request must contain the parameter groupName or groupId');
  const home = caller.world.vpcs.of(caller.account, caller.region).find(({ isDefault }) => isDefault)?.id;
  const found = all.find((group) =>
    id === undefined ? group.name === name && group.network === home : group.id === id,
  );
  if (found !== undefined) return found;
  if (id !== undefined && !/^sg-[0-9a-f]{8,17}$/.test(id))
    throw awsError('InvalidGroupId.Malformed', `Invalid id: "${id}" (expecting "sg-...")`);
  throw awsError('InvalidGroup.NotFound', `The security group '${id ?? name}' does not exist`);
}

const numbers: Readonly<Record<string, string>> = { '6': 'tcp', '17': 'udp', '1': 'icmp', '58': 'icmpv6' };

function readRules(caller: Caller, outwards: boolean, request: RuleRequest): readonly GroupRule[] {
  const { IpProtocol, FromPort, ToPort, CidrIp } = request;
  const own = IpProtocol === undefined ? [] : [{ IpProtocol, FromPort, ToPort, IpRanges: CidrIp ? [{ CidrIp }] : [] }];
  const permissions: readonly IpPermission[] = [...(request.IpPermissions ?? []), ...own];
  if (permissions.length === 0)
    throw awsError('MissingParameter', 'The request must contain the parameter ipPermissions');
  return permissions.flatMap((permission) => {
    const given = permission.IpProtocol ?? '-1';
    const protocol = numbers[given] ?? given.toLowerCase();
    const all = protocol === '-1';
    if (!all && !/^(?:tcp|udp|icmp|icmpv6|\d{1,3})$/.test(protocol))
      throw awsError('InvalidParameterValue', `Invalid value '${given}' for IP protocol. Unknown protocol.`);
    const { FromPort: from, ToPort: to } = permission;
    const ports = protocol === 'tcp' || protocol === 'udp';
    if (ports && (from === undefined || to === undefined))
      throw awsError(
        'InvalidParameterValue',
        "Invalid value 'Must specify both from and to ports with TCP/UDP.' for portRange.",
      );
    if (ports && (from! > to! || from! < 0 || to! > 65535))
      throw awsError('InvalidParameterValue', `Invalid value 'from_port: ${from}, to_port: ${to}' for portRange.`);
    const base = { outwards, protocol, ...(!all && { from, to }) };
    const rule = (more: Partial<GroupRule>): GroupRule => ({ ...base, ...more, id: caller.world.newId('sgr') });
    const made = [
      ...(permission.IpRanges ?? []).map(({ CidrIp: cidr = '', Description: description }) => {
        if (!isCidr(cidr)) throw awsError('InvalidParameterValue', `CIDR block ${cidr} is malformed`);
        return rule({ cidr, description });
      }),
      ...(permission.Ipv6Ranges ?? []).map((each) => rule({ cidr6: each.CidrIpv6!, description: each.Description })),
      ...(permission.PrefixListIds ?? []).map((each) =>
        rule({ prefixList: each.PrefixListId!, description: each.Description }),
      ),
      ...(permission.UserIdGroupPairs ?? []).map(({ GroupId, GroupName, Description: description }) =>
        rule({ group: findGroup(caller, { GroupId, GroupName }).id, description }),
      ),
    ];
    if (made.length === 0)
      throw awsError('MissingParameter', 'Source group, CIDR or prefix list is missing from a permission');
    return made;
  });
}

const isCidr = (text: string): boolean => {
  const [, a, b, c, d, bits] = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\/(\d+)$/.exec(text)?.map(Number) ?? [];
  return [a, b, c, d].every((part) => part !== undefined && part <= 255) && bits !== undefined && bits <= 32;
};

const subject = ({ outwards, protocol, from, to, cidr, cidr6, group, prefixList }: GroupRule): string =>
  JSON.stringify([outwards, protocol, from, to, cidr, cidr6, group, prefixList]);

function authorize(outwards: boolean, request: RuleRequest, caller: Caller) {
  const group = findGroup(caller, request);
  mayTouch(caller, 'security-group', group);
  const rules = readRules(caller, outwards, request);
  const known = new Set(group.rules.map(subject));
  const again = rules.find((rule) => known.has(subject(rule)));
  if (again !== undefined) {
    const { protocol, from, to, cidr, group: peer } = again;
    throw awsError(
      'InvalidPermission.Duplicate',
      `the specified rule "peer: ${cidr ?? peer}, ${protocol === '-1' ? 'ALL' : `${protocol}, from port: ${from}, to port: ${to}`}, ALLOW" already exists`,
    );
  }
  if (group.rules.length + rules.length > 2 * 60)
    throw awsError(
      'RulesPerSecurityGroupLimitExceeded',
      'The maximum number of rules per security group has been reached.',
    );
  caller.commit();
  group.rules = [...group.rules, ...rules];
  return { Return: true, SecurityGroupRules: rules.map((rule) => writeRule(group, rule, caller)) };
}

function revoke(outwards: boolean, request: RuleRequest, caller: Caller) {
  const group = findGroup(caller, request);
  mayTouch(caller, 'security-group', group);
  const ids = request.SecurityGroupRuleIds;
  const wanted = new Set(ids === undefined ? readRules(caller, outwards, request).map(subject) : []);
  const doomed = group.rules.filter((rule) => ids?.includes(rule.id) || wanted.has(subject(rule)));
  if (doomed.length < (ids?.length ?? wanted.size))
    throw awsError('InvalidPermission.NotFound', 'The specified rule does not exist in this security group.');
  caller.commit();
  group.rules = group.rules.filter((rule) => !doomed.includes(rule));
  return { Return: true };
}

export const groupHandlers: Ec2Handlers = {
  DescribeSecurityGroups(request, caller) {
    caller.may();
    const all = allGroups(caller);
    const named = request.GroupNames ?? [];
    for (const name of named)
      if (!all.some((group) => group.name === name))
        throw awsError('InvalidGroup.NotFound', `The security group '${name}' does not exist in default VPC`);
    const fits = filterBy<Group>(
      request.Filters,
      {
        'group-id': ({ id }) => [id],
        'group-name': ({ name }) => [name],
        'vpc-id': ({ network }) => [network],
        description: ({ description }) => [description],
        'owner-id': ({ account }) => [account],
        'ip-permission.cidr': ({ rules }) => rules.filter((rule) => !rule.outwards).map(({ cidr }) => cidr),
        'ip-permission.from-port': ({ rules }) =>
          rules.filter((rule) => !rule.outwards).flatMap(({ from }) => exact(from)),
        'ip-permission.to-port': ({ rules }) => rules.filter((rule) => !rule.outwards).flatMap(({ to }) => exact(to)),
        'ip-permission.protocol': ({ rules }) => rules.filter((rule) => !rule.outwards).map(({ protocol }) => protocol),
        'ip-permission.group-id': ({ rules }) => rules.filter((rule) => !rule.outwards).map(({ group }) => group),
      },
      ({ tags }) => tags,
    );
    const found = byIds(all, request.GroupIds, 'InvalidGroup.NotFound', 'security group')
      .filter((group) => named.length === 0 || named.includes(group.name))
      .filter(fits);
    const { page, next } = pageOf(caller, found, request);
    return { SecurityGroups: page.map((group) => writeGroup(caller, group)), NextToken: next };
  },

  DescribeSecurityGroupRules(request, caller) {
    caller.may();
    const all = allGroups(caller).flatMap((group) => group.rules.map((rule) => ({ ...rule, group, rule })));
    const fits = filterBy<(typeof all)[number]>(
      request.Filters,
      { 'group-id': ({ group }) => [group.id], 'security-group-rule-id': ({ id }) => [id] },
      () => ({}),
    );
    const found = byIds(
      all,
      request.SecurityGroupRuleIds,
      'InvalidSecurityGroupRuleId.NotFound',
      'security group rule',
    );
    const { page, next } = pageOf(caller, found.filter(fits), request);
    return { SecurityGroupRules: page.map(({ group, rule }) => writeRule(group, rule, caller)), NextToken: next };
  },

  CreateSecurityGroup(request, caller) {
    const { world, account, region } = caller;
    const all = allGroups(caller);
    const vpcs = world.vpcs.of(account, region);
    const vpc =
      request.VpcId === undefined ? vpcs.find((each) => each.isDefault) : vpcs.find(({ id }) => id === request.VpcId);
    if (vpc === undefined && request.VpcId === undefined)
      throw awsError('VPCIdNotSpecified', 'No default VPC for this user');
    if (vpc === undefined) throw awsError('InvalidVpcID.NotFound', `The vpc ID '${request.VpcId}' does not exist`);
    const { GroupName: name = '', Description: description = '' } = request;
    if (name === '' || name.length > 255 || name.startsWith('sg-'))
      throw awsError('InvalidParameterValue', `Invalid value '${name}' for groupName.`);
    const tags = specifiedTags(request.TagSpecifications, ['security-group']).get('security-group') ?? {};
    mayCreate(caller, 'security-group', tags);
    caller.may(caller.arn(`vpc/${vpc.id}`));
    if (all.some((group) => group.name === name && group.network === vpc.id))
      throw awsError('InvalidGroup.Duplicate', `The security group '${name}' already exists for VPC '${vpc.id}'`);
    caller.commit();
    const group = world.addGroup({ account, region, createdAt: world.now(), tags, name, description, network: vpc.id });
    return { GroupId: group.id, Tags: writeTags(tags), SecurityGroupArn: caller.arn(`security-group/${group.id}`) };
  },

  DeleteSecurityGroup(request, caller) {
    const group = findGroup(caller, request);
    mayTouch(caller, 'security-group', group);
    if (group.name === 'default')
      throw awsError(
        'CannotDelete',
        'the specified group: "' + group.id + '" name: "default" cannot be deleted by a user',
      );
    const { world, account } = caller;
    // Its interface holds on to the group until the instance has ended.
    const used = world.cloud.existing(account).some((instance) => world.facts(instance).groups.includes(group.id));
    const named = allGroups(caller).some(
      (other) => other !== group && other.rules.some((rule) => rule.group === group.id),
    );
    if (used || named) throw awsError('DependencyViolation', `resource ${group.id} has a dependent object`);
    caller.commit();
    world.cloud.has.groups.delete(group.id);
    return { Return: true, GroupId: group.id };
  },

  AuthorizeSecurityGroupIngress: (request, caller) => authorize(false, request, caller),
  AuthorizeSecurityGroupEgress: (request, caller) => authorize(true, request, caller),
  RevokeSecurityGroupIngress: (request, caller) => revoke(false, request, caller),
  RevokeSecurityGroupEgress: (request, caller) => revoke(true, request, caller),
};
