import { isIPv4 } from 'node:net';
import { mapOf, textsOf } from '../../../core/spec/plain.ts';
import { allOf } from '../../all-of.ts';
import type { PreparationStep } from '../../clouds.ts';
import { lastOf } from '../client/links.ts';
import { clusterPrefix } from '../names.ts';
import { type LaunchedType, partialUrl, projectOf } from './file-types.ts';
import { isExternal, type NetworkLook, type SubnetFound, shared } from './network.ts';
import { isDenied, isThere } from './refused.ts';
import { allows, type FirewallRule } from './rules.ts';
import type { GoogleScene, Looked } from './scene.ts';

/** A rule that is missing. */
interface NewRule {
  readonly name: string;
  readonly network: string;
  readonly from: readonly string[];
  readonly ports?: readonly string[];
  /** What an earlier rule of this name allows, which no longer suffices. */
  readonly before?: readonly string[];
  readonly why: string;
}

export interface FirewallLook extends Looked {
  readonly missing: readonly NewRule[];
  /** Names of rules that were made for this cluster, by this look or an earlier one. */
  readonly own: readonly string[];
  /** What instances have to carry for those to count. */
  readonly tag: string | undefined;
}

const anywhere = '0.0.0.0/0';
const everyPort = [1, 65_535] as const;

/**
 * Whether SSH from here and traffic inside are allowed. A rule is made only where none allows it; it counts for instances of this
 * cluster alone, and carries its name.
 */
export async function lookAtFirewall(
  scene: GoogleScene,
  types: readonly LaunchedType[],
  { network, address }: { readonly network: NetworkLook; readonly address: string | undefined },
): Promise<FirewallLook> {
  const tag = clusterPrefix(scene.request.cluster, scene.request.clusterId).replace(/-$/, '');
  const common = commonTags(types);
  const looks = await allOf(
    [...new Map(network.subnets.map((subnet) => [subnet.network, subnet])).values()].map(async (subnet) =>
      lookAt(scene, subnet, { network, address, tag, tags: [...common, tag] }),
    ),
  );
  const own = looks.flatMap(({ own: names }) => names);
  return {
    missing: looks.flatMap(({ missing }) => missing),
    own,
    tag: own.length > 0 ? tag : undefined,
    steps: looks.flatMap(({ steps }) => steps),
    warnings: looks.flatMap(({ warnings }) => warnings),
  };
}

/** Network tags that every type has: rules may be about them. */
function commonTags(types: readonly LaunchedType[]): readonly string[] {
  const all = types.map(({ config }) => textsOf(mapOf(config.tags).items ?? config.tags));
  return (all[0] ?? []).filter((tag) => all.every((tags) => tags.includes(tag)));
}

interface About {
  readonly network: NetworkLook;
  readonly address: string | undefined;
  readonly tag: string;
  readonly tags: readonly string[];
}

async function lookAt(
  scene: GoogleScene,
  subnet: SubnetFound,
  { network, address, tag, tags }: About,
): Promise<Omit<FirewallLook, 'tag'>> {
  const rules = subnet.network === '' ? undefined : await rulesOf(scene, subnet);
  if (rules === undefined) return unreadable(scene, subnet);
  const ranges = network.subnets.flatMap((each) => (each.network === subnet.network ? (each.range ?? []) : []));
  const inside = ranges.every((from) => allows(rules, { from, ports: everyPort, tags }));
  const here = address !== undefined && isIPv4(address) ? `${address}/32` : anywhere;
  const ssh = allows(rules, { from: isExternal(scene) ? here : (ranges[0] ?? anywhere), ports: [22, 22], tags });
  const isOwn = ({ name }: FirewallRule): boolean => name.startsWith(`${tag}-`);
  const rule = (kind: string): string => nameOf(`${tag}-${kind}-${lastOf(subnet.network)}`);
  const added = (kind: string, from: readonly string[], why: string): NewRule => {
    const name = rule(kind);
    const before = rules.find((each) => each.name === name)?.sourceRanges;
    return { name, network: subnet.network, from, why, ...(before && { before }) };
  };
  const missing: readonly NewRule[] = [
    ...(inside ? [] : [added('in', ranges, 'instances of the cluster reach one another')]),
    ...(ssh || !isExternal(scene) ? [] : [{ ...added('ssh', [here], `SSH from ${here}`), ports: ['22'] }]),
  ];
  // Rules of a shared VPC are the business of those who share it.
  if (shared(scene, subnet)) return foreign(subnet, missing);
  return {
    missing,
    own: [...new Set([...rules.filter(isOwn).map(({ name }) => name), ...missing.map(({ name }) => name)])],
    steps: stepsOf(scene, subnet, missing),
    warnings: sshWarnings(scene, subnet, { ssh, here }),
  };
}

