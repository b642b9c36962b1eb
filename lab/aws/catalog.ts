/** Instance types by their real names, with what AWS says of them. Prices are those of us-east-1, Linux, in dollars an hour. */
import type { Catalog, MachineType } from '../cloud/catalog.ts';
import { modelOf } from './models.ts';

export interface Gpu {
  readonly name: string;
  readonly maker: 'NVIDIA' | 'AWS' | 'AMD';
  readonly count: number;
  readonly mib: number;
}

export interface AwsType {
  readonly name: string;
  readonly family: string;
  readonly architecture: 'x86_64' | 'arm64';
  readonly vcpus: number;
  readonly mib: number;
  readonly gpu?: Gpu;
  /** Trainium or Inferentia. */
  readonly neuron?: Gpu;
  readonly price: number;
  readonly spotPrice: number;
  /** Network cards; more than one on the largest. */
  readonly cards: number;
  readonly efa: boolean;
  /** Gigabytes of disks that come with the machine. */
  readonly localGb?: number;
  /** Sold to those who ask for it alone. */
  readonly retired: boolean;
  readonly previous: boolean;
}

interface Family {
  /** GiB for each vCPU. */
  readonly ratio: number;
  /** Dollars an hour for each vCPU. */
  readonly perCpu: number;
  /** vCPUs by size; in place of the usual number, with GiB and dollars where they are out of line. */
  readonly sizes: Readonly<Record<string, number | readonly [cpus: number, gib: number, price: number]>>;
  readonly arm?: boolean;
  readonly gpu?: Omit<Gpu, 'count'> & { readonly counts: Readonly<Record<string, number>> };
  readonly neuron?: boolean;
  readonly efa?: readonly string[];
  readonly localGb?: number;
  readonly retired?: boolean;
  readonly previous?: boolean;
}

const usual = (...names: readonly string[]): Record<string, number> =>
  Object.fromEntries(
    names.map((name) => [name, name === 'large' ? 2 : name === 'xlarge' ? 4 : 4 * Number.parseInt(name, 10)]),
  );
const whole = usual('large', 'xlarge', '2xlarge', '4xlarge', '8xlarge', '12xlarge', '16xlarge', '24xlarge');
const older = usual('large', 'xlarge', '2xlarge', '4xlarge', '8xlarge', '16xlarge');
const newer = { ...whole, ...usual('32xlarge', '48xlarge') };
const compute = {
  ...usual('large', 'xlarge', '2xlarge', '4xlarge', '12xlarge', '24xlarge'),
  ...{ '9xlarge': 36, '18xlarge': 72 },
};
const arm = { medium: 1, ...usual('large', 'xlarge', '2xlarge', '4xlarge', '8xlarge', '12xlarge', '16xlarge') };
type Sizes = Family['sizes'];
const burst = (micro: number): Sizes => ({
  nano: [2, 0.5, micro / 2],
  micro: [2, 1, micro],
  small: [2, 2, 2 * micro],
  medium: [2, 4, 4 * micro],
  large: [2, 8, 8 * micro],
  xlarge: [4, 16, 16 * micro],
  '2xlarge': [8, 32, 32 * micro],
});
const nvidia = (name: string, mib: number, counts: Readonly<Record<string, number>>): NonNullable<Family['gpu']> => ({
  name,
  maker: 'NVIDIA',
  mib,
  counts,
});

