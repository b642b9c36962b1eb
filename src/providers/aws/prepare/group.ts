import {
  AuthorizeSecurityGroupIngressCommand,
  CreateSecurityGroupCommand,
  DescribeSecurityGroupsCommand,
  type Filter,
  type SecurityGroup,
} from '@aws-sdk/client-ec2';
import { isText, mapOf } from '../../../core/spec/plain.ts';
import type { Path } from '../../../core/spec/problem.ts';
import { awsErrors } from '../errors.ts';
import { type FileType, groupsIn, hasOwnGroups, mapsOf } from './file-types.ts';
import { ownerOf, shortId } from './ownership.ts';
import { isCode } from './refused.ts';
import {
  allowsSsh,
  everywhere,
  type InboundRule,
  inside,
  missingRules,
  permissionOf,
  rulesInFile,
  rulesOf,
  sshFrom,
  sshFromEverywhere,
  sshFromPrivate,
} from './rules.ts';
import type { Scene, Told } from './scene.ts';
import type { InVpc } from './subnets.ts';

interface Group {
  readonly id: string;
  readonly name: string;
  readonly vpc: string;
  readonly owner?: string;
  readonly rules: readonly InboundRule[];
}

/** Groups that the file names, and those that bear the cluster's name. */
export interface FoundGroups {
  readonly named: readonly Group[];
  readonly given: ReadonlyMap<string, Group>;
}

/** The group of types that name none. */
export interface GroupLook extends Told {
  readonly name: string;
  readonly vpc: string;
  /** Absent: it is to be created. */
  readonly id?: string;
  /** Whether it was made for this cluster, or will be. */
  readonly own: boolean;
  /** Rules that it should have beside the one for its own members. */
  readonly wanted: readonly InboundRule[];
  /** Rules that are to be added. Of a group that is to be created: all of them. */
  readonly missing: readonly InboundRule[];
}

const groupNames = ({ spec, request: { cluster, clusterId } }: Scene): readonly [string, string] => {
  const { GroupName: given } = mapOf(spec.provider.config.security_group);
  const usual = (isText(given) ? given : `ray-autoscaler-${cluster}`).slice(0, 240);
  return [usual, `${usual}-${shortId(clusterId)}`];
};

/** Looks in all VPCs: which one is meant may not be known yet. */
export async function lookAtGroups(scene: Scene, types: readonly FileType[]): Promise<FoundGroups> {
  const ids = [...new Set(types.flatMap(allGroupsIn).map(({ id }) => id))];
  const [named, given] = await Promise.all([
    types.some(({ config }) => !hasOwnGroups(config)) ? askGroups(scene, 'group-name', groupNames(scene)) : [],
    ids.length > 0 ? askGroups(scene, 'group-id', ids) : [],
  ]);
  return { named, given: new Map(given.map((group) => [group.id, group])) };
}

/** Of the type itself and of its network interfaces, with their places in the file. */
const allGroupsIn = ({ at, config }: FileType): readonly { readonly at: Path; readonly id: string }[] => [
  ...groupsIn(config).map((id) => ({ at: [...at, 'SecurityGroupIds'], id })),
  ...mapsOf(config.NetworkInterfaces).flatMap(({ Groups = [] }, index) =>
    groupsIn({ SecurityGroupIds: Groups }).map((id) => ({ at: [...at, 'NetworkInterfaces', index, 'Groups'], id })),
  ),
];

/** Where the groups are that the file names. Throws for one that does not exist. */
export const groupsInVpcs = ({ region }: Scene, types: readonly FileType[], { given }: FoundGroups): readonly InVpc[] =>
  types.flatMap(allGroupsIn).map(({ at, id }) => {
    const group = given.get(id);
    if (group === undefined) throw awsErrors.NoGroup({ at, group: id, region });
    return { at, vpc: group.vpc };
  });

async function askGroups(scene: Scene, filter: string, values: readonly string[]): Promise<readonly Group[]> {
  const Filters: Filter[] = [{ Name: filter, Values: [...values] }];
  const pages = await scene.askAll('ec2:DescribeSecurityGroups', (page, options) =>
    scene.aws.ec2.send(new DescribeSecurityGroupsCommand({ Filters, ...page }), options),
  );
  return pages.flatMap(({ SecurityGroups }) => (SecurityGroups ?? []).map(readGroup));
}

function readGroup({ GroupId, GroupName, VpcId, Tags, IpPermissions = [] }: SecurityGroup): Group {
  const owner = ownerOf(Tags);
  return {
    ...{ id: GroupId ?? '', name: GroupName ?? '', vpc: VpcId ?? '', rules: rulesOf(IpPermissions) },
    ...(owner !== undefined && { owner }),
  };
}

