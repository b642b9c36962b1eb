import type { ClusterSpec } from '../core/spec/cluster.ts';
import type { ProviderFacts } from '../core/spec/provider-facts.ts';
import type {
  CloudClient,
  CloudCluster,
  CloudPolicies,
  CloudProvider,
  HeadIdentity,
  PreparationPlan,
  PreparationRequest,
  PreparedCloud,
} from './clouds.ts';
import type * as localModule from './local/provider.ts';
import type * as processModule from './process/provider.ts';

/**
 * A provider that Manta runs clusters on: what is known of it before any of its code is loaded, and how that is loaded.
 * Pure data and pure functions; `descriptors.ts` has a line for each.
 */
export type ProviderDescriptor = ThisMachineDescriptor | OwnHostsDescriptor | CloudDescriptor;

interface Described extends ProviderFacts {
  /** What one instance is, for a reader who chooses a provider. */
  readonly instances: string;
  /** For tests: messages do not offer it. @default false */
  readonly internal?: boolean;
  /** Throws for what is wrong in the provider's own part of a spec, where that can be told without loading it. */
  readonly check?: (spec: ClusterSpec) => void;
}

/** The environment of a command. */
export type CommandEnvironment = Readonly<Record<string, string | undefined>>;

export interface ThisMachineDescriptor extends Described {
  readonly kind: 'this-machine';
  readonly load: () => Promise<Pick<typeof processModule, 'ProcessProvider' | 'kindTag'>>;
}

export interface OwnHostsDescriptor extends Described {
  readonly kind: 'own-hosts';
  readonly load: () => Promise<Pick<typeof localModule, 'LocalProvider'>>;
}

export interface CloudDescriptor extends Described {
  readonly kind: 'cloud';
  readonly load: () => Promise<CloudModule>;
}

/** What the code of a cloud exports. A cloud has two sides: a laptop prepares, a head launches from what was prepared. */
export interface CloudModule {
  openCloud(client: CloudClient): CloudProvider;
  /** As what the head will ask. Throws where there is nothing to ask with, and for credentials that expire. */
  headIdentity(spec: ClusterSpec, env: CommandEnvironment): HeadIdentity | Promise<HeadIdentity>;
  /**
   * Finds or makes what the cluster needs before its first instance. Each step may be repeated, and finds what an earlier
   * one made. Absent: nothing is needed.
   */
  prepare?(request: PreparationRequest, signal: AbortSignal): Promise<PreparedCloud>;
  /**
   * Adds the head's own key to workers, once there is one, where instances take keys from the cloud alone. Returns what is
   * prepared then; undefined where launches let it in. Absent: they do.
   */
  admitHead?(request: PreparationRequest, publicKey: string, signal: AbortSignal): Promise<PreparedCloud | undefined>;
  /** The same look without one changing call. */
  planPreparation?(request: PreparationRequest, signal: AbortSignal): Promise<PreparationPlan>;
  /**
   * Every cluster of the client's name of which the cloud shows anything, whatever its id: for a machine that has the file
   * alone. Must be complete: throw rather than return a part. Absent: the cloud cannot tell.
   */
  clustersOf?(client: CloudClient, signal: AbortSignal): Promise<readonly CloudCluster[]>;
  /** What head and user must be allowed to do for this file. Absent: the cloud has no policies. */
  policies?(spec: ClusterSpec): CloudPolicies;
}
