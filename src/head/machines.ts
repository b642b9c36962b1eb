import type { Host } from '../base/host.ts';
import type { ClusterSpec } from '../core/spec/cluster.ts';
import type { Provider, ProviderInstance } from '../providers/provider.ts';

/** Where the instances of a cluster of other machines come from, and how mantad reaches them. */
export interface Machines {
  readonly provider: Provider;
  /** The same host for the same instance, connected or not. */
  hostOf(instance: ProviderInstance): Host;
  /** Where a machine is reached, as users know it. */
  addressOf(machine: string): string | undefined;
  /** The spec with what was learned of the machines. */
  complete(spec: ClusterSpec): ClusterSpec;
  /** Keeps what belongs to the machines, such as claims, until the signal aborts. */
  keep(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