const families: Readonly<Record<string, Family>> = {
  t1: { ratio: 0.6, perCpu: 0.02, sizes: { micro: [1, 0.612, 0.02] }, previous: true },
  t2: {
    ratio: 4,
    perCpu: 0.0464,
    sizes: { ...burst(0.0116), nano: [1, 0.5, 0.0058], micro: [1, 1, 0.0116], small: [1, 2, 0.023] },
    previous: true,
  },
  t3: { ratio: 4, perCpu: 0.0416, sizes: burst(0.0104) },
  t3a: { ratio: 4, perCpu: 0.0376, sizes: burst(0.0094) },
  t4g: { ratio: 4, perCpu: 0.0336, sizes: burst(0.0084), arm: true },
  m4: { ratio: 4, perCpu: 0.05, sizes: { ...older, '10xlarge': 40 }, previous: true },
  m5: { ratio: 4, perCpu: 0.048, sizes: whole },
  m5a: { ratio: 4, perCpu: 0.043, sizes: whole },
  m5d: { ratio: 4, perCpu: 0.0565, sizes: whole, localGb: 37.5 },
  m5n: { ratio: 4, perCpu: 0.0595, sizes: whole, efa: ['24xlarge'] },
  m6i: { ratio: 4, perCpu: 0.048, sizes: { ...whole, '32xlarge': 128 }, efa: ['32xlarge'] },
  m6a: { ratio: 4, perCpu: 0.0432, sizes: newer },
  m6g: { ratio: 4, perCpu: 0.0385, sizes: arm, arm: true },
  m7i: { ratio: 4, perCpu: 0.0504, sizes: { ...whole, '48xlarge': 192 }, efa: ['48xlarge'] },
  m7a: { ratio: 4, perCpu: 0.05796, sizes: newer },
  m7g: { ratio: 4, perCpu: 0.0408, sizes: arm, arm: true },
  c4: {
    ratio: 1.875,
    perCpu: 0.0498,
    sizes: { ...usual('large', 'xlarge', '2xlarge', '4xlarge'), '8xlarge': 36 },
    previous: true,
  },
  c5: { ratio: 2, perCpu: 0.0425, sizes: compute },
  c5a: { ratio: 2, perCpu: 0.0385, sizes: whole },
  c5n: {
    ratio: 2.625,
    perCpu: 0.054,
    sizes: { ...usual('large', 'xlarge', '2xlarge', '4xlarge'), '9xlarge': 36, '18xlarge': 72 },
    efa: ['9xlarge', '18xlarge'],
  },
  c6i: { ratio: 2, perCpu: 0.0425, sizes: { ...whole, '32xlarge': 128 }, efa: ['32xlarge'] },
  c6g: { ratio: 2, perCpu: 0.034, sizes: arm, arm: true },
  c7i: { ratio: 2, perCpu: 0.044625, sizes: { ...whole, '48xlarge': 192 }, efa: ['48xlarge'] },
  c7g: { ratio: 2, perCpu: 0.03625, sizes: arm, arm: true },
  r4: { ratio: 7.625, perCpu: 0.0665, sizes: older, previous: true },
  r5: { ratio: 8, perCpu: 0.063, sizes: whole },
  r5a: { ratio: 8, perCpu: 0.0565, sizes: whole },
  r5d: { ratio: 8, perCpu: 0.072, sizes: whole, localGb: 37.5 },
  r5n: { ratio: 8, perCpu: 0.0745, sizes: whole, efa: ['24xlarge'] },
  r5dn: { ratio: 8, perCpu: 0.0835, sizes: whole, efa: ['24xlarge'], localGb: 37.5 },
  r6i: { ratio: 8, perCpu: 0.063, sizes: { ...whole, '32xlarge': 128 }, efa: ['32xlarge'] },
  r6g: { ratio: 8, perCpu: 0.0504, sizes: arm, arm: true },
  r7i: { ratio: 8, perCpu: 0.06615, sizes: { ...whole, '48xlarge': 192 }, efa: ['48xlarge'] },
  r7g: { ratio: 8, perCpu: 0.05355, sizes: arm, arm: true },
  x1: { ratio: 15.25, perCpu: 0.1042, sizes: usual('16xlarge', '32xlarge') },
  i3: { ratio: 7.625, perCpu: 0.078, sizes: older, localGb: 237 },
  i3en: {
    ratio: 8,
    perCpu: 0.113,
    sizes: usual('large', 'xlarge', '2xlarge', '12xlarge', '24xlarge'),
    localGb: 625,
    efa: ['24xlarge'],
  },
  i4i: { ratio: 8, perCpu: 0.0858, sizes: { ...older, '32xlarge': 128 }, localGb: 234 },
  i8g: { ratio: 8, perCpu: 0.0858, sizes: arm, arm: true, localGb: 234 },
  d3: { ratio: 8, perCpu: 0.12475, sizes: usual('xlarge', '2xlarge', '4xlarge', '8xlarge'), localGb: 1490 },
  g2: {
    ratio: 1.875,
    perCpu: 0.08125,
    sizes: usual('2xlarge', '8xlarge'),
    gpu: nvidia('K520', 4096, { '2xlarge': 1, '8xlarge': 4 }),
    retired: true,
    previous: true,
  },
  g3: {
    ratio: 7.625,
    perCpu: 0.07125,
    sizes: usual('4xlarge', '8xlarge', '16xlarge'),
    gpu: nvidia('M60', 8192, { '4xlarge': 1, '8xlarge': 2, '16xlarge': 4 }),
    retired: true,
    previous: true,
  },
  g3s: {
    ratio: 7.625,
    perCpu: 0.1875,
    sizes: usual('xlarge'),
    gpu: nvidia('M60', 8192, { xlarge: 1 }),
    retired: true,
    previous: true,
  },
  g4dn: {
    ratio: 4,
    perCpu: 0.08,
    sizes: {
      xlarge: [4, 16, 0.526],
      '2xlarge': [8, 32, 0.752],
      '4xlarge': [16, 64, 1.204],
      '8xlarge': [32, 128, 2.176],
      '12xlarge': [48, 192, 3.912],
      '16xlarge': [64, 256, 4.352],
      metal: [96, 384, 7.824],
    },
    gpu: nvidia('T4', 16384, { '12xlarge': 4, metal: 8 }),
    efa: ['8xlarge', '12xlarge', '16xlarge', 'metal'],
    localGb: 31.25,
  },
  g5: {
    ratio: 4,
    perCpu: 0.12,
    sizes: {
      xlarge: [4, 16, 1.006],
      '2xlarge': [8, 32, 1.212],
      '4xlarge': [16, 64, 1.624],
      '8xlarge': [32, 128, 2.448],
      '12xlarge': [48, 192, 5.672],
      '16xlarge': [64, 256, 4.096],
      '24xlarge': [96, 384, 8.144],
      '48xlarge': [192, 768, 16.288],
    },
    gpu: nvidia('A10G', 24576, { '12xlarge': 4, '24xlarge': 4, '48xlarge': 8 }),
    efa: ['8xlarge', '12xlarge', '16xlarge', '24xlarge', '48xlarge'],
    localGb: 56.25,
  },
  g6: {
    ratio: 4,
    perCpu: 0.1,
    sizes: {
      xlarge: [4, 16, 0.8048],
      '2xlarge': [8, 32, 0.9776],
      '4xlarge': [16, 64, 1.3232],
      '8xlarge': [32, 128, 2.0144],
      '12xlarge': [48, 192, 4.6016],
      '16xlarge': [64, 256, 3.3968],
      '24xlarge': [96, 384, 6.6752],
      '48xlarge': [192, 768, 13.3504],
    },
    gpu: nvidia('L4', 22888, { '12xlarge': 4, '24xlarge': 4, '48xlarge': 8 }),
    efa: ['8xlarge', '12xlarge', '16xlarge', '24xlarge', '48xlarge'],
    localGb: 58.75,
  },
  g4ad: {
    ratio: 4,
    perCpu: 0.0946,
    sizes: usual('xlarge', '2xlarge', '4xlarge', '8xlarge', '16xlarge'),
    gpu: { name: 'Radeon Pro V520', maker: 'AMD', mib: 8192, counts: { '8xlarge': 2, '16xlarge': 4 } },
    localGb: 37.5,
  },
  g5g: {
    ratio: 2,
    perCpu: 0.105,
    sizes: { ...usual('xlarge', '2xlarge', '4xlarge', '8xlarge', '16xlarge'), metal: 64 },
    gpu: nvidia('T4g', 16384, { '16xlarge': 2, metal: 2 }),
    arm: true,
  },
  g6e: {
    ratio: 8,
    perCpu: 0.157,
    sizes: usual('xlarge', '2xlarge', '4xlarge', '8xlarge', '12xlarge', '16xlarge', '24xlarge', '48xlarge'),
    gpu: nvidia('L40S', 45776, { '12xlarge': 4, '24xlarge': 4, '48xlarge': 8 }),
    efa: ['8xlarge', '12xlarge', '16xlarge', '24xlarge', '48xlarge'],
    localGb: 39.6,
  },
  gr6: {
    ratio: 8,
    perCpu: 0.0962,
    sizes: usual('4xlarge', '8xlarge'),
    gpu: nvidia('L4', 22888, {}),
  },
  g7e: {
    ratio: 8,
    perCpu: 0.173,
    sizes: usual('2xlarge', '4xlarge', '8xlarge', '12xlarge', '24xlarge', '48xlarge'),
    gpu: nvidia('RTX PRO Server 6000', 97887, { '12xlarge': 2, '24xlarge': 4, '48xlarge': 8 }),
    efa: ['8xlarge', '12xlarge', '24xlarge', '48xlarge'],
  },
  p2: {
    ratio: 15.25,
    perCpu: 0.225,
    sizes: usual('xlarge', '8xlarge', '16xlarge'),
    gpu: nvidia('K80', 12288, { xlarge: 1, '8xlarge': 8, '16xlarge': 16 }),
    retired: true,
    previous: true,
  },
  p3: {
    ratio: 7.625,
    perCpu: 0.3825,
    sizes: usual('2xlarge', '8xlarge', '16xlarge'),
    gpu: nvidia('V100', 16384, { '2xlarge': 1, '8xlarge': 4, '16xlarge': 8 }),
    retired: true,
    previous: true,
  },
  p3dn: {
    ratio: 8,
    perCpu: 0.32512,
    sizes: usual('24xlarge'),
    gpu: nvidia('V100', 32768, { '24xlarge': 8 }),
    efa: ['24xlarge'],
    retired: true,
    previous: true,
  },
  p4d: {
    ratio: 12,
    perCpu: 0.34138,
    sizes: usual('24xlarge'),
    gpu: nvidia('A100', 40960, { '24xlarge': 8 }),
    efa: ['24xlarge'],
  },
  p4de: {
    ratio: 12,
    perCpu: 0.42672,
    sizes: usual('24xlarge'),
    gpu: nvidia('A100', 81920, { '24xlarge': 8 }),
    efa: ['24xlarge'],
  },
  p5: {
    ratio: 10.667,
    perCpu: 0.512,
    sizes: usual('4xlarge', '48xlarge'),
    gpu: nvidia('H100', 81920, { '48xlarge': 8 }),
    efa: ['48xlarge'],
  },
  p5e: {
    ratio: 10.667,
    perCpu: 0.512,
    sizes: usual('48xlarge'),
    gpu: nvidia('H200', 144384, { '48xlarge': 8 }),
    efa: ['48xlarge'],
  },
  p5en: {
    ratio: 10.667,
    perCpu: 0.512,
    sizes: usual('48xlarge'),
    gpu: nvidia('H200', 144384, { '48xlarge': 8 }),
    efa: ['48xlarge'],
  },
  'p6-b200': {
    ratio: 10.667,
    perCpu: 0.593,
    sizes: usual('48xlarge'),
    gpu: nvidia('B200', 183296, { '48xlarge': 8 }),
    efa: ['48xlarge'],
  },
  inf1: {
    ratio: 2,
    perCpu: 0.057,
    sizes: usual('xlarge', '2xlarge', '6xlarge', '24xlarge'),
    gpu: { name: 'Inferentia', maker: 'AWS', mib: 8192, counts: { '6xlarge': 4, '24xlarge': 16 } },
    neuron: true,
  },
  trn2: {
    ratio: 10.667,
    perCpu: 0.233,
    sizes: usual('3xlarge', '48xlarge'),
    gpu: { name: 'Trainium2', maker: 'AWS', mib: 98304, counts: { '48xlarge': 16 } },
    neuron: true,
    efa: ['48xlarge'],
  },
  trn1: {
    ratio: 4,
    perCpu: 0.16797,
    sizes: { '2xlarge': [8, 32, 1.34375], '32xlarge': [128, 512, 21.5] },
    gpu: { name: 'Trainium', maker: 'AWS', mib: 32768, counts: { '2xlarge': 1, '32xlarge': 16 } },
    neuron: true,
    efa: ['32xlarge'],
  },
  inf2: {
    ratio: 4,
    perCpu: 0.1,
    sizes: {
      xlarge: [4, 16, 0.7582],
      '8xlarge': [32, 128, 1.96786],
      '24xlarge': [96, 384, 6.49063],
      '48xlarge': [192, 768, 12.98127],
    },
    gpu: {
      name: 'Inferentia2',
      maker: 'AWS',
      mib: 32768,
      counts: { xlarge: 1, '8xlarge': 1, '24xlarge': 6, '48xlarge': 12 },
    },
    neuron: true,
  },
};

