import type { Labels, Resources } from '../../core/resources.ts';
import type { ContainerSpec, NodeCommands } from '../../core/spec/cluster.ts';
import type { NodeLease } from '../lease/lease.ts';

/** One node to be made on one host: everything that the steps need, and nothing that they would have to look up. */
export interface NodeOrder {
  readonly cluster: string;
  /** The provider's id of the instance; Ray shows it as the node's instance id. */
  readonly instance: string;
  readonly kind: 'head' | 'worker';
  readonly type: string;
  /** As the spec has them; setup holds each command once. */
  readonly commands: NodeCommands;
  readonly files: NodeFiles;
  /** Address of the head as workers reach it. */
  readonly headAddress: string;
  /** Given to Ray as RAY_OVERRIDE_RESOURCES and RAY_OVERRIDE_LABELS; absent where Ray looks for itself (own machines). */
  readonly resources?: Resources;
  readonly labels?: Labels;
  /** What all commands on it see, and its container: of a TPU slice, which host it is. */
  readonly environment?: Readonly<Record<string, string>>;
  /** `--use-login-shells` (Ray's default) or `--use-normal-shells`. */
  readonly loginShells: boolean;
  readonly usageStats: boolean;
  /** Ray's token. Absent: the cluster runs without, which the user has asked for in so many words. */
  readonly token?: string;
  /** Port on which Ray's dashboard listens on loopback. @default 8265 */
  readonly dashboardPort?: number;
  /** Of the head: how many workers there will be at most, where that is known. */
  readonly mostWorkers?: number;
  /** When its machine was started last, where machines are stopped and started again. */
  readonly startedAt?: number;
  /** Absent: the node needs nobody to stay alive, as the head does. */
  readonly lease?: NodeLease;
  /** Where the host keeps file mounts of the node's container; known once the host was asked. @default Ray's own place */
  readonly staging?: string;
}

/** What is copied to the node. Paths on this side are absolute and exist. */
export interface NodeFiles {
  readonly mounts: readonly { readonly remote: string; readonly local: string; readonly directory: boolean }[];
  /** Those too that do not exist now: a container is not another one when they come or go. @default the mounts */
  readonly mountable?: readonly { readonly remote: string; readonly directory: boolean }[];
  readonly exclude: readonly string[];
  readonly filter: readonly string[];
}

/** Where a command runs: on the host itself or in its container. */
export type CommandPlace =
  | { readonly kind: 'host' }
  | { readonly kind: 'container'; readonly engine: 'docker' | 'podman'; readonly name: string };

export const placeOf = (container: ContainerSpec | undefined): CommandPlace =>
  container ? { kind: 'container', engine: container.engine, name: container.name } : { kind: 'host' };

/** Folder of a cluster's node on its host, below the home of the user. Steps, record, token, `env.sh`. */
export const nodeFolder = (cluster: string): string => `.manta/nodes/${cluster}`;

export const stepsFolder = (cluster: string): string => `${nodeFolder(cluster)}/steps`;
