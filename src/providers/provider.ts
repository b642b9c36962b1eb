import type { Instant } from '../base/time/clock.ts';
import type { Market, NodeTypeName } from '../core/instance.ts';
import type { Labels, Resources } from '../core/resources.ts';
import type { Closing } from './errors.ts';

/** A machine as its provider sees it. */
export interface ProviderInstance {
  /** The provider's own id; unique and never reused. */
  readonly id: string;
  /** The token of the launch that made it; ties it to the journal after a lost answer. */
  readonly launchToken: string;
  readonly type: NodeTypeName;
  readonly kind: 'head' | 'worker';
  readonly state: 'pending' | 'running' | 'stopping' | 'stopped';
  readonly zone?: string;
  readonly market?: Market;
  /** When it was launched, or was started last after it was stopped. */
  readonly launchedAt: Instant;
  readonly tags: Readonly<Record<string, string>>;
  /** Where SSH or the agent answers. */
  readonly address?: InstanceAddress;
  /** The provider said that it will take the machine away at this instant. */
  readonly preemptionAt?: Instant;
  /**
   * The provider accepted the instance and ended it before it ran. Such an instance is `stopping`, and listed for as long
   * as the provider shows it.
   */
  readonly failed?: LateRefusal;
  readonly slice?: SliceMember;
}

/** Each as soon as it is known. */
export interface InstanceAddress {
  /** As other instances of the cluster reach it: Ray, workers and mantad use this one. */
  readonly inside?: string;
  /** As machines elsewhere reach it, such as a laptop. Absent: only from inside. */
  readonly outside?: string;
}

/** Why an instance that was accepted never ran. It counts as a refused launch of its offer. */
export interface LateRefusal {
  readonly kind: 'no-capacity' | 'quota' | 'denied';
  /** In the provider's words. */
  readonly detail?: string;
  /** Of a quota. */
  readonly closes?: Closing;
}

/** One host of several that live and end together. */
export interface SliceMember {
  /** Shared by the members; unique among the cluster's slices, and never reused. */
  readonly id: string;
  /** From 0. */
  readonly index: number;
  /** How many members there are. */
  readonly of: number;
  /** What this member has beyond the resources of its node type: host 0 of a TPU slice has `TPU-v4-16-head`. */
  readonly resources?: Resources;
  /** Labels of its node beyond those of its type. */
  readonly labels?: Labels;
  /** What everything on it sees, in its container too. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface LaunchRequest {
  /** Fixed in the journal before the call. */
  readonly token: string;
  readonly type: NodeTypeName;
  /** Of instances, or of slices where `slice` is given. */
  readonly count: number;
  /** Whole slices of so many hosts. Each is given whole or not at all. Only a provider that has `slices` is asked so. */
  readonly slice?: { readonly hosts: number };
  readonly zone?: string;
  readonly market: Market;
  /** Set on the instances. `manta-launch-hash` is the launch hash: of what they are made with. */
  readonly tags: Readonly<Record<string, string>>;
}

/** What is told to an instance alone. What was heard is in the next list, as `preemptionAt`. */
export interface InstanceNotices {
  /** A short sh program for a worker, as the user who logs in. It prints a line `notice …` for each thing that it was told. */
  readonly program: string;
  /** `said`: a line that an instance printed, after its first word. One that cannot be read is ignored. */
  heard(id: string, said: string): void;
}

/** Where instances come from. Nine out of ten bugs of cluster launchers live behind these few calls: each sentence is tested. */
export interface Provider {
  /** It makes slices. Absent: the hosts of a slice are asked for as that many instances. */
  readonly slices?: true;

  /** What the provider tells an instance alone, and no list. Absent: nothing. */
  readonly notices?: InstanceNotices;

  /**
   * Every instance that carries this cluster's tag, in any state that can still cost money (stopped ones too).
   * Must be complete: throw rather than return part of the list. May lag behind `launch` and `terminate` by seconds.
   * An instance that was accepted and ended before it ran is listed with `failed`.
   */
  list(signal: AbortSignal): Promise<readonly ProviderInstance[]>;

  /**
   * Ask for `count` instances. The same `token` again never makes a second set: it returns what the first call made.
   * May give fewer than asked; throws NoCapacity, Quota, Throttled or Denied (providers/errors.ts) when it gave none.
   */
  launch(request: LaunchRequest, signal: AbortSignal): Promise<readonly ProviderInstance[]>;

  /**
   * Begin to end these instances. Those already gone are not an error. Returns when the provider has taken the order.
   * A slice of which one member is named is ended whole.
   */
  terminate(ids: readonly string[], signal: AbortSignal): Promise<void>;

  /** Set tags; others stay. Throws NotFound for an instance that is gone. */
  tag(id: string, tags: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void>;

  /**
   * Switch these instances off and keep their disks, which still cost money. `launch` starts stopped instances of the same
   * type and launch hash before it makes others; they then carry the new token. Absent: the provider cannot.
   */
  stop?(ids: readonly string[], signal: AbortSignal): Promise<void>;
}