const spotShare = 0.31;

function typesOf([family, about]: readonly [string, Family]): readonly AwsType[] {
  return Object.entries(about.sizes).map(([size, given]) => {
    const [vcpus, gib, price] = typeof given === 'number' ? [given, given * about.ratio, given * about.perCpu] : given;
    const accelerator = about.gpu && {
      name: about.gpu.name,
      maker: about.gpu.maker,
      mib: about.gpu.mib,
      count: about.gpu.counts[size] ?? 1,
    };
    return {
      name: `${family}.${size}`,
      family,
      architecture: about.arm ? 'arm64' : 'x86_64',
      vcpus,
      mib: Math.round(gib * 1024),
      ...(accelerator && (about.neuron ? { neuron: accelerator } : { gpu: accelerator })),
      price: Number(price.toFixed(4)),
      spotPrice: Number((price * spotShare).toFixed(4)),
      cards: /^(?:p4d|p4de|p5|trn1)$/.test(family) && vcpus > 8 ? (family === 'p5' ? 32 : 4) : 1,
      efa: about.efa?.includes(size) ?? false,
      ...(about.localGb !== undefined && { localGb: Math.round(about.localGb * vcpus) }),
      retired: about.retired ?? false,
      previous: about.previous ?? false,
    };
  });
}

