import type { Instant } from '../base/time/clock.ts';
import type { Labels, Resources } from './resources.ts';

export type InstanceId = string;
export type NodeTypeName = string;

/**
 * Where an instance stands. The names follow Ray's instance manager so that status text and tags agree with it;
 * `core/lifecycle.ts` holds the moves between them. `stopped`: its node has stopped. `machine-stopped`, which Ray does not
 * tell: its machine is switched off too, and kept.
 */
export type InstanceStatus =
  | 'queued'
  | 'requested'
  | 'allocated'
  | 'setting-up'
  | 'running'
  | 'drain-requested'
  | 'draining'
  | 'stopped'
  | 'machine-stopped'
  | 'terminating'
  | 'terminated'
  | 'launch-failed'
  | 'launch-timeout'
  | 'setup-failed'
  | 'terminate-failed';

/** `reserved`: capacity that the account has booked ahead. */
export type Market = 'on-demand' | 'spot' | 'reserved';

/** The node that the engine reports on an instance. */
export interface NodeView {
  readonly id: string;
  readonly total: Resources;
  readonly available: Resources;
  readonly labels: Labels;
  /** How long the engine has seen nothing on it; 0 while it is busy. */
  readonly idleFor: number;
}

/** One instance as seen at one instant: journal, provider and engine put together. */
export interface InstanceView {
  readonly id: InstanceId;
  readonly type: NodeTypeName;
  readonly kind: 'head' | 'worker';
  readonly status: InstanceStatus;
  /** When it was asked for; the launch order and the start of its bill. */
  readonly requestedAt: Instant;
  /** When it entered `status`. */
  readonly since: Instant;
  readonly zone?: string;
  readonly market?: Market;
  /** The machine, as its provider names it, once there is one. */
  readonly providerId?: string;
  /** The provider has announced to take the machine back, at this instant. */
  readonly takenBackAt?: Instant;
  /** Its end is under way, whatever its status: it takes no demand, and holds its place until it is gone. */
  readonly ending?: boolean;
  /** Present while the engine reports a node on it. */
  readonly node?: NodeView;
  /** Fingerprint of the launch configuration it was made with. */
  readonly launchHash?: string;
  /** Instances of one multi-host slice live and end together. */
  readonly slice?: string;
  /** What its node has, or will have, beyond the resources of its type. */
  readonly extra?: Resources;
  /** Nobody asked a provider for it: its node was added by hand. It takes work, stays, and counts in no limit. */
  readonly byHand?: boolean;
  /** A worker to which Ray's instance manager gave no kind; only the `ray` policy tells it from others. */
  readonly unmanaged?: boolean;
}
