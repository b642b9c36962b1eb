/** Machine types by their real names, and where they are sold. Prices are those of us-central1, in dollars an hour. */
import type { Catalog, MachineType } from '../cloud/catalog.ts';
import { tpuTypes } from './tpu-catalog.ts';

export interface GoogleType {
  readonly name: string;
  readonly family: string;
  readonly cpus: number;
  readonly mib: number;
  readonly arm: boolean;
  /** Accelerators that come with the machine. */
  readonly gpus?: { readonly type: string; readonly count: number };
  readonly price: number;
}

interface Family {
  /** GiB for each vCPU, by kind of machine. */
  readonly kinds: Readonly<Record<string, number>>;
  readonly cpus: readonly number[];
  readonly perCpu: number;
  readonly perGib: number;
  readonly arm?: boolean;
}

const usual = { standard: 4, highmem: 8, highcpu: 1 };
const families: Readonly<Record<string, Family>> = {
  n1: {
    kinds: { standard: 3.75, highmem: 6.5, highcpu: 0.9 },
    cpus: [1, 2, 4, 8, 16, 32, 64, 96],
    perCpu: 0.0316,
    perGib: 0.0042,
  },
  n2: { kinds: usual, cpus: [2, 4, 8, 16, 32, 48, 64, 80, 96, 128], perCpu: 0.0316, perGib: 0.0042 },
  n2d: { kinds: usual, cpus: [2, 4, 8, 16, 32, 48, 64, 80, 96, 128, 224], perCpu: 0.0275, perGib: 0.0037 },
  n4: { kinds: { ...usual, highcpu: 2 }, cpus: [2, 4, 8, 16, 32, 48, 64, 80], perCpu: 0.0297, perGib: 0.0041 },
  e2: { kinds: usual, cpus: [2, 4, 8, 16, 32], perCpu: 0.0218, perGib: 0.0029 },
  c2: { kinds: { standard: 4 }, cpus: [4, 8, 16, 30, 60], perCpu: 0.034, perGib: 0.0046 },
  c2d: { kinds: { ...usual, highcpu: 2 }, cpus: [2, 4, 8, 16, 32, 56, 112], perCpu: 0.0296, perGib: 0.004 },
  c3: { kinds: { ...usual, highcpu: 2 }, cpus: [4, 8, 22, 44, 88, 176], perCpu: 0.034, perGib: 0.0046 },
  c3d: { kinds: { ...usual, highcpu: 2 }, cpus: [4, 8, 16, 30, 60, 90, 180, 360], perCpu: 0.0296, perGib: 0.004 },
  c4: { kinds: { ...usual, highcpu: 2 }, cpus: [2, 4, 8, 16, 32, 48, 96, 192], perCpu: 0.0348, perGib: 0.004 },
  c4a: {
    kinds: { ...usual, highcpu: 2 },
    cpus: [1, 2, 4, 8, 16, 32, 48, 64, 72],
    perCpu: 0.031,
    perGib: 0.0035,
    arm: true,
  },
  c4d: {
    kinds: { ...usual, highcpu: 2 },
    cpus: [2, 4, 8, 16, 32, 48, 64, 96, 192, 384],
    perCpu: 0.0325,
    perGib: 0.004,
  },
  n4d: { kinds: { ...usual, highcpu: 2 }, cpus: [2, 4, 8, 16, 32, 48, 64, 80, 96], perCpu: 0.028, perGib: 0.0038 },
  h3: { kinds: { standard: 4 }, cpus: [88], perCpu: 0.0448, perGib: 0.0043 },
  m3: { kinds: { megamem: 15.25, ultramem: 30.5 }, cpus: [32, 64, 128], perCpu: 0.0348, perGib: 0.0051 },
  t2d: { kinds: { standard: 4 }, cpus: [1, 2, 4, 8, 16, 32, 48, 60], perCpu: 0.0275, perGib: 0.0037 },
  t2a: { kinds: { standard: 4 }, cpus: [1, 2, 4, 8, 16, 32, 48], perCpu: 0.0248, perGib: 0.0033, arm: true },
};

const gpuMachine = (
  name: string,
  cpus: number,
  gib: number,
  type: string,
  count: number,
  price: number,
): GoogleType => ({
  name,
  family: name.split('-')[0]!,
  cpus,
  mib: gib * 1024,
  arm: false,
  gpus: { type, count },
  price,
});
const small = (name: string, gib: number, price: number, cpus = 2): GoogleType => ({
  ...{ name, family: name.split('-')[0]!, cpus, mib: gib * 1024, arm: false, price },
});

