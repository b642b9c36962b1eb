import { DescribeInstanceTypesCommand, type InstanceTypeInfo } from '@aws-sdk/client-ec2';
import type { Resources } from '../../../core/resources.ts';
import { isText } from '../../../core/spec/plain.ts';
import { awsErrors } from '../errors.ts';
import { awsResources } from '../machine-names.ts';
import type { FileType } from './file-types.ts';
import type { Scene } from './scene.ts';

/** What AWS says of an instance type, as far as a cluster needs it. */
export interface InstanceType {
  readonly name: string;
  /** One, or on the oldest two. */
  readonly architectures: readonly string[];
  readonly hasNvidia: boolean;
  readonly resources: Resources;
}

/** Ray sets the rest aside for its object store, on every provider that it asks. */
const usableMemory = 0.7;

/** By Ray's own table, where AWS does not say how many cores there are. */
const neuronCores: ReadonlyMap<string, number> = new Map([
  ['trn1.2xlarge', 2],
  ['trn1.32xlarge', 32],
  ['trn1n.32xlarge', 32],
  ['inf2.xlarge', 2],
  ['inf2.8xlarge', 2],
  ['inf2.24xlarge', 12],
  ['inf2.48xlarge', 24],
]);

/** The instance types of the file by name. Throws for the first that the region does not offer, with what it does. */
export async function lookAtTypes(
  scene: Scene,
  types: readonly FileType[],
): Promise<ReadonlyMap<string, InstanceType>> {
  const named = types.map((type) => ({ type, name: instanceTypeOf(type) }));
  const names = [...new Set(named.map(({ name }) => name))];
  // A filter passes over what does not exist, where a list of names refuses the call.
  const found = await describe(scene, names);
  const known = new Map(found.map((info): [string, InstanceType] => [String(info.InstanceType), readType(info)]));
  const missing = named.find(({ name }) => !known.has(name));
  if (missing !== undefined)
    throw awsErrors.UnknownType({
      at: [...missing.type.at, 'InstanceType'],
      type: missing.name,
      region: scene.region,
      instead: await insteadOf(scene, missing.name),
    });
  return known;
}

export function instanceTypeOf({ at, config }: FileType): string {
  const { InstanceType: name } = config;
  if (isText(name)) return name;
  throw awsErrors.BadConfig({
    at: [...at, 'InstanceType'],
    problem: name === undefined || name === null ? 'is missing' : 'must be the name of an instance type',
    hint: 'name an instance type, such as m5.large',
  });
}

async function describe(scene: Scene, names: readonly string[]): Promise<readonly InstanceTypeInfo[]> {
  const pages = await scene.askAll('ec2:DescribeInstanceTypes', (page, options) =>
    scene.aws.ec2.send(
      new DescribeInstanceTypesCommand({ Filters: [{ Name: 'instance-type', Values: [...names] }], ...page }),
      options,
    ),
  );
  return pages.flatMap(({ InstanceTypes }) => InstanceTypes ?? []);
}

function readType(info: InstanceTypeInfo): InstanceType {
  const name = String(info.InstanceType);
  const [gpu] = info.GpuInfo?.Gpus ?? [];
  const told = (info.NeuronInfo?.NeuronDevices ?? []).reduce(
    (sum, { Count: devices = 0, CoreInfo: cores }) => sum + devices * (cores?.Count ?? 0),
    0,
  );
  const cores = neuronCores.get(name) ?? told;
  return {
    name,
    architectures: info.ProcessorInfo?.SupportedArchitectures ?? [],
    hasNvidia: gpu?.Manufacturer === 'NVIDIA',
    resources: {
      CPU: info.VCpuInfo?.DefaultVCpus ?? 0,
      memory: Math.floor((info.MemoryInfo?.SizeInMiB ?? 0) * 2 ** 20 * usableMemory),
      ...(gpu?.Count && { GPU: gpu.Count, ...(gpu.Name && { [`accelerator_type:${gpu.Name}`]: 1 }) }),
      ...(cores > 0 && { neuron_cores: cores, 'accelerator_type:aws-neuron-core': 1 }),
    },
  };
}

const most = 5;

/** Types of the region that come closest to one that it does not have: as many GPUs, else the same size. */
async function insteadOf(scene: Scene, name: string): Promise<readonly string[]> {
  const [family = '', size = ''] = name.split('.');
  const gpus = awsResources({ InstanceType: name })?.GPU;
  const letter = /^[a-z]+/.exec(family)?.[0] ?? family;
  const others = await describe(scene, gpus === undefined ? [`${letter}*.${size}`, `${family}.*`] : ['g*', 'p*']);
  const offered = others.filter(({ CurrentGeneration }) => CurrentGeneration !== false).map(readType);
  // Who names a retired type with GPUs has programs for NVIDIA's, on the usual processors.
  const fitting = offered.filter(
    ({ resources, hasNvidia, architectures }) =>
      gpus === undefined || (resources.GPU === gpus && hasNvidia && architectures.includes('x86_64')),
  );
  const distance = ({ name: other, resources }: InstanceType): number =>
    gpus === undefined ? (other.startsWith(family) ? 0 : 1) + (resources.CPU ?? 0) / 1_000 : (resources.CPU ?? 0);
  return fitting
    .sort((one, other) => distance(one) - distance(other) || (one.name < other.name ? -1 : 1))
    .slice(0, most)
    .map(({ name: other }) => other);
}
