import type { ScalingSpec, ScalingType } from '../../core/scaling.ts';
import type { ProviderInstance } from '../../providers/provider.ts';

/**
 * How many hosts slices really have: what a provider shows of one counts more than what its type promises, and of one that runs
 * more than of one that is still being made.
 */
export class SliceHosts {
  readonly #seen = new Map<string, number>();
  readonly #ran = new Set<string>();

  see(instances: readonly ProviderInstance[]): void {
    for (const { state, type, slice } of instances) {
      if (slice === undefined || (state !== 'running' && (state !== 'pending' || this.#ran.has(type)))) continue;
      this.#seen.set(type, slice.of);
      if (state === 'running') this.#ran.add(type);
    }
  }

  /** The spec with slices as they were seen. As many of them are allowed as before, whatever they have of hosts. */
  applyTo(spec: ScalingSpec): ScalingSpec {
    const nodeTypes = spec.nodeTypes.map((type) => withHosts(type, this.#seen.get(type.name) ?? type.hostsPerSlice));
    if (nodeTypes.every((type, at) => type === spec.nodeTypes[at])) return spec;
    const grows = nodeTypes.map(({ hostsPerSlice }, at) => hostsPerSlice / spec.nodeTypes[at]!.hostsPerSlice);
    const most = spec.maxWorkers && Math.ceil(spec.maxWorkers * Math.max(1, ...grows));
    return { ...spec, nodeTypes, ...(most !== undefined && { maxWorkers: most }) };
  }
}

/** A type whose slices have another number of hosts. */
function withHosts(type: ScalingType, hosts: number): ScalingType {
  if (hosts === type.hostsPerSlice) return type;
  const scaled = (workers: number): number => Math.round((workers / type.hostsPerSlice) * hosts);
  const { minWorkers, maxWorkers } = type;
  return { ...type, hostsPerSlice: hosts, minWorkers: scaled(minWorkers), maxWorkers: scaled(maxWorkers) };
}
