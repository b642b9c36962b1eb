import { createHash } from 'node:crypto';
import type { ResourceType, RunInstancesCommandInput, TagSpecification } from '@aws-sdk/client-ec2';
import { ownValue } from '../../../base/own-value.ts';
import type { Market } from '../../../core/instance.ts';
import { rayNodeName, rayTags } from '../../../core/ray-tags.ts';
import type { NodeType, PlainMap } from '../../../core/spec/cluster.ts';
import type { CloudClient } from '../../clouds.ts';
import { providerErrors } from '../../errors.ts';
import type { LaunchRequest } from '../../provider.ts';
import { isDefault } from '../default-image.ts';
import { launchMembers } from '../node-config.ts';
import { type PreparedAws, type PreparedAwsType, readPrepared } from '../prepared.ts';
import { clusterTags, fromAws, type Tags, toAws } from '../tags.ts';
import { userData } from './user-data.ts';

/** A launch, all of it but how many and under which token. */
export interface LaunchPlan {
  readonly request: LaunchRequest;
  readonly kind: 'head' | 'worker';
  readonly type: NodeType;
  /** What was prepared for such instances. */
  readonly own: PreparedAwsType;
  /** Whether Manta made the head's profile. */
  readonly madeProfile: boolean;
  /** Where it goes; absent where `node_config` alone decides. */
  readonly zone?: string;
  /** On its instances. */
  readonly tags: Tags;
  readonly input: Omit<RunInstancesCommandInput, 'MinCount' | 'MaxCount' | 'ClientToken'>;
}

type Members = Partial<RunInstancesCommandInput>;

/** Throws `Denied` for what was not prepared: the file has changed since, or is another. */
export function planLaunch(client: CloudClient, request: LaunchRequest): LaunchPlan {
  const spec = client.spec();
  const type = spec.nodeTypes.find(({ name }) => name === request.type);
  const prepared = readPrepared(client.prepared?.());
  const kind = request.tags[rayTags.kind] === 'head' ? 'head' : 'worker';
  const own = (kind === 'head' ? prepared?.head : undefined) ?? (prepared && ownValue(prepared.types, request.type));
  if (type === undefined || prepared === undefined || own === undefined)
    throw providerErrors.Denied({
      call: 'launch',
      detail: `nothing is prepared on AWS for the node type '${request.type}'; run \`manta up\``,
    });
  const config = kind === 'head' ? spec.head.launchConfig : type.launchConfig;
  const members = launchMembers(config) as Members;
  const tags = tagsOf(client, request, kind, members);
  const boot = kind === 'worker' ? client.bootProgram?.() : undefined;
  const place = placeOf(members, config, own, request);
  const { InstanceMarketOptions, CapacityReservationSpecification, ...rest } = members;
  return {
    ...{ request, kind, type, own, tags },
    madeProfile: prepared.profileMadeAt !== undefined,
    ...(place.zone !== undefined && { zone: place.zone }),
    input: {
      ...rest,
      ...imageOf(members, own),
      ...networkOf(members, place.input, own),
      ...((members.KeyName ?? own.keyName) !== undefined && { KeyName: members.KeyName ?? own.keyName }),
      ...profileOf(members, kind === 'head' ? prepared.headProfile : undefined),
      ...marketOf({ InstanceMarketOptions, CapacityReservationSpecification }, request.market, type, own),
      TagSpecifications: tagSpecifications(client, members, tags, request.market),
      // An expired lease powers a machine off: stopped, it would keep costing money.
      InstanceInitiatedShutdownBehavior: 'terminate',
      UserData: userData(members.UserData ?? own.templateUserData, client.login(), boot),
    },
  };
}

/** What a part of a launch is known by: 64 characters, the same for the same part, another in another zone. */
export const clientToken = (client: CloudClient, { request, zone }: LaunchPlan, part: number): string =>
  createHash('sha256')
    .update(JSON.stringify([client.clusterId, request.token, zone ?? '', part]))
    .digest('hex');

function imageOf(members: Members, own: PreparedAwsType): Members {
  const given = isDefault(members.ImageId) ? undefined : members.ImageId;
  // What a template says stays; the file's own placeholder does not.
  const fromTemplate = own.templateImage === true && given === undefined;
  const { InstanceType = fromTemplate ? undefined : (own.instanceType as Members['InstanceType']) } = members;
  const image = given ?? (fromTemplate ? undefined : own.image);
  return { ...(image !== undefined && { ImageId: image }), ...(InstanceType !== undefined && { InstanceType }) };
}

/** A launch goes to one zone, and stays there: the same token in another one would make a second set. */
function placeOf(members: Members, config: PlainMap, own: PreparedAwsType, request: LaunchRequest) {
  const { subnets = [] } = own;
  const cards = members.NetworkInterfaces ?? [];
  const fixed = members.SubnetId !== undefined || (cards.length > 0 && subnets.length === 0);
  if (fixed || subnets.length === 0) {
    const zone = request.zone ?? members.Placement?.AvailabilityZone;
    const named = Array.isArray(config.SubnetIds) ? String(config.SubnetIds[0]) : undefined;
    if (fixed || named !== undefined) return { zone, input: named === undefined || fixed ? {} : { SubnetId: named } };
    const input = zone === undefined ? {} : { Placement: { ...members.Placement, AvailabilityZone: zone } };
    return { zone, input };
  }
  const subnet = subnets.find(({ zone }) => request.zone === undefined || zone === request.zone);
  if (subnet === undefined) {
    const { type, zone, market } = request;
    throw providerErrors.NoCapacity({ type, zone, market, detail: 'the cluster has no subnet there' });
  }
  return { zone: subnet.zone, input: { SubnetId: subnet.id } };
}

