import type { MantaError } from '../../../base/errors.ts';
import type { ClusterSpec, Plain, PlainMap } from '../../../core/spec/cluster.ts';
import { fingerprint } from '../../../core/spec/fingerprint.ts';
import { legacyHeadType, legacyWorkerType } from '../../../core/spec/legacy/node-types.ts';
import { isText, mapOf } from '../../../core/spec/plain.ts';
import type { Path } from '../../../core/spec/problem.ts';
import { isMap } from '../../../core/spec/source.ts';
import { awsErrors } from '../errors.ts';

/** Something that the file launches: a node type, or a head that differs from the workers of its type. */
export interface FileType {
  /** Of the node type. */
  readonly name: string;
  /** Whether the head is launched so. */
  readonly isHead: boolean;
  /** Whether workers are. */
  readonly hasWorkers: boolean;
  /** Where its launch configuration stands in the file. */
  readonly at: Path;
  /** What the file says; members that it leaves out are the template's. */
  readonly config: PlainMap;
  /** Of the launch template, decoded, where the file has none of its own. */
  readonly templateUserData?: string;
  /** The launch template asks for spot instances, and the file does not say otherwise. */
  readonly templateSpot?: true;
  readonly usesSpot: boolean;
}

/** Files of earlier years have these in place of node types. */
const legacyPaths: ReadonlyMap<string, Path> = new Map([
  [legacyHeadType, ['head_node']],
  [legacyWorkerType, ['worker_nodes']],
]);

const configPath = (type: string): Path => legacyPaths.get(type) ?? ['available_node_types', type, 'node_config'];

export const isSpot = (config: PlainMap): boolean => mapOf(config.InstanceMarketOptions).MarketType === 'spot';

/** What the file launches, without what templates add. */
export function typesInFile(spec: ClusterSpec): readonly FileType[] {
  const headIsOwn = (config: PlainMap): boolean => fingerprint(config) !== fingerprint(spec.head.launchConfig);
  return spec.nodeTypes.flatMap(({ name, launchConfig, offers }): readonly FileType[] => {
    const base = { name, at: configPath(name), config: launchConfig };
    const usesSpot = offers.some(({ market }) => market === 'spot');
    if (name !== spec.headType) return [{ ...base, isHead: false, hasWorkers: true, usesSpot }];
    if (!headIsOwn(launchConfig)) return [{ ...base, isHead: true, hasWorkers: true, usesSpot }];
    const head = spec.head.launchConfig;
    return [
      { ...base, isHead: false, hasWorkers: true, usesSpot },
      { name, at: ['head_node'], config: head, isHead: true, hasWorkers: false, usesSpot: isSpot(head) },
    ];
  });
}

/** What one resource takes. */
const mostTags = 50;

/** On instances: those of a launch, that of the status, and those with which a head says why it has ended. */
const reservedTags = 12;

/** Throws for a type whose own tags leave no room for those by which its instances are found. */
export function checkTags(types: readonly FileType[]): void {
  for (const { at, config } of types) {
    const tags = mapsOf(config.TagSpecifications)
      .filter(({ ResourceType: kind }) => kind === 'instance')
      .flatMap(({ Tags: given }) => mapsOf(given).map(({ Key: key }) => key));
    const count = new Set(tags).size;
    if (count > mostTags - reservedTags)
      throw awsErrors.BadConfig({
        at: [...at, 'TagSpecifications'],
        problem: `has ${count} tags for instances, but AWS allows ${mostTags} and Manta sets up to ${reservedTags} of them`,
        hint: `leave at most ${mostTags - reservedTags} tags`,
      });
  }
}

export const headOf = (types: readonly FileType[]): FileType => types.find(({ isHead }) => isHead)!;

const listOf = (value: Plain | undefined): readonly Plain[] =>
  Array.isArray(value) ? (value as readonly Plain[]) : [];

export const mapsOf = (value: Plain | undefined): readonly PlainMap[] => listOf(value).filter(isMap);

/** `SubnetId`, or Ray's `SubnetIds`. */
export const subnetsIn = ({ SubnetId: one, SubnetIds: several }: PlainMap): readonly string[] =>
  isText(one) ? [one] : listOf(several).filter(isText);

export const groupsIn = ({ SecurityGroupIds: ids }: PlainMap): readonly string[] => listOf(ids).filter(isText);

/** Names of groups, which only a default VPC has, or none. Of a template's interfaces a launch can change nothing. */
export const hasOwnGroups = (config: PlainMap): boolean =>
  groupsIn(config).length > 0 ||
  listOf(config.SecurityGroups).length > 0 ||
  (hasInterfaces(config) && ('LaunchTemplate' in config || interfacesIn(config).every(hasGroups)));

/** Where interfaces say themselves in which subnet they are, no other is chosen. */
export const hasPlacedInterfaces = (config: PlainMap): boolean =>
  hasInterfaces(config) &&
  ('LaunchTemplate' in config || interfacesIn(config).some((card) => isText(card.SubnetId) || isMade(card)));

const hasInterfaces = (config: PlainMap): boolean => interfacesIn(config).length > 0;
const interfacesIn = ({ NetworkInterfaces: given }: PlainMap): readonly PlainMap[] => mapsOf(given);
const hasGroups = (card: PlainMap): boolean => listOf(card.Groups).length > 0 || isMade(card);

/** An interface that is there already has its network. */
const isMade = ({ NetworkInterfaceId: id }: PlainMap): boolean => isText(id);

/** A profile as the file has it: by name, by ARN, or an ARN written as a name. Undefined: none. */
export function profileIn({ IamInstanceProfile: given }: PlainMap): ProfileName | undefined {
  const { Arn: arn, Name: name } = mapOf(given);
  if (isText(arn)) return { Arn: arn };
  if (!isText(name)) return undefined;
  return name.startsWith('arn:') ? { Arn: name } : { Name: name };
}

/** As RunInstances takes it. */
export type ProfileName =
  | { readonly Arn: string; readonly Name?: never }
  | { readonly Name: string; readonly Arn?: never };

/** The account that an ARN names. */
export const accountOf = ({ Arn: arn }: ProfileName): string | undefined => arn?.split(':')[4] || undefined;

/** Why EC2 would refuse a profile of the file: it is in another account, which a plan says and `up` refuses. */
export function foreignProfile(types: readonly FileType[], account: string): MantaError | undefined {
  for (const { at, config } of types) {
    const profile = profileIn(config);
    const owner = profile && accountOf(profile);
    if (owner !== undefined && owner !== account)
      return awsErrors.ForeignProfile({
        at: [...at, 'IamInstanceProfile'],
        profile: plainName(profile!),
        owner,
        account,
      });
  }
  return undefined;
}

/** The last part of an ARN, after its path. */
export const plainName = ({ Arn: arn, Name: name }: ProfileName): string => name ?? arn.slice(arn.lastIndexOf('/') + 1);