const special: readonly GoogleType[] = [
  small('f1-micro', 0.6, 0.0076, 1),
  small('g1-small', 1.7, 0.0257, 1),
  small('n1-megamem-96', 1433.6, 10.6, 96),
  ...[40, 80, 160].map((n) => small(`n1-ultramem-${n}`, 24.025 * n, 0.157 * n, n)),
  ...[40, 80, 160].map((n) => small(`m1-ultramem-${n}`, 24.025 * n, 0.157 * n, n)),
  ...[4, 8, 22, 44, 88, 176].map((n) => small(`c3-standard-${n}-lssd`, 4 * n, 0.061 * n, n)),
  small('e2-micro', 1, 0.0084),
  small('e2-small', 2, 0.0168),
  small('e2-medium', 4, 0.0335),
  ...[1, 2, 4, 8].map((n) => gpuMachine(`a2-highgpu-${n}g`, 12 * n, 85 * n, 'nvidia-tesla-a100', n, 3.673 * n)),
  gpuMachine('a2-megagpu-16g', 96, 1360, 'nvidia-tesla-a100', 16, 55.74),
  ...[1, 2, 4, 8].map((n) => gpuMachine(`a2-ultragpu-${n}g`, 12 * n, 170 * n, 'nvidia-a100-80gb', n, 5.069 * n)),
  ...[1, 2, 4, 8].map((n) => gpuMachine(`a3-highgpu-${n}g`, 26 * n, 234 * n, 'nvidia-h100-80gb', n, 11.06 * n)),
  gpuMachine('a3-megagpu-8g', 208, 1872, 'nvidia-h100-mega-80gb', 8, 92.2),
  gpuMachine('a3-ultragpu-8g', 224, 2952, 'nvidia-h200-141gb', 8, 84.8),
  gpuMachine('a4-highgpu-8g', 224, 3968, 'nvidia-b200', 8, 129.5),
  ...[4, 8, 12, 16, 32].map((n) => gpuMachine(`g2-standard-${n}`, n, 4 * n, 'nvidia-l4', 1, 0.56 + 0.035 * n)),
  ...[24, 48, 96].map((n) => gpuMachine(`g2-standard-${n}`, n, 4 * n, 'nvidia-l4', n / 12, 0.083 * n)),
];

const typesOf = ([family, about]: readonly [string, Family]): readonly GoogleType[] =>
  Object.entries(about.kinds).flatMap(([kind, ratio]) =>
    about.cpus
      .filter((cpus) => kind === 'standard' || cpus > 1)
      .map((cpus) => ({
        name: `${family}-${kind}-${cpus}`,
        family,
        cpus,
        mib: 1024 * ratio * cpus,
        arm: about.arm ?? false,
        price: Number((cpus * about.perCpu + ratio * cpus * about.perGib).toFixed(5)),
      })),
  );

export const googleTypes: ReadonlyMap<string, GoogleType> = new Map(
  [...Object.entries(families).flatMap(typesOf), ...special].map((type) => [type.name, type]),
);

/** A type that nobody lists and everybody may ask for: `custom-6-16384`, `n2-custom-8-32768`. */
export function customType(name: string): GoogleType | undefined {
  const match = /^(?:(n1|n2|n2d|n4|e2)-)?custom-(\d{1,3})-(\d{3,7})(?:-ext)?$/.exec(name);
  if (match === null) return undefined;
  const [, family = 'n1', cpus = '', mib = ''] = match;
  if (Number(mib) % 256 !== 0 || (Number(cpus) !== 1 && Number(cpus) % 2 !== 0)) return undefined;
  const { perCpu, perGib } = families[family]!;
  const price = 1.05 * (Number(cpus) * perCpu + (Number(mib) / 1024) * perGib);
  return { name, family, cpus: Number(cpus), mib: Number(mib), arm: false, price: Number(price.toFixed(5)) };
}

const zones = (region: string, letters: string): readonly string[] =>
  [...letters].map((letter) => `${region}-${letter}`);
/** Regions that have machines alone, and no rarer accelerators. */
const elsewhere = [
  ...['africa-south1', 'asia-east2', 'asia-northeast2', 'asia-northeast3', 'asia-south1', 'asia-south2'],
  ...['asia-southeast2', 'asia-southeast3', 'australia-southeast1', 'australia-southeast2', 'europe-central2'],
  ...['europe-north1', 'europe-north2', 'europe-southwest1', 'europe-west3', 'europe-west6', 'europe-west8'],
  ...['europe-west9', 'europe-west10', 'europe-west12', 'me-central1', 'me-central2', 'me-west1'],
  ...['northamerica-northeast1', 'northamerica-northeast2', 'northamerica-south1', 'southamerica-east1'],
  ...['southamerica-west1', 'us-west3'],
];
const regions = Object.fromEntries(
  Object.entries({
    'us-central1': 'abcf',
    'us-central2': 'b',
    'us-east1': 'bcd',
    'us-east4': 'abc',
    'us-east5': 'abc',
    'us-south1': 'abc',
    'us-west1': 'abc',
    'us-west2': 'abc',
    'us-west4': 'abc',
    'europe-west1': 'bcd',
    'europe-west2': 'abc',
    'europe-west4': 'abc',
    'asia-east1': 'abc',
    'asia-northeast1': 'abc',
    'asia-southeast1': 'abc',
    ...Object.fromEntries(elsewhere.map((region) => [region, 'abc'])),
  }).map(([region, letters]) => [region, zones(region, letters)]),
);