/** GiB and dollars an hour for each vCPU, by the first letters of a family. */
const byLetter: readonly (readonly [letters: RegExp, ratio: number, perCpu: number])[] = [
  [/^c/, 2, 0.0425],
  [/^[rzidh]/, 8, 0.07],
  [/^(?:x|u)/, 16, 0.12],
  [/^[gpv]/, 4, 0.15],
  [/^/, 4, 0.05],
];

/** Sold no more, among those of which only the name is known. */
const gone = /^(?:c1|cc1|cc2|cg1|cr1|hi1|hs1|m2|f1)$/;
const old = /^(?:[mc][1-3]|r3|i2|d2|x1e)$/;
const ofArm = /^(?:a1$|[a-z]+\d+g|p6e-gb)/;

/** `2xlarge` has eight, `metal-24xl` 96, and `metal` as many as the largest of its family. */
function cpusOf(size: string, sizes: readonly string[]): number {
  const times = /^(?:metal-)?(\d+)xl/.exec(size)?.[1];
  if (times !== undefined) return 4 * Number(times);
  if (size !== 'metal') return size === 'xlarge' ? 4 : size === 'large' ? 2 : 1;
  return Math.max(8, ...sizes.filter((each) => each !== 'metal').map((each) => cpusOf(each, [])));
}

