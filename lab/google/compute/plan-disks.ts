import type { DiskOrder } from '../../cloud/belongings.ts';
import type { Caller } from '../caller.ts';
import type { GoogleType } from '../catalog.ts';
import { googleError } from '../errors.ts';
import type { Image } from '../images.ts';
import { publishers } from '../images.ts';
import { lastOf, partial } from '../names.ts';
import type { DiskBody, InstanceBody } from '../shapes.ts';
import { checkPolicy } from './policies.ts';

export interface PlannedDisk extends DiskOrder {
  /** What it is called where the request says so. */
  readonly name?: string | undefined;
}

const kinds = /^(?:pd-standard|pd-balanced|pd-ssd|pd-extreme|hyperdisk-\w+|local-ssd)$/;

export function planDisks(caller: Caller, zone: string, body: InstanceBody, type: GoogleType): readonly PlannedDisk[] {
  const disks = body.disks ?? [];
  const fail = (index: number, field: string, value: string, why: string) =>
    googleError('invalid', `Invalid value for field 'resource.disks[${index}]${field}': '${value}'. ${why}`);
  if (disks.length === 0)
    throw googleError('required', "Invalid value for field 'resource.disks': ''. No disks are specified.");
  if (disks[0]!.boot !== true && disks[0]!.initializeParams?.sourceImage === undefined)
    throw fail(0, '', '', 'Boot disk must be the first disk attached to the instance.');
  return disks.flatMap((disk, index): PlannedDisk[] => {
    if (disk.source !== undefined) {
      existing(caller, zone, disk.source);
      return [];
    }
    const { initializeParams: params = {} } = disk;
    const image = params.sourceImage === undefined ? undefined : imageOf(caller, params.sourceImage);
    if (disk.boot && image === undefined)
      throw fail(index, '', '', 'Source disk or image is required for the boot disk.');
    if (image !== undefined && image.arm !== type.arm)
      throw fail(
        index,
        '.initializeParams.sourceImage',
        params.sourceImage!,
        `The architecture of the image is not that of machine type ${type.name}.`,
      );
    const kind = diskKind(params.diskType, disk);
    if (!kinds.test(kind))
      throw fail(
        index,
        '.initializeParams.diskType',
        params.diskType ?? '',
        'The referenced diskType resource cannot be found.',
      );
    const gib = Number(params.diskSizeGb ?? disk.diskSizeGb ?? image?.gib ?? (kind === 'local-ssd' ? 375 : 500));
    if (image !== undefined && gib < image.gib)
      throw fail(
        index,
        '.initializeParams.diskSizeGb',
        String(gib),
        `Requested disk size cannot be smaller than the image size (${image.gib} GB)`,
      );
    caller.may('compute.disks.create');
    return [
      {
        device: disk.deviceName ?? `persistent-disk-${index}`,
        gib,
        kind,
        deleteWithInstance: disk.autoDelete ?? false,
        ...(image && { image: `projects/${image.project}/global/images/${image.name}` }),
        tags: params.labels ?? {},
        name: params.diskName,
      },
    ];
  });
}

const diskKind = (link: string | undefined, { type }: DiskBody): string =>
  link === undefined ? (type === 'SCRATCH' ? 'local-ssd' : 'pd-standard') : lastOf(link);

function existing(caller: Caller, zone: string, link: string): void {
  const name = lastOf(link);
  const { world, projectId } = caller;
  const found = world.cloud.has.disks
    .of(projectId)
    .some((disk) => disk.zone === zone && (world.diskNames.get(disk.id) ?? disk.id) === name);
  if (!found)
    throw googleError('notFound', `The resource 'projects/${projectId}/zones/${zone}/disks/${name}' was not found`);
}

function imageOf(caller: Caller, link: string): Image {
  const { world, projectId } = caller;
  const path = partial(link);
  const found = world.image(projectId, path);
  const whole = path.startsWith('projects/') ? path : `projects/${projectId}/${path}`;
  if (found === undefined) throw googleError('notFound', `The resource '${whole}' was not found`);
  checkPolicy(
    caller,
    'compute.trustedImageProjects',
    `projects/${found.project}`,
    () => `Use of images from project ${found.project} is prohibited.`,
  );
  if (!publishers.has(found.project)) caller.may('compute.images.useReadOnly', whole);
  return found;
}