/**
 * Where it goes, and who may talk to it. EC2 refuses a subnet or groups of the instance beside interfaces: they are those of
 * the interfaces that name none.
 */
function networkOf(members: Members, place: Members, own: PreparedAwsType): Members {
  const named = [members.SecurityGroupIds, members.SecurityGroups].some(
    (each) => each !== undefined && each.length > 0,
  );
  const groups = named || own.groups === undefined ? members.SecurityGroupIds : [...own.groups];
  const subnet = place.SubnetId ?? members.SubnetId;
  const cards = members.NetworkInterfaces ?? [];
  if (cards.length === 0) return { ...place, ...(groups !== undefined && { SecurityGroupIds: groups }) };
  return {
    ...place,
    ...{ SubnetId: undefined, SecurityGroupIds: undefined },
    NetworkInterfaces: cards.map((card) =>
      card.NetworkInterfaceId === undefined
        ? { ...(subnet !== undefined && { SubnetId: subnet }), ...(groups?.length && { Groups: groups }), ...card }
        : card,
    ),
  };
}

/** Files write an ARN as a name, too. */
function profileOf({ IamInstanceProfile: given }: Members, head: PreparedAws['headProfile']): Members {
  const { Arn, Name } = given ?? head ?? {};
  const arn = Arn ?? (Name?.startsWith('arn:') ? Name : undefined);
  if (arn !== undefined) return { IamInstanceProfile: { Arn: arn } };
  return Name === undefined ? {} : { IamInstanceProfile: { Name } };
}

/** What is asked for counts; of what the file says of other markets nothing is left. */
function marketOf(members: Members, market: Market, type: NodeType, { templateSpot }: PreparedAwsType): Members {
  const { InstanceMarketOptions: options, CapacityReservationSpecification: reservation } = members;
  const given = options?.MarketType;
  if (market === 'spot') {
    // What the template says of spot, such as a price, is left to it.
    if (templateSpot && options === undefined) return {};
    const spot = given === 'spot' || given === undefined ? options?.SpotOptions : undefined;
    return { InstanceMarketOptions: { MarketType: 'spot', ...(spot && { SpotOptions: spot }) } };
  }
  // Where reserved capacity is an offer of its own, on demand means without it.
  const reserved = market === 'reserved' || !type.offers.some((offer) => offer.market === 'reserved');
  return {
    ...(reserved && given === 'capacity-block' && { InstanceMarketOptions: options }),
    ...(reserved && reservation && { CapacityReservationSpecification: reservation }),
  };
}

function tagsOf(client: CloudClient, request: LaunchRequest, kind: 'head' | 'worker', members: Members): Tags {
  return {
    [rayTags.name]: rayNodeName(client.cluster, kind),
    ...givenTags(members, 'instance'),
    ...request.tags,
    ...ownTags(client),
    [rayTags.kind]: kind,
    [rayTags.type]: request.type,
    [rayTags.launchRequest]: request.token,
  };
}

const ownTags = ({ cluster, clusterId }: CloudClient): Tags => fromAws(clusterTags(cluster, clusterId));

const givenTags = (members: Members, kind: string): Tags =>
  Object.assign(
    {},
    ...(members.TagSpecifications ?? [])
      .filter(({ ResourceType }) => ResourceType === kind)
      .map((each) => fromAws(each.Tags)),
  );

/** Everything that the launch makes carries the cluster's tags, with the file's own beside them. */
function tagSpecifications(client: CloudClient, members: Members, tags: Tags, market: Market): TagSpecification[] {
  // Where the file names interfaces that are there already, none is made, and EC2 refuses tags for what it does not make.
  const cards = members.NetworkInterfaces ?? [];
  const makesCard = cards.length === 0 || cards.some(({ NetworkInterfaceId: id }) => id === undefined);
  const own: readonly ResourceType[] = [
    'volume',
    ...(makesCard ? (['network-interface'] as const) : []),
    ...(market === 'spot' ? (['spot-instances-request'] as const) : []),
  ];
  const named = { [rayTags.name]: tags[rayTags.name] ?? '' };
  const mine: ReadonlySet<string | undefined> = new Set([
    ...(['instance', 'spot-instances-request', 'network-interface'] as const),
    ...own,
  ]);
  const others = (members.TagSpecifications ?? []).filter(({ ResourceType: kind }) => !mine.has(kind));
  return [
    { ResourceType: 'instance', Tags: toAws(tags) },
    ...own.map((kind) => ({
      ResourceType: kind,
      Tags: toAws({ ...named, ...givenTags(members, kind), ...ownTags(client) }),
    })),
    ...others,
  ];
}
