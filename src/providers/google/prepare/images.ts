import type { PlainMap } from '../../../core/spec/cluster.ts';
import { isText, mapOf, numberOf } from '../../../core/spec/plain.ts';
import type { Path } from '../../../core/spec/problem.ts';
import { lastOf } from '../client/links.ts';
import { preparationErrors } from '../errors.ts';
import { type LaunchedType, mapsOf, partialUrl, projectOf } from './file-types.ts';
import type { Machine } from './machine-types.ts';
import { isAbsent, isDenied } from './refused.ts';
import type { GoogleScene } from './scene.ts';

/** The image that machines of a type boot from. */
export interface BootImage {
  /** Its name, as Google has it; undefined where it cannot be seen, or a disk of one's own is booted from. */
  readonly name: string | undefined;
  /** As a launch takes it, where the file names none. */
  readonly source?: string;
  readonly diskGb?: number;
  readonly note: string;
}

interface ImageAnswer {
  readonly name?: string;
  readonly diskSizeGb?: string;
  readonly architecture?: string;
  readonly deprecated?: { readonly state?: string; readonly replacement?: string };
}

/** What Ray starts from where a file says nothing. */
const usualImage = 'projects/deeplearning-platform-release/global/images/family/common-cpu';

/** The image of a machine, checked against what it is for. */
export async function lookAtImage(
  scene: GoogleScene,
  type: LaunchedType,
  machine: Promise<Machine>,
): Promise<BootImage> {
  const boot = bootDisk(type);
  if (boot !== undefined && isText(boot.disk.source))
    return { name: undefined, note: `disk ${lastOf(boot.disk.source)}` };
  const params = mapOf(boot?.disk.initializeParams);
  const { sourceImage: given, sourceSnapshot: snapshot } = params;
  if (isText(snapshot)) return { name: undefined, note: `snapshot ${lastOf(snapshot)}` };
  const at: Path = boot?.at ?? [...type.at, 'disks'];
  const wanted = isText(given) ? given : usualImage;
  const found = await askImage(scene, wanted, at);
  const note = isText(given) ? 'as the file says' : "Ray's default: the file names none";
  const own = isText(given) ? {} : { source: wanted };
  if (found === undefined) return { name: undefined, note: 'cannot be read', ...own };
  check(found, wanted, { at, size: numberOf(params.diskSizeGb) ?? sizeOf(params), machine: await machine });
  const gib = Number(found.diskSizeGb);
  return { name: found.name ?? lastOf(wanted), note, ...own, ...(gib > 0 && { diskGb: gib }) };
}

/** Files also write the size as a text. */
const sizeOf = ({ diskSizeGb: size }: PlainMap): number | undefined => (isText(size) ? Number(size) : undefined);

function bootDisk({ at, config }: LaunchedType): { readonly disk: PlainMap; readonly at: Path } | undefined {
  const disks = mapsOf(config.disks);
  const index = Math.max(
    0,
    disks.findIndex(({ boot }) => boot === true),
  );
  const disk = disks[index];
  return disk && { disk, at: [...at, 'disks', index, 'initializeParams'] };
}

async function askImage(scene: GoogleScene, wanted: string, at: Path): Promise<ImageAnswer | undefined> {
  const path = partialUrl(wanted, scene.project);
  const [, family, name] = /\/global\/images\/(?:(family)\/)?([^/]+)$/.exec(path) ?? [];
  if (name === undefined)
    throw preparationErrors.BadFile({
      at: [...at, 'sourceImage'],
      problem: `must name an image, such as ${usualImage}`,
    });
  try {
    return await scene.ask<ImageAnswer>({
      call: family === undefined ? 'compute.images.get' : 'compute.images.getFromFamily',
      url: scene.compute(
        `global/images/${family === undefined ? '' : 'family/'}${encodeURIComponent(name)}`,
        projectOf(path),
      ),
    });
  } catch (error) {
    // An image of another project may be used by those who may not read it.
    if (isDenied(error) && projectOf(path) !== scene.project) return undefined;
    if (!isAbsent(error)) throw error;
    throw preparationErrors.NoImage({ at: [...at, 'sourceImage'], image: wanted }, error);
  }
}

function check(
  { name = '', diskSizeGb, architecture }: ImageAnswer,
  wanted: string,
  { at, size, machine }: { readonly at: Path; readonly size: number | undefined; readonly machine: Machine },
): void {
  if (architecture !== undefined && architecture !== machine.architecture)
    throw preparationErrors.OtherArchitecture({
      at: [...at, 'sourceImage'],
      image: lastOf(wanted),
      images: architecture,
      machine: machine.name,
      machines: machine.architecture,
    });
  const needs = Number(diskSizeGb ?? 0);
  if (size !== undefined && size < needs)
    throw preparationErrors.SmallDisk({ at: [...at, 'diskSizeGb'], size, image: name, needs });
}
