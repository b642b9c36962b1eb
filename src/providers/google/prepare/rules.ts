import { covers, overlaps } from './ranges.ts';

/** A rule of a firewall, as far as it decides about what comes in. */
export interface FirewallRule {
  readonly name: string;
  readonly network: string;
  readonly direction?: string;
  readonly disabled?: boolean;
  readonly priority?: number;
  readonly sourceRanges?: readonly string[];
  readonly sourceTags?: readonly string[];
  readonly sourceServiceAccounts?: readonly string[];
  readonly targetTags?: readonly string[];
  readonly targetServiceAccounts?: readonly string[];
  readonly allowed?: readonly Protocol[];
  readonly denied?: readonly Protocol[];
}

interface Protocol {
  readonly IPProtocol?: string;
  readonly ports?: readonly string[];
}

/** TCP that is to come in. */
export interface Traffic {
  /** All of this range. */
  readonly from: string;
  readonly ports: readonly [first: number, last: number];
  /** Network tags of the instances that it is for. */
  readonly tags: readonly string[];
}

const usualPriority = 1000;

/** Whether the rules of a network allow all of this. What no rule is about is refused. */
export function allows(rules: readonly FirewallRule[], traffic: Traffic): boolean {
  const counting = rules
    .filter(({ direction = 'INGRESS', disabled }) => direction === 'INGRESS' && disabled !== true)
    .toSorted((one, other) => priorityOf(one) - priorityOf(other) || Number(isDeny(other)) - Number(isDeny(one)));
  const first = counting.find((rule) => (isDeny(rule) ? mayMatch(rule, traffic) : matches(rule, traffic)));
  return first !== undefined && !isDeny(first);
}

const priorityOf = ({ priority = usualPriority }: FirewallRule): number => priority;
const isDeny = ({ denied = [] }: FirewallRule): boolean => denied.length > 0;

const isFor = ({ targetTags = [], targetServiceAccounts = [] }: FirewallRule, { tags }: Traffic): boolean =>
  targetTags.length > 0 ? targetTags.some((tag) => tags.includes(tag)) : targetServiceAccounts.length === 0;

/** A rule without any source is about all of them. */
function sourcesOf({
  sourceRanges = [],
  sourceTags = [],
  sourceServiceAccounts = [],
}: FirewallRule): readonly string[] {
  if (sourceRanges.length > 0) return sourceRanges;
  return sourceTags.length > 0 || sourceServiceAccounts.length > 0 ? [] : ['0.0.0.0/0'];
}

const matches = (rule: FirewallRule, traffic: Traffic): boolean =>
  isFor(rule, traffic) &&
  sourcesOf(rule).some((range) => covers(range, traffic.from)) &&
  (rule.allowed ?? []).some((protocol) =>
    portsOf(protocol).some(([first, last]) => first <= traffic.ports[0] && traffic.ports[1] <= last),
  );

/** What is denied of a part of it is missing from the whole. */
const mayMatch = (rule: FirewallRule, traffic: Traffic): boolean =>
  isFor(rule, traffic) &&
  sourcesOf(rule).some((range) => overlaps(range, traffic.from)) &&
  (rule.denied ?? []).some((protocol) =>
    portsOf(protocol).some(([first, last]) => first <= traffic.ports[1] && traffic.ports[0] <= last),
  );

/** Of TCP, which is also number 6. */
function portsOf({ IPProtocol: protocol = '', ports }: Protocol): readonly (readonly [number, number])[] {
  if (!['tcp', '6', 'all'].includes(protocol.toLowerCase())) return [];
  if (ports === undefined || ports.length === 0) return [[0, 65_535]];
  return ports.map((text) => {
    const [first = '', last = first] = text.split('-');
    return [Number(first), Number(last)] as const;
  });
}