function sshWarnings(
  scene: GoogleScene,
  subnet: SubnetFound,
  { ssh, here }: { readonly ssh: boolean; readonly here: string },
): readonly string[] {
  if (ssh) return [];
  if (!isExternal(scene))
    return [`no firewall rule of network ${lastOf(subnet.network)} allows SSH (port 22) from inside it`];
  return here === anywhere
    ? [
        'the public address of this machine is unknown, so the rule for SSH allows every address; logging in still needs the key',
      ]
    : [];
}

function stepsOf(scene: GoogleScene, subnet: SubnetFound, missing: readonly NewRule[]): readonly PreparationStep[] {
  const made = missing.map(
    ({ name, why, before }): PreparationStep => ({
      what: 'firewall rule',
      action: before === undefined ? 'create' : 'change',
      id: name,
      note: why,
    }),
  );
  const what = isExternal(scene) ? 'SSH and traffic inside are allowed' : 'traffic inside is allowed';
  return made.length > 0 ? made : [{ what: 'firewall', action: 'found', id: lastOf(subnet.network), note: what }];
}

/** The rules of the network; undefined where they may not be read. */
async function rulesOf(scene: GoogleScene, { network }: SubnetFound): Promise<readonly FirewallRule[] | undefined> {
  try {
    const all = await scene.askAll<FirewallRule>('items', {
      call: 'compute.firewalls.list',
      url: scene.compute('global/firewalls', projectOf(network)),
    });
    return all.filter((rule) => partialUrl(rule.network, projectOf(network)) === network);
  } catch (error) {
    if (isDenied(error)) return undefined;
    throw error;
  }
}

function unreadable(scene: GoogleScene, subnet: SubnetFound): Omit<FirewallLook, 'tag'> {
  const owner = projectOf(subnet.path);
  const what = shared(scene, subnet)
    ? `the firewall of the shared VPC (project ${owner}, subnet ${lastOf(subnet.path)})`
    : `the firewall of network ${lastOf(subnet.network)}`;
  return {
    missing: [],
    own: [],
    steps: [],
    warnings: [
      `${what} cannot be read: it must allow SSH (port 22) from here, and all traffic between instances of the cluster`,
    ],
  };
}

function foreign(subnet: SubnetFound, missing: readonly NewRule[]): Omit<FirewallLook, 'tag'> {
  const network = lastOf(subnet.network);
  const owner = projectOf(subnet.network);
  return {
    missing: [],
    own: [],
    steps: missing.length > 0 ? [] : [{ what: 'firewall', action: 'found', id: network, note: `of project ${owner}` }],
    warnings: missing.map(
      ({ why }) => `no rule of the shared VPC (project ${owner}, network ${network}) allows this: ${why}; ask for one`,
    ),
  };
}

/** Makes the rules that are missing, and widens those that do not suffice any more. */
export async function makeRules(scene: GoogleScene, { missing, tag }: FirewallLook): Promise<void> {
  await allOf(missing.map((rule) => (rule.before === undefined ? insert(scene, rule, tag) : widen(scene, rule))));
}

async function insert(
  scene: GoogleScene,
  { name, network, from, ports, why }: NewRule,
  tag: string | undefined,
): Promise<void> {
  const { cluster, clusterId } = scene.request;
  const allowed = ports
    ? [{ IPProtocol: 'tcp', ports: [...ports] }]
    : [{ IPProtocol: 'tcp' }, { IPProtocol: 'udp' }, { IPProtocol: 'icmp' }];
  try {
    await scene.ask({
      call: 'compute.firewalls.insert',
      method: 'POST',
      url: scene.compute('global/firewalls', projectOf(network)),
      body: {
        ...{ name, network, allowed, sourceRanges: from, targetTags: [tag], direction: 'INGRESS' },
        description: `${why}. Made by Manta for the cluster ${cluster} (${clusterId}), and removed with it.`,
      },
    });
  } catch (error) {
    // Another `up` of the same cluster was faster.
    if (!isThere(error)) throw error;
  }
}

/** This machine has another address now; others may still use the one before. */
async function widen(scene: GoogleScene, { name, network, from, before = [] }: NewRule): Promise<void> {
  await scene.ask({
    call: 'compute.firewalls.patch',
    method: 'PATCH',
    url: scene.compute(`global/firewalls/${name}`, projectOf(network)),
    body: { name, sourceRanges: [...new Set([...before, ...from])] },
  });
}

/** As long as Google's names may be, and without a hyphen at the end. */
function nameOf(text: string): string {
  let end = Math.min(text.length, 63);
  while (text[end - 1] === '-') end--;
  return text.slice(0, end);
}
