/** Types of slices by their real names: how many hosts each has, its topology, and where it is sold. */

export interface TpuType {
  /** `v4-32`. */
  readonly name: string;
  readonly generation: string;
  /** As `acceleratorConfig.type` has it. */
  readonly configType: string;
  /** The usual one first. */
  readonly topologies: readonly [string, ...string[]];
  readonly chips: number;
  readonly hosts: number;
  /** Of one host, in dollars an hour. */
  readonly price: number;
}

interface Generation {
  readonly configType: string;
  readonly topologies: readonly string[];
  /** What of the name's number one chip is. */
  readonly perChip: number;
  readonly perChipPrice: number;
  readonly zones: RegExp;
  /** As quotas call it, before `PerProjectPerZoneForTPUAPI`. */
  readonly quota: string;
}

const flat = ['2x2', '4x4', '4x8', '8x8', '8x16', '16x16', '16x32', '32x32'];
const lite = ['1x1', '2x2', '2x4', '4x4', '2x8', '4x8', '8x8', '8x16', '16x16'];

/** Of cubes of four chips a side beyond the smallest, up to so many chips; those nearest to a cube first. */
function cubes(most: number): readonly string[] {
  const sides = [4, 8, 12, 16, 20, 24];
  const large = sides.flatMap((x) => sides.flatMap((y) => sides.map((z) => [x, y, z] as const)));
  return [
    ...['2x2x1', '2x2x2', '2x2x4', '2x4x4'],
    ...large
      .filter(([x, y, z]) => x <= y && y <= z && x * y * z <= most)
      .toSorted((one, other) => one[0] + one[1] + one[2] - other[0] - other[1] - other[2])
      .map((each) => each.join('x')),
  ];
}

const generations: Readonly<Record<string, Generation>> = {
  v2: {
    ...{ configType: 'V2', topologies: flat, perChip: 2, perChipPrice: 1.125, quota: 'TPUV2s' },
    zones: /^(?:us-central1-[abcf]|europe-west4-a|asia-east1-c)$/,
  },
  v3: {
    ...{ configType: 'V3', topologies: flat, perChip: 2, perChipPrice: 2, quota: 'TPUV3s' },
    zones: /^(?:us-central1-[abf]|us-east1-d|europe-west4-a)$/,
  },
  v4: {
    ...{ configType: 'V4', topologies: cubes(2048), perChip: 2, perChipPrice: 3.22, quota: 'TPUV4s' },
    zones: /^us-central2-b$/,
  },
  v5litepod: {
    ...{ configType: 'V5LITE_POD', topologies: lite, perChip: 1, perChipPrice: 1.2, quota: 'TPUV5sLitepod' },
    zones:
      /^(?:us-central1-a|us-south1-a|us-west1-c|us-west4-[ab]|us-east1-[cd]|us-east5-[ab]|europe-west4-b|asia-southeast1-b)$/,
  },
  v5p: {
    ...{ configType: 'V5P', topologies: cubes(6144), perChip: 2, perChipPrice: 4.2, quota: 'TPUV5p' },
    zones: /^(?:us-central1-a|us-east5-[abc]|europe-west4-b)$/,
  },
  v6e: {
    ...{ configType: 'V6E', topologies: lite, perChip: 1, perChipPrice: 2.7, quota: 'TPUV6e' },
    zones:
      /^(?:us-central1-[bc]|us-central2-b|us-east1-d|us-east5-[abc]|us-south1-[ab]|southamerica-west1-a|europe-west4-a|asia-northeast1-b)$/,
  },
};

/** Four chips make a host; of the lighter generations up to eight do, where it is the only one. */
const hostsOf = (chips: number, perChip: number): number =>
  perChip === 1 && chips <= 8 ? 1 : Math.max(1, Math.ceil(chips / 4));

const chipsOf = (topology: string): number => topology.split('x').reduce((product, side) => product * Number(side), 1);

export const tpuTypes: ReadonlyMap<string, TpuType> = new Map(
  Object.entries(generations).flatMap(([generation, { configType, topologies, perChip, perChipPrice }]) =>
    [...Map.groupBy(topologies, chipsOf)].map(([chips, [first, ...others]]): [string, TpuType] => {
      const hosts = hostsOf(chips, perChip);
      const name = `${generation}-${chips * perChip}`;
      const price = Number(((chips / hosts) * perChipPrice).toFixed(4));
      return [name, { name, generation, configType, topologies: [first!, ...others], chips, hosts, price }];
    }),
  ),
);

export const typesIn = (zone: string): readonly TpuType[] =>
  [...tpuTypes.values()].filter(({ generation }) => generations[generation]!.zones.test(zone));

type Config = { readonly type?: string | undefined; readonly topology?: string | undefined };

/** The one of these that a request describes by its topology. */
export const typeOfConfig = (types: Iterable<TpuType>, config: Config | undefined): TpuType | undefined =>
  [...types].find(
    ({ configType, topologies }) => configType === config?.type && topologies.includes(config.topology ?? ''),
  );

/** The topology that was asked for, else the usual one. */
export const topologyOf = ({ topologies }: TpuType, config: Config | undefined): string =>
  config?.topology ?? topologies[0];

export const isTpuZone = (zone: string): boolean => typesIn(zone).length > 0;

/** The quota that a slice counts against, as its refusal names it. Pods and spot machines have their own. */
export const quotaOf = ({ generation, hosts }: TpuType, spot: boolean): string =>
  `${generations[generation]!.quota}${hosts > 1 && /^v[23]$/.test(generation) ? 'Pod' : ''}${spot ? 'Preemptible' : ''}PerProjectPerZoneForTPUAPI`;

const libraries = (name: string, versions: string, suffixes: readonly string[]): readonly string[] =>
  versions.split(' ').flatMap((version) => suffixes.map((suffix) => `tpu-vm-${name}-${version}${suffix}`));

export const runtimeVersions: readonly string[] = [
  'tpu-ubuntu2204-base',
  'tpu-vm-base',
  'tpu-vm-v4-base',
  'v2-alpha',
  'v2-alpha-tpuv5',
  'v2-alpha-tpuv5-lite',
  'v2-alpha-tpuv6e',
  'v2-nightly',
  'v2-tf-stable',
  ...libraries('pt', '1.10 1.11 1.12 1.13 2.0', ['']),
  'tpu-vm-v4-pt-1.13',
  'tpu-vm-v4-pt-2.0',
  ...libraries('tf', '2.6.0 2.7.0 2.8.0 2.9.1 2.10.0 2.11.0 2.12.0 2.13.0', ['', '-pod', '-v4', '-pod-v4']),
  ...libraries('tf', '2.14.1 2.15.0 2.16.1 2.17.0', ['-pjrt', '-pod-pjrt']),
];
