import { GetCallerIdentityCommand } from '@aws-sdk/client-sts';
import { allOf } from '../../all-of.ts';
import { callerAddress } from '../../caller-address.ts';
import type { PreparationPlan, PreparationRequest, PreparedCloud } from '../../clouds.ts';
import { completeFromPrepared } from '../complete.ts';
import { isDefault } from '../default-image.ts';
import { awsErrors } from '../errors.ts';
import { awsEvents } from '../events.ts';
import type { PreparedAws, PreparedAwsType } from '../prepared.ts';
import { askKnownPrices, type KnownPrices } from './ask-prices.ts';
import { checkTags, type FileType, foreignProfile, hasOwnGroups, typesInFile } from './file-types.ts';
import { chooseGroup, type GroupLook, groupsInVpcs, lookAtGroups, makeGroup } from './group.ts';
import { lookForRole, type RoleLook } from './head-role.ts';
import { type ChosenImage, chooseImage, lookAtImages } from './images.ts';
import { type InstanceType, instanceTypeOf, lookAtTypes } from './instance-types.ts';
import { type KeyLook, lookForKey, makeKey } from './key-pair.ts';
import { makeRole } from './make-role.ts';
import { Scene, type Told } from './scene.ts';
import { lookForSpotRole, makeSpotRole, type SpotRoleLook } from './spot-role.ts';
import { askStoppedCosts } from './stopped-costs.ts';
import { checkZones, checkZonesExist, chooseSubnets, lookAtSubnets, type SubnetChoice } from './subnets.ts';
import { withTemplates } from './templates.ts';
import { fileWarnings } from './warnings.ts';

/** All that a look found, and all that is still to be made. */
interface Look {
  readonly account: string;
  readonly types: readonly FileType[];
  readonly machines: ReadonlyMap<string, InstanceType>;
  readonly images: ReadonlyMap<FileType, ChosenImage>;
  readonly subnets: SubnetChoice;
  readonly key: KeyLook;
  readonly group: GroupLook | undefined;
  readonly role: RoleLook;
  readonly spotRole: SpotRoleLook;
  readonly prices: KnownPrices;
  /** Of workers that are stopped, an hour. */
  readonly stopped: ReadonlyMap<FileType, number>;
}

const verbs = { found: 'found', create: 'created', change: 'changed' } as const;

/** Finds or makes what the cluster needs in AWS. Throws before the first change where something in the file is wrong. */
export async function prepare(request: PreparationRequest, signal: AbortSignal): Promise<PreparedCloud> {
  return await withScene(request, signal, async (scene) => {
    const found = await look(scene);
    const foreign = foreignProfile(found.types, found.account);
    if (foreign !== undefined) throw foreign;
    const [group] = await allOf([
      found.group && makeGroup(scene, found.group),
      makeKey(scene, found.key),
      makeRole(scene, found.role),
      makeSpotRole(scene, found.spotRole),
    ]);
    for (const { action, ...step } of tell(scene, found).steps)
      if (action !== 'found')
        request.events.emit(
          awsEvents.prepared,
          { ...step, done: verbs[action] },
          { id: `aws ${step.what}`, state: 'done' },
        );
    return { ...preparedOf(scene, found, group) };
  });
}

/** The same look without one changing call. */
export async function planPreparation(request: PreparationRequest, signal: AbortSignal): Promise<PreparationPlan> {
  return await withScene(request, signal, async (scene) => {
    request.events.emit(awsEvents.looking, { region: scene.region });
    const found = await look(scene);
    const prepared = preparedOf(scene, found, undefined);
    return { ...tell(scene, found), complete: (spec) => completeFromPrepared(spec, prepared) };
  });
}

async function withScene<Value>(
  request: PreparationRequest,
  signal: AbortSignal,
  work: (scene: Scene) => Promise<Value>,
): Promise<Value> {
  const scene = new Scene(request, signal);
  try {
    return await work(scene);
  } finally {
    scene.aws.close();
  }
}

