import type { Resources } from '../../core/resources.ts';
import type { Plain, PlainMap } from '../../core/spec/cluster.ts';
import { mapOf, numberOf } from '../../core/spec/plain.ts';
import { likelyByName, withGpus } from '../not-run/machine-names.ts';
import { lastOf } from './client/links.ts';
import { listOf } from './node-config.ts';

/** What a machine gives to Ray by its name and its accelerators. */
export const googleResources = (launch: PlainMap): Resources | undefined =>
  likelyByName(launch.machineType, (name) => machine(lastOf(name), launch.guestAccelerators));

/** `n2-highmem-8`, `custom-6-16384`, `a2-highgpu-4g`. */
function machine(name: string, accelerators: Plain | undefined): Resources | undefined {
  const a2 = /^a2-(?:high|ultra|mega)gpu-(\d+)g$/.exec(name);
  if (a2) return withGpus(12 * Number(a2[1]), Number(a2[1]));
  const cpus = /^(?:[a-z][a-z0-9]*-)?custom-(\d+)-/.exec(name)?.[1] ?? /^[a-z][a-z0-9]*-[a-z]+-(\d+)$/.exec(name)?.[1];
  if (cpus === undefined) return undefined;
  const gpus = listOf(accelerators).reduce<number>(
    (sum, each) => sum + (numberOf(mapOf(each).acceleratorCount) ?? 0),
    0,
  );
  return withGpus(Number(cpus), gpus);
}

/**
 * Hosts of a TPU slice. v2 to v4 and v5p are named by cores, eight to a host; v5e and v6e by chips, which one host
 * holds up to eight of, and four to a host beyond.
 */
export function hostsPerSlice(launch: PlainMap): number {
  const config = mapOf(launch.acceleratorConfig);
  const chips = typeof config.topology === 'string' ? product(config.topology) : undefined;
  if (chips !== undefined)
    return /V5LITE|V6E/i.test(String(config.type)) ? liteHosts(chips) : Math.max(1, Math.ceil(chips / 4));
  const match = /^(v\d+[a-z]*)-(\d+)$/i.exec(typeof launch.acceleratorType === 'string' ? launch.acceleratorType : '');
  if (!match) return 1;
  const size = Number(match[2]);
  return /^(v5lite|v5litepod|v5e|v6e)$/i.test(match[1] as string) ? liteHosts(size) : Math.max(1, Math.ceil(size / 8));
}

const liteHosts = (chips: number): number => (chips <= 8 ? 1 : Math.ceil(chips / 4));

function product(topology: string): number | undefined {
  const sides = topology.split('x').map(Number);
  return sides.length > 0 && sides.every((side) => Number.isInteger(side) && side > 0)
    ? sides.reduce((a, b) => a * b, 1)
    : undefined;
}
