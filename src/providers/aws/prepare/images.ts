import { type Image as AwsImage, DescribeImagesCommand } from '@aws-sdk/client-ec2';
import { GetParametersCommand } from '@aws-sdk/client-ssm';
import { isText, mapOf, numberOf } from '../../../core/spec/plain.ts';
import { isDefault } from '../default-image.ts';
import { awsErrors } from '../errors.ts';
import { type FileType, mapsOf } from './file-types.ts';
import type { InstanceType } from './instance-types.ts';
import { isCode } from './refused.ts';
import type { Scene } from './scene.ts';

interface Image {
  readonly id: string;
  readonly architecture: string;
  readonly rootDevice?: string;
  readonly rootGib: number;
  /** Its root among them. */
  readonly disks: readonly Disk[];
}

/** A disk that an instance gets. */
export interface Disk {
  readonly device: string;
  /** Undefined where only AWS knows. */
  readonly gib: number | undefined;
  readonly kind: string;
}

/** What was found of the images that the file names, or that may be chosen for it. */
export interface Images {
  readonly byId: ReadonlyMap<string, Image>;
  /** Ids by the name of their parameter. */
  readonly parameters: ReadonlyMap<string, string>;
}

export interface ChosenImage {
  readonly image: Image;
  /** Why this one, where the file names none. */
  readonly note?: string;
  readonly warnings: readonly string[];
}

const current = (architecture: string, kind: string): string =>
  `/aws/service/deeplearning/ami/${architecture}/${kind}/latest/ami-id`;

/** Deep Learning AMIs of Ubuntu, the one to prefer first. */
const pytorch = ['2.9-ubuntu-24.04', '2.8-ubuntu-24.04', '2.7-ubuntu-22.04'].map(
  (version) => `oss-nvidia-driver-gpu-pytorch-${version}`,
);
const base = ['base-with-single-cuda-ubuntu-24.04', 'base-oss-nvidia-driver-gpu-ubuntu-24.04'];
const architectures = ['x86_64', 'arm64'];

const candidates = (architecture: string, hasNvidia: boolean): readonly string[] =>
  (hasNvidia ? pytorch : base).map((kind) => current(architecture, kind));

/** An image by its parameter, as RunInstances takes it too. */
const byParameter = 'resolve:ssm:';

const namedImage = ({ at, config: { ImageId: image } }: FileType): string => {
  if (isText(image)) return image;
  throw awsErrors.BadConfig({ at: [...at, 'ImageId'], problem: 'must be the id of an image' });
};

/** Looks up all images at once, before the instance types are known. */
export async function lookAtImages(scene: Scene, types: readonly FileType[]): Promise<Images> {
  const bare = types.some(({ config }) => isDefault(config.ImageId));
  const named = types.filter(({ config }) => !isDefault(config.ImageId)).map(namedImage);
  const given = named.filter((image) => image.startsWith(byParameter)).map((image) => image.slice(byParameter.length));
  const chosen = architectures.flatMap((each) => [true, false].map((hasNvidia) => candidates(each, hasNvidia)));
  const parameters = await askParameters(scene, [...new Set([...given, ...(bare ? chosen.flat() : [])])]);
  const preferred = chosen.flatMap((names) => names.flatMap((name) => parameters.get(name) ?? []).slice(0, 1));
  const ids = new Set([
    ...named.filter((image) => !image.startsWith(byParameter)),
    ...given.flatMap((name) => parameters.get(name) ?? []),
    ...(bare ? preferred : []),
  ]);
  const found = await askImages(scene, [...ids]);
  return { parameters, byId: new Map(found.map((image) => [image.id, image])) };
}

const mostParameters = 10;

async function askParameters(scene: Scene, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const batches = Array.from({ length: Math.ceil(names.length / mostParameters) }, (_, index) =>
    names.slice(index * mostParameters, (index + 1) * mostParameters),
  );
  const answers = await Promise.all(
    batches.map((Names) =>
      scene.ask('ssm:GetParameters', (options) => scene.aws.ssm.send(new GetParametersCommand({ Names }), options)),
    ),
  );
  return new Map(
    answers
      .flatMap(({ Parameters }) => Parameters ?? [])
      .flatMap(({ Name: name, Value: value }) => (name && value ? [[name, value] as const] : [])),
  );
}