/** Types that the model of EC2 names and the table above does not: their size is that of their name, the rest is about right. */
function namedTypes(known: ReadonlyMap<string, AwsType>): readonly AwsType[] {
  const names = modelOf('ec2').shapes['InstanceType']?.enum ?? [];
  const byFamily = Map.groupBy(names, (name) => name.slice(0, name.indexOf('.')));
  return [...byFamily].flatMap(([family, all]) => {
    const sizes = all.map((name) => name.slice(family.length + 1));
    const usualOnes = Object.hasOwn(families, family) ? families[family]! : undefined;
    const [, ratio, perCpu] = byLetter.find(([letters]) => letters.test(family))!;
    const missing = sizes.filter((size) => !known.has(`${family}.${size}`));
    const made: Family = {
      ...(usualOnes ?? {
        ratio,
        perCpu,
        arm: ofArm.test(family),
        retired: gone.test(family),
        previous: old.test(family),
      }),
      sizes: Object.fromEntries(missing.map((size) => [size, cpusOf(size, sizes)])),
    };
    return typesOf([family, made]);
  });
}

let everyType: ReadonlyMap<string, AwsType> | undefined;

/** Every type of EC2 by name. */
export function awsTypes(): ReadonlyMap<string, AwsType> {
  if (everyType !== undefined) return everyType;
  const byName = (types: readonly AwsType[]) => types.map((type): [string, AwsType] => [type.name, type]);
  const known = new Map(byName(Object.entries(families).flatMap(typesOf)));
  return (everyType = new Map([...known, ...byName(namedTypes(known))]));
}

