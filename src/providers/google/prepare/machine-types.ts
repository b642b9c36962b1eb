import type { Resources } from '../../../core/resources.ts';
import { isText, numberOf } from '../../../core/spec/plain.ts';
import { allOf } from '../../all-of.ts';
import { lastOf } from '../client/links.ts';
import { preparationErrors } from '../errors.ts';
import { type LaunchedType, mapsOf } from './file-types.ts';
import { isAbsent, isDenied, isStatus } from './refused.ts';
import type { GoogleScene } from './scene.ts';

/** What Google sells for a node type. */
export interface Machine {
  readonly name: string;
  readonly architecture: string;
  readonly resources: Resources;
  /** Those of the file that offer all of it. */
  readonly zones: readonly string[];
}

interface MachineAnswer {
  readonly guestCpus?: number;
  readonly memoryMb?: number;
  readonly architecture?: string;
  readonly accelerators?: readonly {
    readonly guestAcceleratorType?: string;
    readonly guestAcceleratorCount?: number;
  }[];
}

interface Cards {
  readonly type: string;
  readonly count: number;
}

/** Ray sets the rest aside for its object store, on every provider that it asks. */
const usableMemory = 0.7;

/** The machine of a type in the zones that it may go to. Throws where none of them offers it, with what they do. */
export async function lookAtMachine(
  scene: GoogleScene,
  type: LaunchedType,
  zones: readonly string[],
): Promise<Machine> {
  const name = machineNameOf(type);
  const cards = cardsIn(type);
  const found = await allOf(zones.map((zone) => askMachine(scene, zone, name)));
  const offering = zones.filter((_, index) => found[index] !== undefined);
  const answer = found.find((each) => each !== undefined);
  if (answer === undefined)
    throw preparationErrors.UnknownMachine({
      at: [...type.at, 'machineType'],
      machine: name,
      zones,
      instead: await othersLike(scene, zones[0] ?? '', name),
    });
  return {
    name,
    architecture: answer.architecture ?? 'X86_64',
    resources: resourcesOf(answer, cards),
    zones: await withCards(scene, type, cards, offering),
  };
}

/** The short name, of whichever form the file has. */
function machineNameOf({ at, config }: LaunchedType): string {
  const { machineType: name } = config;
  if (isText(name)) return lastOf(name);
  throw preparationErrors.BadFile({
    at: [...at, 'machineType'],
    problem: name === undefined || name === null ? 'is missing' : 'must be the name of a machine type',
    hint: 'name a machine type, such as n2-standard-4; or acceleratorType and runtimeVersion for a TPU slice',
  });
}

function cardsIn({ at, config }: LaunchedType): readonly Cards[] {
  return mapsOf(config.guestAccelerators).map(({ acceleratorType: type, acceleratorCount: count }, index) => {
    if (!isText(type))
      throw preparationErrors.BadFile({
        at: [...at, 'guestAccelerators', index, 'acceleratorType'],
        problem: 'must be the name of an accelerator, such as nvidia-l4',
      });
    return { type: lastOf(type), count: numberOf(count) ?? 1 };
  });
}

async function askMachine(scene: GoogleScene, zone: string, name: string): Promise<MachineAnswer | undefined> {
  try {
    return await scene.ask<MachineAnswer>({
      call: 'compute.machineTypes.get',
      url: scene.compute(`zones/${zone}/machineTypes/${encodeURIComponent(name)}`),
    });
  } catch (error) {
    // A name that no machine type can have is refused as a wrong value.
    if (isAbsent(error) || isStatus(400)(error)) return undefined;
    throw error;
  }
}

/** The zones that offer the accelerators too. */
async function withCards(
  scene: GoogleScene,
  type: LaunchedType,
  cards: readonly Cards[],
  zones: readonly string[],
): Promise<readonly string[]> {
  let left = zones;
  for (const [index, card] of cards.entries()) {
    const offered = await allOf(left.map((zone) => sells(scene, zone, card.type)));
    const before = left;
    left = before.filter((_, place) => offered[place]);
    if (left.length === 0)
      throw preparationErrors.UnknownAccelerator({
        at: [...type.at, 'guestAccelerators', index, 'acceleratorType'],
        accelerator: card.type,
        zones: before,
        instead: await acceleratorsIn(scene, before[0] ?? ''),
      });
  }
  return left;
}

async function sells(scene: GoogleScene, zone: string, accelerator: string): Promise<boolean> {
  try {
    await scene.ask({
      call: 'compute.acceleratorTypes.get',
      url: scene.compute(`zones/${zone}/acceleratorTypes/${encodeURIComponent(accelerator)}`),
    });
    return true;
  } catch (error) {
    if (isAbsent(error) || isStatus(400)(error)) return false;
    throw error;
  }
}

/** As Ray names the model: `T4`, `A100`. */
const modelOf = (accelerator: string): string | undefined =>
  /^nvidia-(?:tesla-)?([a-z]+\d+)/.exec(accelerator)?.[1]?.toUpperCase();

function resourcesOf(
  { guestCpus = 0, memoryMb = 0, accelerators = [] }: MachineAnswer,
  cards: readonly Cards[],
): Resources {
  const own = accelerators.map(({ guestAcceleratorType: type = '', guestAcceleratorCount: count = 0 }) => ({
    type,
    count,
  }));
  // Files repeat the accelerators that a machine has in any case.
  const all = own.length > 0 ? own : cards;
  const gpus = all.reduce((sum, { count }) => sum + count, 0);
  const model = modelOf(all[0]?.type ?? '');
  return {
    CPU: guestCpus,
    memory: Math.floor(memoryMb * 2 ** 20 * usableMemory),
    ...(gpus > 0 && { GPU: gpus, ...(model !== undefined && { [`accelerator_type:${model}`]: 1 }) }),
  };
}

const most = 5;

async function names(scene: GoogleScene, collection: string, zone: string): Promise<readonly string[]> {
  try {
    const all = await scene.askAll<{ readonly name?: string }>('items', {
      call: `compute.${collection}.list`,
      url: scene.compute(`zones/${zone}/${collection}`),
    });
    return all.flatMap(({ name }) => name ?? []);
  } catch (error) {
    if (isDenied(error) || isStatus(400, 404)(error)) return [];
    throw error;
  }
}

const acceleratorsIn = async (scene: GoogleScene, zone: string): Promise<readonly string[]> =>
  (await names(scene, 'acceleratorTypes', zone)).slice(0, most);

/** Types of the zone of the same kind and size, or of the same family. */
async function othersLike(scene: GoogleScene, zone: string, name: string): Promise<readonly string[]> {
  const [family = '', kind = '', size = ''] = name.split('-');
  const all = await names(scene, 'machineTypes', zone);
  const near = [
    ...all.filter((other) => other.endsWith(`-${kind}-${size}`)),
    ...all.filter((other) => other.startsWith(`${family}-`)),
  ];
  return [...new Set(near)].slice(0, most);
}