async function askImages(scene: Scene, ids: readonly string[]): Promise<readonly Image[]> {
  if (ids.length === 0) return [];
  const ask = (input: object) =>
    scene.ask('ec2:DescribeImages', (options) => scene.aws.ec2.send(new DescribeImagesCommand(input), options));
  try {
    return ((await ask({ ImageIds: ids })).Images ?? []).map(readImage);
  } catch (error) {
    if (!isCode('InvalidAMIID.NotFound', 'InvalidAMIID.Malformed', 'InvalidAMIID.Unavailable')(error)) throw error;
    // One of them is not there: a filter finds the others.
    return ((await ask({ Filters: [{ Name: 'image-id', Values: ids }] })).Images ?? []).map(readImage);
  }
}

function readImage({ ImageId, Architecture, RootDeviceName, BlockDeviceMappings = [] }: AwsImage): Image {
  const root = BlockDeviceMappings.find(({ DeviceName }) => DeviceName === RootDeviceName);
  return {
    id: ImageId ?? '',
    architecture: Architecture ?? '',
    ...(RootDeviceName !== undefined && { rootDevice: RootDeviceName }),
    rootGib: root?.Ebs?.VolumeSize ?? 0,
    disks: BlockDeviceMappings.flatMap(({ DeviceName: device, Ebs: disk }) =>
      device && disk ? [{ device, gib: disk.VolumeSize, kind: disk.VolumeType ?? 'gp2' }] : [],
    ),
  };
}

/** The image of a type. Throws where there is none, or where it does not fit the machine. */
export function chooseImage(scene: Scene, type: FileType, machine: InstanceType, images: Images): ChosenImage {
  const { region } = scene;
  if (isDefault(type.config.ImageId)) return chooseDefault(region, type, machine, images);
  const named = namedImage(type);
  const id = named.startsWith(byParameter) ? images.parameters.get(named.slice(byParameter.length)) : named;
  const image = images.byId.get(id ?? '');
  if (image === undefined) throw awsErrors.NoImage({ at: [...type.at, 'ImageId'], image: named, region });
  if (!machine.architectures.includes(image.architecture))
    throw awsErrors.OtherArchitecture({
      at: [...type.at, 'ImageId'],
      type: machine.name,
      types: machine.architectures.join(' or '),
      image: image.id,
      images: image.architecture,
    });
  return { image, warnings: diskWarnings(type, image) };
}

function chooseDefault(region: string, type: FileType, machine: InstanceType, images: Images): ChosenImage {
  const architecture = architectures.find((each) => machine.architectures.includes(each)) ?? 'x86_64';
  const looked = candidates(architecture, machine.hasNvidia);
  const name = looked.find((each) => images.byId.has(images.parameters.get(each) ?? ''));
  if (name === undefined) throw awsErrors.NoDefaultImage({ at: type.at, types: [`'${type.name}'`], region, looked });
  const image = images.byId.get(images.parameters.get(name)!)!;
  const kind = machine.hasNvidia ? 'Deep Learning AMI with PyTorch' : 'Deep Learning Base AMI';
  return { image, note: `current ${kind}, ${architecture}`, warnings: diskWarnings(type, image) };
}

const rootNames = ['/dev/sda1', '/dev/xvda', '/dev/sda'];

/** A disk that was meant as the root, but is another one; throws for a root that is too small for the image. */
function diskWarnings({ name, at, config }: FileType, image: Image): readonly string[] {
  const disks = mapsOf(config.BlockDeviceMappings);
  for (const [index, disk] of disks.entries()) {
    const size = numberOf(mapOf(disk.Ebs).VolumeSize);
    if (disk.DeviceName === image.rootDevice && size !== undefined && size < image.rootGib)
      throw awsErrors.SmallDisk({
        at: [...at, 'BlockDeviceMappings', index],
        size,
        image: image.id,
        needs: image.rootGib,
      });
  }
  return disks
    .map(({ DeviceName: device }) => device)
    .filter((device) => isText(device) && rootNames.includes(device) && device !== image.rootDevice)
    .map(
      (device) =>
        `node type '${name}': ${String(device)} is not the root disk of ${image.id}, which is ${image.rootDevice ?? 'unknown'}; it becomes a second disk, and the root keeps ${image.rootGib} GiB`,
    );
}