/** Zones by their letters, as an account sees them, and where people read the name of a region, as in price lists. */
const places: Readonly<Record<string, readonly [letters: string, name: string]>> = {
  'us-east-1': ['abcdef', 'US East (N. Virginia)'],
  'us-east-2': ['abc', 'US East (Ohio)'],
  'us-west-1': ['abc', 'US West (N. California)'],
  'us-west-2': ['abcd', 'US West (Oregon)'],
  'af-south-1': ['abc', 'Africa (Cape Town)'],
  'ap-east-1': ['abc', 'Asia Pacific (Hong Kong)'],
  'ap-northeast-1': ['acd', 'Asia Pacific (Tokyo)'],
  'ap-northeast-2': ['abcd', 'Asia Pacific (Seoul)'],
  'ap-northeast-3': ['abc', 'Asia Pacific (Osaka)'],
  'ap-south-1': ['abc', 'Asia Pacific (Mumbai)'],
  'ap-south-2': ['abc', 'Asia Pacific (Hyderabad)'],
  'ap-southeast-1': ['abc', 'Asia Pacific (Singapore)'],
  'ap-southeast-2': ['abc', 'Asia Pacific (Sydney)'],
  'ap-southeast-3': ['abc', 'Asia Pacific (Jakarta)'],
  'ap-southeast-4': ['abc', 'Asia Pacific (Melbourne)'],
  'ca-central-1': ['abd', 'Canada (Central)'],
  'ca-west-1': ['abc', 'Canada West (Calgary)'],
  'eu-central-1': ['abc', 'EU (Frankfurt)'],
  'eu-central-2': ['abc', 'Europe (Zurich)'],
  'eu-north-1': ['abc', 'EU (Stockholm)'],
  'eu-south-1': ['abc', 'EU (Milan)'],
  'eu-south-2': ['abc', 'Europe (Spain)'],
  'eu-west-1': ['abc', 'EU (Ireland)'],
  'eu-west-2': ['abc', 'EU (London)'],
  'eu-west-3': ['abc', 'EU (Paris)'],
  'il-central-1': ['abc', 'Israel (Tel Aviv)'],
  'me-central-1': ['abc', 'Middle East (UAE)'],
  'me-south-1': ['abc', 'Middle East (Bahrain)'],
  'mx-central-1': ['abc', 'Mexico (Central)'],
  'sa-east-1': ['abc', 'South America (Sao Paulo)'],
  'us-gov-east-1': ['abc', 'AWS GovCloud (US-East)'],
  'us-gov-west-1': ['abc', 'AWS GovCloud (US-West)'],
  'cn-north-1': ['abd', 'China (Beijing)'],
  'cn-northwest-1': ['abc', 'China (Ningxia)'],
};

const regions: Catalog['regions'] = Object.fromEntries(
  Object.entries(places).map(([region, [letters]]) => [region, [...letters].map((letter) => region + letter)]),
);

export const regionNames: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(places).map(([region, [, name]]) => [region, name]),
);

/** The oldest zone of the oldest region has no newer machines, as is so; the newest accelerators are in few zones. */
export function isOffered({ family, previous }: AwsType, zone: string): boolean {
  if (zone === 'us-east-1e') return previous && family !== 't1';
  if (/^(?:p4de|p5|trn1)$/.test(family)) return /^us-(?:east-1[abcd]|west-2[abc])$/.test(zone);
  return true;
}

export const awsCatalog = (): Catalog => ({
  regions,
  machine_types: [...awsTypes().values()].map(
    ({ name, vcpus, mib, gpu, price, spotPrice }): MachineType => ({
      name,
      cpus: vcpus,
      memory_gib: mib / 1024,
      ...(gpu && { gpus: gpu.count }),
      price,
      spot_price: spotPrice,
    }),
  ),
});
