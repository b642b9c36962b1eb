import { allOf } from '../../all-of.ts';
import { callerAddress } from '../../caller-address.ts';
import type { PreparationPlan, PreparationRequest, PreparedCloud } from '../../clouds.ts';
import { completeFromPrepared } from '../complete.ts';
import { preparationErrors } from '../errors.ts';
import { googleEvents } from '../events.ts';
import { type PreparedGoogle, type PreparedType, readPrepared } from '../prepared.ts';
import { hasQueued } from '../tpu/queued-types.ts';
import { type LaunchedType, typesInFile } from './file-types.ts';
import { type FirewallLook, lookAtFirewall, makeRules } from './firewall.ts';
import { type BootImage, lookAtImage } from './images.ts';
import { lookAtMachine, type Machine } from './machine-types.ts';
import { isExternal, lookAtNetwork, type NetworkLook } from './network.ts';
import { lookAtOrgPolicies, type OrgPolicies } from './org-policies.ts';
import { lookAtProject, lookAtZones, type ProjectLook } from './project.ts';
import { GoogleScene, type Looked } from './scene.ts';
import { type AccountLook, lookAtAccount, makeAccount, scopes } from './service-account.ts';
import { chooseSlice, lookAtTpus, type Slice } from './slices.ts';
import { admitKey, type LoginLook, lookAtKey, makeKey } from './ssh-key.ts';
import { withTemplates } from './templates.ts';
import { fileWarnings } from './warnings.ts';

/** All that a look found, and all that is still to be made. */
interface Look {
  readonly project: ProjectLook;
  readonly policies: OrgPolicies;
  readonly zones: readonly string[];
  readonly types: readonly LaunchedType[];
  readonly sold: ReadonlyMap<LaunchedType, Sold>;
  readonly network: NetworkLook;
  readonly firewall: FirewallLook;
  readonly account: AccountLook;
  readonly key: LoginLook;
}

/** What Google sells for a type. */
type Sold = { readonly machine: Machine; readonly image: BootImage } | { readonly slice: Slice };

const verbs = { found: 'found', create: 'created', change: 'changed' } as const;

/** Finds or makes what the cluster needs at Google. Throws before the first change where something in the file is wrong. */
export async function prepare(request: PreparationRequest, signal: AbortSignal): Promise<PreparedCloud> {
  return await withScene(request, signal, async (scene) => {
    const found = await look(scene);
    const [key] = await allOf([
      makeKey(scene, found.key),
      makeRules(scene, found.firewall),
      makeAccount(scene, found.account),
    ]);
    for (const { action, ...step } of tell(scene, found).steps)
      if (action !== 'found')
        request.events.emit(
          googleEvents.prepared,
          { ...step, done: verbs[action] },
          { id: `google ${step.what}`, state: 'done' },
        );
    return { ...preparedOf(scene, found, key) };
  });
}

/** The same look without one changing call. */
export async function planPreparation(request: PreparationRequest, signal: AbortSignal): Promise<PreparationPlan> {
  return await withScene(request, signal, async (scene) => {
    request.events.emit(googleEvents.looking, { project: scene.project, region: scene.region });
    const found = await look(scene);
    const prepared = preparedOf(scene, found, undefined);
    return { ...tell(scene, found), complete: (spec) => completeFromPrepared(spec, prepared) };
  });
}

async function withScene<Value>(
  request: PreparationRequest,
  signal: AbortSignal,
  work: (scene: GoogleScene) => Promise<Value>,
): Promise<Value> {
  const scene = await GoogleScene.open(request, signal);
  try {
    return await work(scene);
  } finally {
    scene.client.close();
  }
}

/** Everything that does not need another answer is asked for at once; the project first, for without it all else fails. */
async function look(scene: GoogleScene): Promise<Look> {
  const project = await lookAtProject(scene);
  const [types, zones] = await allOf([withTemplates(scene, typesInFile(scene.spec)), lookAtZones(scene)]);
  const asked = lookAtOrgPolicies(scene);
  const [sold, policies, network, address, account, key] = await allOf([
    lookAtTypes(scene, types, zones),
    asked,
    lookAtNetwork(scene, types),
    isExternal(scene) ? callerAddress(scene) : undefined,
    lookAtAccount(scene, types, Promise.resolve(project)),
    lookAtKey(scene, types, { policies: asked, project: Promise.resolve(project) }),
  ]);
  if (policies.external === 'denied' && isExternal(scene))
    throw preparationErrors.ExternalDenied({ project: scene.project });
  const firewall = await lookAtFirewall(scene, types, { network, address });
  return { project, policies, zones, types, sold, network, firewall, account, key };
}

async function lookAtTypes(
  scene: GoogleScene,
  types: readonly LaunchedType[],
  zones: readonly string[],
): Promise<ReadonlyMap<LaunchedType, Sold>> {
  const tpus = types.some(({ isSlice }) => isSlice) ? await lookAtTpus(scene, zones) : [];
  const found = await allOf(
    types.map(async (type): Promise<readonly [LaunchedType, Sold]> => {
      const own = type.zones.length > 0 ? type.zones : zones;
      if (type.isSlice) return [type, { slice: chooseSlice(type, own, tpus) }];
      const asked = lookAtMachine(scene, type, own);
      const [machine, image] = await allOf([asked, lookAtImage(scene, type, asked)]);
      return [type, { machine, image }];
    }),
  );
  return new Map(found);
}

