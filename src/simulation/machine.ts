import type { Instant } from '../base/clock.ts';
import type { Market, NodeTypeName } from '../core/instance.ts';
import type { ProviderInstance } from '../providers/provider.ts';

/** A machine of the simulated cloud, with the instants at which it changed. */
export interface Machine {
  readonly id: string;
  readonly token: string;
  readonly type: NodeTypeName;
  readonly kind: 'head' | 'worker';
  readonly zone: string | undefined;
  readonly market: Market;
  readonly pricePerHour: number | undefined;
  readonly tags: Readonly<Record<string, string>>;
  readonly createdAt: Instant;
  /** Answers from then on; never, for a machine that does not boot. */
  readonly bootedAt: Instant;
  /** When the order to end it took effect. */
  stoppingAt: Instant;
  goneAt: Instant;
  noticeAt: Instant;
  preemptionAt: Instant | undefined;
}

export const never = Number.POSITIVE_INFINITY;

/** The machine as a list taken at `at` shows it; undefined when it is not in that list. */
export function asListed(machine: Machine, at: Instant): ProviderInstance | undefined {
  if (at < machine.createdAt || at >= machine.goneAt) return undefined;
  return {
    id: machine.id,
    launchToken: machine.token,
    type: machine.type,
    kind: machine.kind,
    state: at >= machine.stoppingAt ? 'stopping' : at >= machine.bootedAt ? 'running' : 'pending',
    ...(machine.zone === undefined ? {} : { zone: machine.zone }),
    market: machine.market,
    launchedAt: machine.createdAt,
    tags: machine.tags,
    ...(machine.preemptionAt !== undefined && at >= machine.noticeAt ? { preemptionAt: machine.preemptionAt } : {}),
  };
}
