/** Types of slices by their real names: how many hosts each has, its topology, and where it is sold. */

export interface TpuType {
  /** `v4-32`. */
  readonly name: string;
  readonly generation: string;
  /** As `acceleratorConfig.type` has it. */
  readonly configType: string;
  readonly topology: string;
  readonly chips: number;
  readonly hosts: number;
  /** Of one host, in dollars an hour. */
  readonly price: number;
}

interface Generation {
  readonly configType: string;
  /** Topologies by the number in the name. */
  readonly topologies: Readonly<Record<number, string>>;
  /** What of the name's number one chip is. */
  readonly perChip: number;
  readonly perChipPrice: number;
  readonly zones: RegExp;
  /** As quotas call it, before `PerProjectPerZoneForTPUAPI`. */
  readonly quota: string;
}

const flat = { 8: '2x2', 32: '4x4', 64: '4x8', 128: '8x8', 256: '8x16', 512: '16x16', 1024: '16x32', 2048: '32x32' };
const cubes = {
  ...{ 8: '2x2x1', 16: '2x2x2', 32: '2x2x4', 64: '2x4x4', 128: '4x4x4', 256: '4x4x8', 512: '4x8x8', 1024: '8x8x8' },
  ...{ 2048: '8x8x16', 4096: '8x16x16' },
};
const lite = {
  ...{ 1: '1x1', 4: '2x2', 8: '2x4', 16: '4x4', 32: '4x8', 64: '8x8', 128: '8x16', 256: '16x16' },
};

const generations: Readonly<Record<string, Generation>> = {
  v2: {
    ...{ configType: 'V2', topologies: flat, perChip: 2, perChipPrice: 1.125, quota: 'TPUV2s' },
    zones: /^(?:us-central1-[bcf]|europe-west4-a|asia-east1-c)$/,
  },
  v3: {
    ...{ configType: 'V3', topologies: flat, perChip: 2, perChipPrice: 2, quota: 'TPUV3s' },
    zones: /^(?:us-central1-[abf]|europe-west4-a)$/,
  },
  v4: {
    ...{ configType: 'V4', topologies: cubes, perChip: 2, perChipPrice: 3.22, quota: 'TPUV4s' },
    zones: /^us-central2-b$/,
  },
  v5litepod: {
    ...{ configType: 'V5LITE_POD', topologies: lite, perChip: 1, perChipPrice: 1.2, quota: 'TPUV5sLitepod' },
    zones:
      /^(?:us-central1-a|us-south1-a|us-west1-c|us-west4-[ab]|us-east1-[cd]|us-east5-[ab]|europe-west4-b|asia-southeast1-b)$/,
  },
  v5p: {
    ...{ configType: 'V5P', topologies: cubes, perChip: 2, perChipPrice: 4.2, quota: 'TPUV5p' },
    zones: /^(?:us-central1-a|us-east5-[abc]|europe-west4-b)$/,
  },
  v6e: {
    ...{ configType: 'V6E', topologies: lite, perChip: 1, perChipPrice: 2.7, quota: 'TPUV6e' },
    zones: /^(?:us-central1-b|us-central2-b|us-east1-d|us-east5-[abc]|us-south1-a|europe-west4-a|asia-northeast1-b)$/,
  },
};

/** Four chips make a host; of the lighter generations up to eight do, where it is the only one. */
const hostsOf = (chips: number, perChip: number): number =>
  perChip === 1 && chips <= 8 ? 1 : Math.max(1, Math.ceil(chips / 4));

export const tpuTypes: ReadonlyMap<string, TpuType> = new Map(
  Object.entries(generations).flatMap(([generation, { configType, topologies, perChip, perChipPrice }]) =>
    Object.entries(topologies).map(([size, topology]): [string, TpuType] => {
      const chips = Number(size) / perChip;
      const hosts = hostsOf(chips, perChip);
      const name = `${generation}-${size}`;
      const price = Number(((chips / hosts) * perChipPrice).toFixed(4));
      return [name, { name, generation, configType, topology, chips, hosts, price }];
    }),
  ),
);

export const typesIn = (zone: string): readonly TpuType[] =>
  [...tpuTypes.values()].filter(({ generation }) => generations[generation]!.zones.test(zone));

export const isTpuZone = (zone: string): boolean => typesIn(zone).length > 0;

/** The quota that a slice counts against, as its refusal names it. Pods and spot machines have their own. */
export const quotaOf = ({ generation, hosts }: TpuType, spot: boolean): string =>
  `${generations[generation]!.quota}${hosts > 1 && /^v[23]$/.test(generation) ? 'Pod' : ''}${spot ? 'Preemptible' : ''}PerProjectPerZoneForTPUAPI`;

export const runtimeVersions: readonly string[] = [
  'tpu-ubuntu2204-base',
  'tpu-vm-base',
  'tpu-vm-v4-base',
  'tpu-vm-pt-2.0',
  'tpu-vm-tf-2.16.1-pjrt',
  'tpu-vm-tf-2.16.1-pod-pjrt',
  'v2-alpha',
  'v2-alpha-tpuv5',
  'v2-alpha-tpuv5-lite',
  'v2-alpha-tpuv6e',
];