function tell(scene: GoogleScene, found: Look): PreparationPlan {
  const { types, sold, project, network, firewall, account, key, policies } = found;
  const parts: readonly Looked[] = [project, key, network, firewall, account];
  const [first, ...rest] = parts;
  const unsold = types.filter((type) => isUnsold(sold.get(type)!));
  return {
    steps: [
      ...first!.steps,
      ...types.filter((type) => !unsold.includes(type)).map((type) => soldStep(type, sold.get(type)!)),
      ...rest.flatMap(({ steps }) => steps),
    ],
    warnings: [
      ...fileWarnings(scene, types, policies),
      ...unsold.map((type) => unsoldWarning(type, found)),
      ...parts.flatMap(({ warnings }) => warnings),
    ],
  };
}

const isUnsold = (sold: Sold): boolean => 'slice' in sold && sold.slice.zones.length === 0;

function unsoldWarning(type: LaunchedType, { zones, sold }: Look): string {
  const { name, zones: own } = type;
  const found = sold.get(type)!;
  const machine = 'slice' in found ? found.slice.shape.type : '';
  return `node type '${name}' cannot be launched: ${(own.length > 0 ? own : zones).join(', ')} does not offer accelerator '${machine}'`;
}

function soldStep({ name }: LaunchedType, sold: Sold): PreparationPlan['steps'][number] {
  if ('slice' in sold) {
    const { type, hosts, topology } = sold.slice.shape;
    const note = `${hosts === 1 ? 'one host' : `${hosts} hosts`}${topology === undefined ? '' : `, topology ${topology}`}`;
    return { what: `slice of ${name}`, action: 'found', id: type, note };
  }
  const { name: image, note } = sold.image;
  return { what: `image of ${name}`, action: 'found', ...(image !== undefined && { id: image }), note };
}

function preparedOf(scene: GoogleScene, found: Look, key: string | undefined): PreparedGoogle {
  const { zones, types, sold, network, firewall, account } = found;
  const own = types.find(({ isHead, hasWorkers }) => isHead && !hasWorkers);
  const typeOf = (type: LaunchedType): PreparedType => preparedType(sold.get(type)!);
  const { user, publicKey } = scene.request.login();
  const before = readPrepared(scene.request.prepared?.());
  return {
    format: 1,
    project: scene.project,
    region: scene.region,
    zones: [...zones],
    ...(account.email !== undefined && { serviceAccount: { email: account.email, scopes: [...scopes] } }),
    sshKeys: { user, publicKey },
    types: Object.fromEntries(types.filter((type) => type !== own).map((type) => [type.name, typeOf(type)])),
    ...(own && { head: typeOf(own) }),
    network: {
      ...(network.chosen && { network: network.chosen.network, subnetwork: network.chosen.path }),
      external: isExternal(scene),
      ...(firewall.tag !== undefined && { tag: firewall.tag }),
    },
    made: [
      ...firewall.own.map((id) => ({ kind: 'firewall rule' as const, id })),
      ...(account.own
        ? [
            { kind: 'service account' as const, id: account.own.email },
            { kind: 'role' as const, id: account.own.role },
          ]
        : []),
      ...keysBefore(scene, key).map((id) => ({ kind: 'ssh key' as const, id })),
    ],
    ...(found.key.osLogin && { osLogin: { user: found.key.osLogin.user }, loginUser: found.key.osLogin.user }),
    hadSlices: before?.hadSlices === true || types.some(({ isSlice }) => isSlice),
    hadQueued: before?.hadQueued === true || hasQueued(scene.spec),
    leaseDeletes: account.leaseDeletes,
    // What Google sells has no prices in the APIs that a cluster needs: those of the file count.
    prices: { at: scene.request.clock.now(), list: [] },
  };
}

/** Keys that OS Login has for the cluster; those of earlier times go with it too. */
function keysBefore({ request }: GoogleScene, key: string | undefined): readonly string[] {
  const { made = [] } = readPrepared(request.prepared?.()) ?? {};
  const before = made.filter(({ kind }) => kind === 'ssh key').map(({ id }) => id);
  return [...new Set([...before, ...(key === undefined ? [] : [key])])];
}

/** Gives the key of the head to OS Login too, where workers take keys from nowhere else. */
export async function admitHead(
  request: PreparationRequest,
  publicKey: string,
  signal: AbortSignal,
): Promise<PreparedCloud | undefined> {
  const prepared = readPrepared(request.prepared?.());
  if (prepared?.osLogin === undefined) return undefined;
  return await withScene(request, signal, async (scene) => {
    const key = await admitKey(scene, publicKey);
    const others = prepared.made.filter(({ id }) => id !== key);
    return { ...prepared, made: [...others, { kind: 'ssh key', id: key }] };
  });
}

function preparedType(sold: Sold): PreparedType {
  if ('slice' in sold) {
    const { shape, resources, zones } = sold.slice;
    const { type, hosts, topology } = shape;
    return {
      kind: 'tpu',
      machine: type,
      resources: { ...resources },
      zones: [...zones],
      slice: { type, hosts, ...(topology !== undefined && { topology }) },
    };
  }
  const { machine, image } = sold;
  return {
    kind: 'compute',
    machine: machine.name,
    resources: { ...machine.resources },
    zones: [...machine.zones],
    ...(image.source !== undefined && { sourceImage: image.source }),
    ...(image.diskGb !== undefined && { diskGb: image.diskGb }),
  };
}
