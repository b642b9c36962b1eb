import type { Duration } from '../../base/time/clock.ts';
import type { NodeTypeName } from '../instance.ts';
import type { Resources } from '../resources.ts';
import type { ScalingSpec, ScalingType } from '../scaling.ts';
import type { MantaSpec } from './manta.ts';
import type { ProviderKind } from './provider-facts.ts';

/** A value as YAML gives it. */
export type Plain =
  | null
  | boolean
  | number
  | bigint
  | string
  | Date
  | readonly Plain[]
  | { readonly [key: string]: Plain };
export type PlainMap = { readonly [key: string]: Plain };

/** A cluster: the resolved, fully defaulted `cluster.yaml`. The only form of it that the rest of Manta sees. */
export interface ClusterSpec extends ScalingSpec {
  readonly name: string;
  readonly provider: ProviderSpec;
  /** In the order of the file. */
  readonly nodeTypes: readonly NodeType[];
  readonly head: HeadSpec;
  readonly auth: AuthSpec;
  readonly files: FileSpec;
}

export interface ProviderSpec {
  /** As the file says. */
  readonly type: string;
  readonly kind: ProviderKind;
  /** Everything else under `provider` but `manta`, untouched: only the provider reads it. */
  readonly config: PlainMap;
  readonly manta: MantaSpec;
  /** The same in the words of the file, for `manta config show` alone. Absent: the file says nothing. */
  readonly mantaAsWritten?: PlainMap;
}

export interface NodeType extends ScalingType {
  readonly name: NodeTypeName;
  readonly resources: Resources;
  /**
   * False when the file does not give them: `resources` is then what the machine's name gives away, or empty, until the
   * provider is asked or the node reports them.
   */
  readonly resourcesKnown: boolean;
  /** Workers to start with when the cluster is made; they end when idle. Never under `minWorkers`. */
  readonly initialWorkers: number;
  /** `node_config`, untouched: only the provider reads it. */
  readonly launchConfig: PlainMap;
  /** What a worker of this type runs, with the overrides of the type taken in. */
  readonly worker: NodeCommands;
}

export interface HeadSpec extends NodeCommands {
  /** The head type's `launchConfig`, unless the file holds a `head_node` of its own. */
  readonly launchConfig: PlainMap;
}

/** What is run on a node to make it one, each list in order. */
export interface NodeCommands {
  /** On the host, before any container. */
  readonly initialization: readonly string[];
  /** In the container where there is one. */
  readonly setup: readonly string[];
  readonly start: readonly string[];
  /** Undefined: runs on the host itself. */
  readonly container?: ContainerSpec;
}

export interface ContainerSpec {
  readonly engine: 'docker' | 'podman';
  readonly image: string;
  readonly name: string;
  readonly pullBeforeRun: boolean;
  /** Verbatim and in order. */
  readonly runOptions: readonly string[];
  readonly detectGpuRuntime: boolean;
  readonly detectShmSize: boolean;
}

export interface AuthSpec {
  readonly user?: string;
  readonly privateKey?: string;
  readonly publicKey?: string;
  readonly proxyCommand?: string;
  /** The proxy command is given the instance's id in place of its address. */
  readonly proxyUsesNodeId: boolean;
}

export interface FileSpec {
  /** In the order of the file. */
  readonly mounts: readonly { readonly remote: string; readonly local: string }[];
  readonly clusterSynced: readonly string[];
  readonly syncContinuously: boolean;
  readonly exclude: readonly string[];
  readonly filter: readonly string[];
}

/** A duration given in minutes or seconds in the file. */
export const minutes = (value: number): Duration => value * 60_000;
export const seconds = (value: number): Duration => value * 1_000;
