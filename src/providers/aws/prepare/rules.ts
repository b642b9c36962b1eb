import { isIPv6 } from 'node:net';
import type { IpPermission } from '@aws-sdk/client-ec2';
import type { PlainMap } from '../../../core/spec/cluster.ts';
import { isText, numberOf } from '../../../core/spec/plain.ts';
import type { Path } from '../../../core/spec/problem.ts';
import { awsErrors } from '../errors.ts';
import { mapsOf } from './file-types.ts';

/** What a group allows from one place. */
export interface InboundRule {
  /** `-1` is all of them. */
  readonly protocol: string;
  readonly from?: number;
  readonly to?: number;
  readonly source: RuleSource;
  readonly description?: string;
}

type RuleSource =
  | { readonly cidr: string }
  | { readonly cidr6: string }
  | { readonly group: string }
  | { readonly prefixList: string };

const protocols: ReadonlyMap<string, string> = new Map([
  ['6', 'tcp'],
  ['17', 'udp'],
  ['1', 'icmp'],
  ['58', 'icmpv6'],
  ['all', '-1'],
]);

const protocolOf = (given: string): string => protocols.get(given.toLowerCase()) ?? given.toLowerCase();

/** Where private networks have their addresses, VPNs and bastions among them. */
const privateRanges = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'];
export const everywhere = '0.0.0.0/0';

const ssh = (source: RuleSource): InboundRule => ({ protocol: 'tcp', from: 22, to: 22, source, description: 'SSH' });

export const sshFrom = (address: string): InboundRule =>
  ssh(isIPv6(address) ? { cidr6: `${address}/128` } : { cidr: `${address}/32` });

export const sshFromPrivate: readonly InboundRule[] = privateRanges.map((cidr) => ssh({ cidr }));
export const sshFromEverywhere: InboundRule = ssh({ cidr: everywhere });

/** Everything, from members of a group. */
export const inside = (group: string): InboundRule => ({ protocol: '-1', source: { group } });

/** `IpPermissions` of the file. */
export const rulesInFile = (permissions: readonly PlainMap[]): readonly InboundRule[] =>
  permissions.flatMap((permission, number) => {
    const protocol = protocolOf(String(permission.IpProtocol ?? '-1'));
    const [from, to] = [numberOf(permission.FromPort), numberOf(permission.ToPort)];
    const base = {
      protocol,
      ...(protocol !== '-1' && from !== undefined && { from }),
      ...(protocol !== '-1' && to !== undefined && { to }),
    };
    const rule = (source: RuleSource, { Description: description }: PlainMap): InboundRule => ({
      ...base,
      source,
      ...(isText(description) && { description }),
    });
    return [
      ...mapsOf(permission.IpRanges).map((each) => rule({ cidr: String(each.CidrIp) }, each)),
      ...mapsOf(permission.Ipv6Ranges).map((each) => rule({ cidr6: String(each.CidrIpv6) }, each)),
      ...mapsOf(permission.UserIdGroupPairs).map((each, index) =>
        rule({ group: groupIn(each, [number, 'UserIdGroupPairs', index]) }, each),
      ),
      ...mapsOf(permission.PrefixListIds).map((each) => rule({ prefixList: String(each.PrefixListId) }, each)),
    ];
  });

/** Names of groups are only told apart within a VPC, and rules are listed by id. */
function groupIn({ GroupId: id }: PlainMap, at: Path): string {
  if (isText(id)) return id;
  throw awsErrors.BadConfig({
    at: ['provider', 'security_group', 'IpPermissions', ...at],
    problem: 'has no GroupId',
    hint: 'name the group by its id, such as sg-0123456789abcdef0',
  });
}

/** What AWS says about a group. */
export const rulesOf = (permissions: readonly IpPermission[]): readonly InboundRule[] =>
  permissions.flatMap(({ IpProtocol = '-1', FromPort: from, ToPort: to, ...sources }) => {
    const protocol = protocolOf(IpProtocol);
    const all = protocol === '-1';
    const base = { protocol, ...(!all && from !== undefined && { from }), ...(!all && to !== undefined && { to }) };
    return [
      ...(sources.IpRanges ?? []).map(({ CidrIp: cidr = '' }) => ({ ...base, source: { cidr } })),
      ...(sources.Ipv6Ranges ?? []).map(({ CidrIpv6: cidr6 = '' }) => ({ ...base, source: { cidr6 } })),
      ...(sources.UserIdGroupPairs ?? []).map(({ GroupId: group = '' }) => ({ ...base, source: { group } })),
      ...(sources.PrefixListIds ?? []).map(({ PrefixListId: prefixList = '' }) => ({
        ...base,
        source: { prefixList },
      })),
    ];
  });

const subject = ({ protocol, from, to, source }: InboundRule): string => JSON.stringify([protocol, from, to, source]);

/** The rules of `wanted` that are not among `there`, each once. */
export function missingRules(wanted: readonly InboundRule[], there: readonly InboundRule[]): readonly InboundRule[] {
  const known = new Set(there.map(subject));
  return wanted.filter((rule) => {
    const own = subject(rule);
    return !known.has(own) && Boolean(known.add(own));
  });
}

/** Whether some rule lets SSH in at all. */
export const allowsSsh = (rules: readonly InboundRule[]): boolean =>
  rules.some(
    ({ protocol, from, to }) =>
      protocol === '-1' || (protocol === 'tcp' && from !== undefined && to !== undefined && from <= 22 && to >= 22),
  );

/** A rule as a call takes it. */
export function permissionOf({ protocol, from, to, source, description }: InboundRule): IpPermission {
  const said = description === undefined ? {} : { Description: description };
  const ports = protocol === '-1' ? {} : { FromPort: from, ToPort: to };
  const base = { IpProtocol: protocol, ...ports };
  if ('cidr' in source) return { ...base, IpRanges: [{ CidrIp: source.cidr, ...said }] };
  if ('cidr6' in source) return { ...base, Ipv6Ranges: [{ CidrIpv6: source.cidr6, ...said }] };
  if ('group' in source) return { ...base, UserIdGroupPairs: [{ GroupId: source.group, ...said }] };
  return { ...base, PrefixListIds: [{ PrefixListId: source.prefixList, ...said }] };
}