/** Everything that does not need another answer is asked for at once. */
async function look(scene: Scene): Promise<Look> {
  const written = typesInFile(scene.spec);
  checkZones(scene, written);
  const types = await withTemplates(scene, written);
  checkTags(types);
  const asked = askAccount(scene);
  const [account, machines, images, allSubnets, groups, address, key, role, spotRole, prices] = await allOf([
    asked,
    lookAtTypes(scene, types),
    lookAtImages(scene, types),
    lookAtSubnets(scene),
    lookAtGroups(scene, types),
    types.every(({ config }) => hasOwnGroups(config)) ? undefined : callerAddress(scene),
    lookForKey(scene, types),
    lookForRole(scene, types, asked),
    lookForSpotRole(scene, types),
    askKnownPrices(scene, types),
  ]);
  await checkZonesExist(scene, types, allSubnets);
  const machineOf = (type: FileType): InstanceType => machines.get(instanceTypeOf(type))!;
  const chosen = new Map(types.map((type) => [type, chooseImage(scene, type, machineOf(type), images)]));
  const subnets = chooseSubnets(scene, types, allSubnets, groupsInVpcs(scene, types, groups));
  const group = groupIn(scene, types, { groups, vpc: subnets.vpc, address });
  const stopped = await askStoppedCosts(scene, chosen);
  return { account, types, machines, images: chosen, subnets, key, group, role, spotRole, prices, stopped };
}

function groupIn(
  scene: Scene,
  types: readonly FileType[],
  {
    groups,
    vpc,
    address,
  }: {
    readonly groups: Awaited<ReturnType<typeof lookAtGroups>>;
    readonly vpc: string | undefined;
    readonly address: string | undefined;
  },
): GroupLook | undefined {
  if (types.every(({ config }) => hasOwnGroups(config))) return undefined;
  if (vpc === undefined) throw awsErrors.NoUsableSubnet({ region: scene.region, looked: [] });
  return chooseGroup(scene, types, groups, { vpc, address });
}

async function askAccount(scene: Scene): Promise<string> {
  const { Account: account = '' } = await scene.ask('sts:GetCallerIdentity', (options) =>
    scene.aws.sts.send(new GetCallerIdentityCommand({}), options),
  );
  return account;
}

function tell({ spec, region }: Scene, found: Look): PreparationPlan {
  const { types, images, subnets, key, group, role, spotRole, prices } = found;
  const parts: readonly Told[] = [subnets, key, ...(group ? [group] : []), role, spotRole];
  const imageSteps = types.map((type) => {
    const { image, note = 'as the file says' } = images.get(type)!;
    return { what: `image of ${type.name}`, action: 'found', id: image.id, note } as const;
  });
  return {
    steps: [
      { what: 'account', action: 'found', id: found.account, note: region },
      ...imageSteps,
      ...parts.flatMap(({ steps }) => steps),
    ],
    warnings: [
      ...fileWarnings(spec),
      ...[foreignProfile(types, found.account)].flatMap((error) => error?.message ?? []),
      ...(prices.why === undefined ? [] : [`prices are unknown: ${prices.why}`]),
      ...[...images.values()].flatMap(({ warnings }) => warnings),
      ...parts.flatMap(({ warnings }) => warnings),
    ],
  };
}

/** `group`: the id of the group of types that name none; it has one once it is made. */
function preparedOf(scene: Scene, found: Look, group: string | undefined): PreparedAws {
  const { account, types, role, prices } = found;
  const own = types.filter(({ isHead, hasWorkers }) => isHead && !hasWorkers)[0];
  const at = scene.request.clock.now();
  return {
    format: 1,
    region: scene.region,
    account,
    types: Object.fromEntries(
      types.filter((type) => type !== own).map((type) => [type.name, preparedType(type, found, group)]),
    ),
    ...(own && { head: preparedType(own, found, group) }),
    ...(role.profile && { headProfile: { ...role.profile } }),
    ...(role.own && { profileMadeAt: role.own.lacksMember ? at : (role.own.madeAt ?? at) }),
    prices: { at: prices.at, list: [...prices.list] },
  };
}

function preparedType(
  type: FileType,
  { machines, images, subnets, key, stopped }: Look,
  group: string | undefined,
): PreparedAwsType {
  const instanceType = instanceTypeOf(type);
  const { image } = images.get(type)!;
  const places = subnets.byType.get(type);
  const stoppedPerHour = stopped.get(type);
  return {
    instanceType,
    image: image.id,
    ...('LaunchTemplate' in type.config && !isDefault(type.config.ImageId) && { templateImage: true as const }),
    ...(type.templateSpot && { templateSpot: true as const }),
    ...(image.rootDevice !== undefined && { rootDevice: image.rootDevice }),
    resources: { ...machines.get(instanceType)!.resources },
    ...(stoppedPerHour !== undefined && { stoppedPerHour }),
    ...(places && { subnets: places.map(({ id, zone }) => ({ id, zone })) }),
    ...(group !== undefined && !hasOwnGroups(type.config) && { groups: [group] }),
    ...(key.name !== undefined && typeof type.config.KeyName !== 'string' && { keyName: key.name }),
    ...(type.templateUserData !== undefined && { templateUserData: type.templateUserData }),
  };
}
