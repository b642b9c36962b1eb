import type { PlainMap } from '../../core/spec/cluster.ts';
import { isText, mapOf } from '../../core/spec/plain.ts';

/** What a TPU slice is made of. */
export interface SliceShape {
  /** `v4-16`. */
  readonly type: string;
  readonly generation: string;
  readonly chips: number;
  readonly hosts: number;
  readonly topology?: string;
}

/** A type with an accelerator of its own and no machine type is a slice. */
export const isSlice = (launch: PlainMap): boolean =>
  !('machineType' in launch) && ('acceleratorType' in launch || 'acceleratorConfig' in launch);

/** v2 to v4 and v5p are named by cores, two to a chip; v5e and v6e by chips. */
const isLite = (generation: string): boolean => /^v5lite(?:pod)?$|^v5e$|^v6e$/.test(generation);
const coresPerChip = (generation: string): number => (isLite(generation) ? 1 : 2);

/** Four chips make a host; of the lighter generations up to eight do, where it is the only one. */
const hostsFor = (chips: number, generation: string): number =>
  isLite(generation) && chips <= 8 ? 1 : Math.max(1, Math.ceil(chips / 4));

function chipsOf(topology: string): number | undefined {
  if (!/^\d+x\d+(?:x\d+)?$/.test(topology)) return undefined;
  const chips = topology.split('x').reduce((product, side) => product * Number(side), 1);
  return chips > 0 ? chips : undefined;
}

/** As `acceleratorConfig.type` writes it: V5LITE_POD. */
const generationOf = (configType: string): string => configType.toLowerCase().replaceAll('_', '');

/** Undefined for what is not a type of TPU, or not a topology. */
export function sliceShape(launch: PlainMap): SliceShape | undefined {
  const { acceleratorType: named } = launch;
  const { type, topology } = mapOf(launch.acceleratorConfig);
  if (isText(named)) {
    const [, generation, size] = /^(v\d+[a-z]*)-(\d+)$/.exec(named.toLowerCase()) ?? [];
    if (generation === undefined || Number(size) === 0) return undefined;
    const chips = Math.max(1, Number(size) / coresPerChip(generation));
    return { type: named, generation, chips, hosts: hostsFor(chips, generation) };
  }
  if (!isText(type) || !isText(topology)) return undefined;
  const generation = generationOf(type);
  const chips = chipsOf(topology);
  if (chips === undefined || !/^v\d+[a-z]*$/.test(generation)) return undefined;
  return {
    type: `${generation}-${chips * coresPerChip(generation)}`,
    generation,
    chips,
    hosts: hostsFor(chips, generation),
    topology,
  };
}
