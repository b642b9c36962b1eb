import type { Duration } from '../base/time/clock.ts';
import type { Market, NodeTypeName } from './instance.ts';
import type { Labels, Resources } from './resources.ts';

/** One way to get an instance of a type: a zone and a market, with its price when known. */
export interface Offer {
  readonly zone?: string;
  readonly market: Market;
  /** In the currency of the price list, per instance and hour. */
  readonly pricePerHour?: number;
  /** The same of one whose machine is stopped: of its disks. */
  readonly stoppedPerHour?: number;
}

/** A node type as far as scaling goes. */
export interface ScalingType {
  readonly name: NodeTypeName;
  /** What one node of it offers. */
  readonly resources: Resources;
  readonly labels: Labels;
  /** In instances: a slice counts with all of its hosts. */
  readonly minWorkers: number;
  readonly maxWorkers: number;
  /** Overrides the cluster's idle timeout. */
  readonly idleTimeout?: Duration;
  /** Higher wins among equals. @default 0 */
  readonly priority: number;
  /** Fingerprint of its launch configuration; instances made with another one are outdated. Empty: never outdated. */
  readonly launchHash: string;
  /** Instances in one unit: 1, or the hosts of a multi-host slice that live and end together. */
  readonly hostsPerSlice: number;
  /** What the first host of a slice has beyond `resources`, such as `TPU-v4-16-head`, by which work for a whole slice is placed. */
  readonly firstHost?: Resources;
  /** How long its provider may take from accepting an instance to running it. Absent: as long as is usual. */
  readonly allocationTimeout?: Duration;
  /** In order of preference; at least one. */
  readonly offers: readonly Offer[];
}

/** What the planner needs of a cluster's spec; `ClusterSpec` is one of these. */
export interface ScalingSpec {
  /** Instances of workers in the whole cluster, the head apart. Undefined: no limit. */
  readonly maxWorkers?: number;
  /** Undefined: idle nodes stay. */
  readonly idleTimeout?: Duration;
  /** `economic`: idle nodes go before their timeout where waiting costs more than coming back would. @default timeout */
  readonly idle?: 'timeout' | 'economic';
  /**
   * How long a pending instance that nothing needs is kept.
   * @default 30 s, 45 s once its setup has begun; with the `ray` policy forever
   */
  readonly pendingIdleTimeout?: Duration;
  /** How many instances may be pending, as a multiple of those running (never under 5). */
  readonly upscalingSpeed: number;
  /** In the order of the file: the last tie-break. */
  readonly nodeTypes: readonly ScalingType[];
  readonly headType: NodeTypeName;
  /** End workers whose launch configuration is outdated. */
  readonly replaceOutdated: boolean;
  /** Idle on-demand workers are stopped, and their machines kept for the next launch, where the provider can. @default false */
  readonly stopsIdle?: boolean;
}
