import type { Instant } from '../base/clock.ts';
import type { Market, NodeTypeName } from '../core/instance.ts';

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
  readonly launchedAt: Instant;
  readonly tags: Readonly<Record<string, string>>;
  /** Where SSH or the agent answers, once known. */
  readonly address?: string;
  /** The provider said that it will take the machine away at this instant. */
  readonly preemptionAt?: Instant;
}

export interface LaunchRequest {
  /** Fixed in the journal before the call. */
  readonly token: string;
  readonly type: NodeTypeName;
  readonly count: number;
  readonly zone?: string;
  readonly market: Market;
  readonly tags: Readonly<Record<string, string>>;
}

/** Where instances come from. Nine out of ten bugs of cluster launchers live behind these few calls: each sentence is tested. */
export interface Provider {
  /**
   * Every instance that carries this cluster's tag, in any state that can still cost money (stopped ones too).
   * Must be complete: throw rather than return part of the list. May lag behind `launch` and `terminate` by seconds.
   */
  list(signal: AbortSignal): Promise<readonly ProviderInstance[]>;

  /**
   * Ask for `count` instances. The same `token` again never makes a second set: it returns what the first call made.
   * May give fewer than asked; throws NoCapacity, Quota, Throttled or Denied (providers/errors.ts) when it gave none.
   */
  launch(request: LaunchRequest, signal: AbortSignal): Promise<readonly ProviderInstance[]>;

  /** Begin to end these instances. Those already gone are not an error. Returns when the provider has taken the order. */
  terminate(ids: readonly string[], signal: AbortSignal): Promise<void>;

  /** Set tags; others stay. Throws NotFound for an instance that is gone. */
  tag(id: string, tags: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void>;
}
