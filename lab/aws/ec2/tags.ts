import type { Caller } from '../caller.ts';
import { awsError } from '../errors.ts';
import type { Ec2Handlers } from '../handlers.ts';
import { filterBy, readTags, requestTags, resourceTags, tooManyTags } from './listing.ts';

/** How EC2 names what it does not find, by the start of the id. */
const missing: Readonly<Record<string, string>> = {
  i: 'InvalidInstanceID.NotFound',
  vol: 'InvalidVolume.NotFound',
  sg: 'InvalidGroup.NotFound',
  key: 'InvalidKeyPair.NotFound',
  eni: 'InvalidNetworkInterfaceID.NotFound',
  subnet: 'InvalidSubnetID.NotFound',
  vpc: 'InvalidVpcID.NotFound',
  ami: 'InvalidAMIID.NotFound',
  lt: 'InvalidLaunchTemplateId.NotFound',
  sir: 'InvalidSpotInstanceRequestID.NotFound',
  cr: 'InvalidCapacityReservationId.NotFound',
};

function named(caller: Caller, ids: readonly string[] | undefined) {
  if ((ids?.length ?? 0) > 1000)
    throw awsError('InvalidParameterValue', 'The maximum number of resources per call is 1000');
  const all = new Map(taggedOf(caller).map((each) => [each.id, each]));
  return (ids ?? []).map((id) => {
    const found = all.get(id);
    if (found !== undefined) return found;
    const code = missing[id.slice(0, id.indexOf('-'))];
    if (code === undefined) throw awsError('InvalidID', `The ID '${id}' is not valid`);
    throw awsError(code, `The ID '${id}' does not exist`);
  });
}

export const tagHandlers: Ec2Handlers = {
  DescribeTags(request, caller) {
    caller.may();
    const all = taggedOf(caller).flatMap(({ id, kind, tags }) =>
      Object.entries(tags).map(([key, value]) => ({ id, kind, key, value })),
    );
    const fits = filterBy<(typeof all)[number]>(
      request.Filters?.filter(({ Name }) => !Name?.startsWith('tag:')),
      {
        'resource-id': ({ id }) => [id],
        'resource-type': ({ kind }) => [kind],
        key: ({ key }) => [key],
        value: ({ value }) => [value],
      },
      () => ({}),
    );
    const byTag = request.Filters?.filter(({ Name }) => Name?.startsWith('tag:')) ?? [];
    const tagged = (tag: (typeof all)[number]): boolean =>
      byTag.every(({ Name, Values }) => Name === `tag:${tag.key}` && (Values ?? []).includes(tag.value));
    return {
      Tags: all
        .filter(fits)
        .filter(tagged)
        .map(({ id, kind, key, value }) => ({
          ResourceId: id,
          ResourceType: kind as 'instance',
          Key: key,
          Value: value,
        })),
    };
  },

  CreateTags({ Resources: ids, Tags: given }, caller) {
    const tags = readTags(given);
    const found = named(caller, ids);
    for (const { id, kind, tags: before } of found)
      caller.may(caller.arn(`${kind}/${id}`), { ...resourceTags(before), ...requestTags(tags) });
    for (const each of found) if (Object.keys({ ...each.tags, ...tags }).length > 50) throw tooManyTags();
    caller.commit();
    for (const each of found) each.tag({ ...each.tags, ...tags });
    return {};
  },

  /** A tag with a value goes only where it has that value; without any tag all go. */
  DeleteTags({ Resources: ids, Tags: given }, caller) {
    const found = named(caller, ids);
    for (const { id, kind, tags } of found) caller.may(caller.arn(`${kind}/${id}`), resourceTags(tags));
    caller.commit();
    const doomed = (key: string, value: string): boolean =>
      given === undefined || given.some(({ Key, Value }) => Key === key && (Value === undefined || Value === value));
    for (const each of found)
      each.tag(Object.fromEntries(Object.entries(each.tags).filter(([key, value]) => !doomed(key, value))));
    return {};
  },
};

interface Tagged {
  readonly id: string;
  readonly kind: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly tag: (tags: Readonly<Record<string, string>>) => void;
}

/** Everything of the account in the region that can have tags. */
function taggedOf(caller: Caller): readonly Tagged[] {
  const { world, account, region } = caller;
  world.network(account, region);
  const { has } = world.cloud;
  const stores = {
    volume: has.disks,
    'key-pair': has.keys,
    'security-group': has.groups,
    image: has.images,
    'capacity-reservation': has.reservations,
    vpc: world.vpcs,
    subnet: world.subnets,
    'launch-template': world.templates,
    'spot-instances-request': world.spotRequests,
  };
  const instances = world.cloud.existing(account).filter(({ zone }) => zone.startsWith(region));
  return [
    ...instances.map((instance) => ({
      id: instance.id,
      kind: 'instance',
      tags: instance.now.tags,
      tag: (tags: Readonly<Record<string, string>>) => world.cloud.retag(account, instance.id, tags),
    })),
    ...instances.map((instance) => {
      const card = world.facts(instance).interface;
      return {
        id: card.id,
        kind: 'network-interface',
        tags: card.tags,
        tag: (tags: Readonly<Record<string, string>>) => {
          card.tags = tags;
        },
      };
    }),
    ...Object.entries(stores).flatMap(([kind, store]) =>
      store.of(account, region).map((each) => ({
        id: each.id,
        kind,
        tags: each.tags,
        tag: (tags: Readonly<Record<string, string>>) => {
          each.tags = tags;
        },
      })),
    ),
  ];
}