export interface Accelerator {
  readonly name: string;
  readonly description: string;
  readonly most: number;
  readonly zones: RegExp;
  /** It comes with machines of its own family alone. */
  readonly family?: string;
  /** Sold to those who ask for it alone. */
  readonly retired?: boolean;
}

const a100 =
  /^(?:us-central1-[abcf]|us-west1-b|us-west4-b|us-east1-b|europe-west4-[ab]|asia-northeast1-[ac]|asia-southeast1-[bc])$/;
export const accelerators: readonly Accelerator[] = [
  { name: 'nvidia-tesla-t4', description: 'NVIDIA T4', most: 4, zones: /^(?!us-central2)/ },
  {
    name: 'nvidia-tesla-v100',
    description: 'NVIDIA V100',
    most: 8,
    zones: /^(?:us-central1-[abcf]|us-west1-[ab]|us-east1-c|europe-west4-[abc]|asia-east1-c)$/,
  },
  {
    name: 'nvidia-tesla-p100',
    description: 'NVIDIA P100',
    most: 4,
    zones: /^(?:us-central1-[cf]|us-west1-[ab]|us-east1-[bc]|europe-west1-[bd]|europe-west4-a|asia-east1-[ac])$/,
  },
  {
    name: 'nvidia-tesla-p4',
    description: 'NVIDIA P4',
    most: 4,
    zones: /^(?:us-central1-[ac]|us-west2-[bc]|us-east4-[abc])$/,
  },
  { name: 'nvidia-tesla-k80', description: 'NVIDIA K80', most: 8, zones: /^us-/, retired: true },
  { name: 'nvidia-tesla-a100', description: 'NVIDIA A100 40GB', most: 16, zones: a100, family: 'a2' },
  {
    name: 'nvidia-a100-80gb',
    description: 'NVIDIA A100 80GB',
    most: 8,
    zones: /^(?:us-central1-[ac]|us-east[45]-[ab]|europe-west4-a|asia-southeast1-c)$/,
    family: 'a2',
  },
  {
    name: 'nvidia-h100-80gb',
    description: 'NVIDIA H100 80GB',
    most: 8,
    zones:
      /^(?:us-central1-[ac]|us-east4-[ab]|us-east5-a|us-west1-[ab]|us-west4-a|europe-west4-[bc]|asia-northeast1-b)$/,
    family: 'a3',
  },
  {
    name: 'nvidia-h100-mega-80gb',
    description: 'NVIDIA H100 80GB MEGA',
    most: 8,
    zones:
      /^(?:us-central1-[ac]|us-east4-[ab]|us-east5-a|us-west1-[ab]|us-west4-a|europe-west4-[bc]|asia-northeast1-b)$/,
    family: 'a3',
  },
  {
    name: 'nvidia-h200-141gb',
    description: 'NVIDIA H200 141GB',
    most: 8,
    zones: /^(?:us-central1-b|us-east4-b|us-east5-a|us-west1-c|us-south1-b|europe-west1-b)$/,
    family: 'a3',
  },
  {
    name: 'nvidia-b200',
    description: 'NVIDIA B200',
    most: 8,
    zones: /^(?:us-central1-b|us-east1-b|us-west2-c|asia-southeast1-b|europe-west4-b)$/,
    family: 'a4',
  },
  { name: 'nvidia-l4', description: 'NVIDIA L4', most: 8, zones: /^(?!us-central2|us-south1)/, family: 'g2' },
];

/** Machines with accelerators are sold where these are; the rest everywhere. */
export function isOffered(type: GoogleType, zone: string): boolean {
  const own = accelerators.find(({ name }) => name === type.gpus?.type);
  if (own !== undefined) return own.zones.test(zone);
  return zone !== 'us-central2-b' || /^(?:n1|n2|n2d|e2)$/.test(type.family);
}

/** What is asked of a quota for so many vCPUs: each newer family has its own. */
export const cpuMetric = (family: string): string =>
  /^(?:n1|e2|f1|g1|t2d|t2a)$/.test(family) ? 'CPUS' : `${family.toUpperCase()}_CPUS`;

/** `nvidia-tesla-t4` is counted as NVIDIA_T4_GPUS. */
export const gpuMetric = (type: string): string =>
  `${type
    .replace('-tesla', '')
    .replace(/^nvidia-h100.*/, 'nvidia-h100')
    .replaceAll('-', '_')
    .toUpperCase()}_GPUS`;

const spotShare = 0.35;

export const asMachineType = ({ name, cpus, mib, gpus, price }: GoogleType): MachineType => ({
  name,
  cpus,
  memory_gib: mib / 1024,
  ...(gpus && { gpus: gpus.count }),
  price,
  spot_price: Number((price * spotShare).toFixed(5)),
});

/** Types of machines and of hosts of slices. The list grows when somebody asks for a custom type. */
export const googleCatalog = (): Catalog & { readonly machine_types: MachineType[] } => ({
  regions,
  machine_types: [
    ...[...googleTypes.values()].map(asMachineType),
    ...[...tpuTypes.values()].map(({ name, price }) => ({
      ...{ name, cpus: 0, memory_gib: 0, price, spot_price: Number((price * spotShare).toFixed(5)) },
    })),
  ],
});