/** Decides on the group of the types that name none; undefined where all do. */
export function chooseGroup(
  scene: Scene,
  types: readonly FileType[],
  { named, given }: FoundGroups,
  { vpc, address }: { readonly vpc: string; readonly address: string | undefined },
): GroupLook | undefined {
  if (types.every(({ config }) => hasOwnGroups(config))) return undefined;
  const { clusterId } = scene.request;
  const [usual, suffixed] = groupNames(scene);
  const at = (name: string): Group | undefined => named.find((group) => group.name === name && group.vpc === vpc);
  const name = (at(usual)?.owner ?? clusterId) === clusterId ? usual : suffixed;
  const found = at(name);
  const own = found === undefined || found.owner === clusterId;
  const { rules: wanted, warnings } = wantedRules(scene, address, [...given.keys()]);
  const all = found === undefined ? wanted : [inside(found.id), ...wanted];
  // Rules of a group that somebody else keeps are theirs, unless there are none at all.
  const keepsUp = own || found.rules.length === 0;
  const missing = keepsUp ? missingRules(all, found?.rules ?? []) : [];
  const closed = !keepsUp && !allowsSsh(found.rules);
  const note = name === usual ? undefined : `${usual} belongs to another cluster`;
  const rules = missing.length > 0 ? 'change' : 'found';
  return {
    ...{ name, vpc, own, wanted, missing },
    ...(found !== undefined && { id: found.id }),
    steps: [
      {
        what: 'security group',
        action: found === undefined ? 'create' : rules,
        id: found === undefined ? name : `${found.id} (${name})`,
        ...(note !== undefined && { note }),
      },
    ],
    warnings: [
      ...(keepsUp ? warnings : []),
      ...(closed
        ? [`security group ${name} was not created by Manta and does not allow SSH; add a rule for port 22`]
        : []),
    ],
  };
}

/** Who may log in, what other groups of the file may do, and what the file asks for. */
function wantedRules(
  { spec }: Scene,
  address: string | undefined,
  groups: readonly string[],
): { readonly rules: readonly InboundRule[]; readonly warnings: readonly string[] } {
  const { use_internal_ips: internal, use_external_head_ip: external, security_group: group } = spec.provider.config;
  const fromInside = internal === true || spec.auth.proxyCommand !== undefined;
  const fromOutside = internal !== true || external === true;
  const unknown = fromOutside && address === undefined && !fromInside;
  return {
    rules: [
      ...groups.map(inside),
      ...(fromInside ? sshFromPrivate : []),
      ...(fromOutside && address !== undefined ? [sshFrom(address)] : []),
      ...(unknown ? [sshFromEverywhere] : []),
      ...rulesInFile(mapsOf(mapOf(group).IpPermissions)),
    ],
    warnings: unknown
      ? [
          `the public address of this machine is unknown, so port 22 is open to ${everywhere}; narrow it with security_group, or set MANTA_CHECKIP_URL to a page that returns your address`,
        ]
      : [],
  };
}

/** Creates the group where it is missing, and adds the rules that it lacks. Returns its id. */
export async function makeGroup(scene: Scene, look: GroupLook): Promise<string> {
  const id = look.id ?? (await createGroup(scene, look));
  const missing = look.id === undefined ? [inside(id), ...look.missing] : look.missing;
  if (missing.length > 0) await addRules(scene, id, missing);
  return id;
}

async function createGroup(scene: Scene, { name, vpc }: GroupLook): Promise<string> {
  try {
    const { GroupId: id } = await scene.ask('ec2:CreateSecurityGroup', (options) =>
      scene.aws.ec2.send(
        new CreateSecurityGroupCommand({
          GroupName: name,
          Description: 'Nodes of a Ray cluster, made by Manta',
          VpcId: vpc,
          TagSpecifications: [{ ResourceType: 'security-group', Tags: scene.tags }],
        }),
        options,
      ),
    );
    return id!;
  } catch (error) {
    if (!isCode('InvalidGroup.Duplicate')(error)) throw error;
    // Another command of this cluster was faster.
    const found = (await askGroups(scene, 'group-name', [name])).find((group) => group.vpc === vpc);
    if (found?.owner !== scene.request.clusterId) throw error;
    return found.id;
  }
}

/** A new group is not known everywhere at once. */
const unknownFor = 60_000;
const pauseFor = 1_000;

async function addRules(scene: Scene, id: string, rules: readonly InboundRule[]): Promise<void> {
  const { clock } = scene.request;
  const start = clock.now();
  for (let missing = rules; missing.length > 0; ) {
    try {
      await scene.ask('ec2:AuthorizeSecurityGroupIngress', (options) =>
        scene.aws.ec2.send(
          new AuthorizeSecurityGroupIngressCommand({ GroupId: id, IpPermissions: missing.map(permissionOf) }),
          options,
        ),
      );
      return;
    } catch (error) {
      const isNew = isCode('InvalidGroup.NotFound')(error) && clock.now() - start < unknownFor;
      if (isNew) await clock.sleep(pauseFor, scene.signal);
      else if (!isCode('InvalidPermission.Duplicate')(error)) throw error;
      else {
        // One of them is there already, which refuses them all.
        const there = await askGroups(scene, 'group-id', [id]);
        const left = missingRules(rules, there[0]?.rules ?? []);
        if (left.length === missing.length) throw error;
        missing = left;
      }
    }
  }
}
