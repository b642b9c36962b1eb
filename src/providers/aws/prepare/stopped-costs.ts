import { MantaError } from '../../../base/errors.ts';
import type { PlainMap } from '../../../core/spec/cluster.ts';
import { isText, mapOf, numberOf } from '../../../core/spec/plain.ts';
import { diskPrice } from '../prices.ts';
import { type FileType, mapsOf } from './file-types.ts';
import type { ChosenImage, Disk } from './images.ts';
import type { Scene } from './scene.ts';

const hoursInMonth = 730;

/** What EC2 gives where nothing says what kind of disk it is to be. */
const usualKind = 'gp2';

/** Kinds that are paid for by their size alone. Of others, what they cost is not known. */
const bySize: ReadonlySet<string> = new Set(['gp2', 'gp3', 'st1', 'sc1', 'standard']);

/**
 * What a stopped worker of each type goes on to cost in an hour: its disks. Asked only where workers are stopped; a type of
 * which it is not known is absent.
 */
export async function askStoppedCosts(
  scene: Scene,
  images: ReadonlyMap<FileType, ChosenImage>,
): Promise<ReadonlyMap<FileType, number>> {
  if (scene.spec.provider.config.cache_stopped_nodes !== true) return new Map();
  const disks = [...images]
    .filter(([{ hasWorkers, usesSpot }]) => hasWorkers && !usesSpot)
    .map(([type, { image }]) => [type, disksOf(type.config, image.disks)] as const);
  const kinds = new Set(disks.flatMap(([, each]) => each.map(({ kind }) => kind)).filter((kind) => bySize.has(kind)));
  const asked = await Promise.all([...kinds].map(async (kind) => [kind, await priceOf(scene, kind)] as const));
  const prices = new Map(asked);
  return new Map(
    disks.flatMap(([type, each]): [FileType, number][] => {
      const costs = each.map(({ gib, kind }) => (gib ?? Number.NaN) * (prices.get(kind) ?? Number.NaN));
      const sum = costs.reduce((total, cost) => total + cost, 0) / hoursInMonth;
      return Number.isNaN(sum) ? [] : [[type, sum]];
    }),
  );
}

/** Prices are not worth a failed `up`. */
async function priceOf({ aws, region, signal }: Scene, kind: string): Promise<number | undefined> {
  try {
    return await diskPrice(aws, region, kind, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof MantaError)) throw error;
    return undefined;
  }
}

/** Those of the image, as far as the file does not change them, and those that the file adds. */
function disksOf(config: PlainMap, ofImage: readonly Disk[]): readonly Disk[] {
  const disks = new Map(ofImage.map((disk) => [disk.device, disk]));
  for (const { DeviceName: device, Ebs: given, NoDevice: none } of mapsOf(config.BlockDeviceMappings)) {
    if (!isText(device)) continue;
    const { VolumeSize: size, VolumeType: kind } = mapOf(given);
    const { gib, kind: before = usualKind } = disks.get(device) ?? {};
    if (none !== undefined) disks.delete(device);
    else if (given !== undefined)
      disks.set(device, { device, gib: numberOf(size) ?? gib, kind: isText(kind) ? kind : before });
  }
  return [...disks.values()];
}
