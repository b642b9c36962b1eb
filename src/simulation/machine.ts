import type { Duration, Instant } from '../base/time/clock.ts';
import type { Market, NodeTypeName } from '../core/instance.ts';
import type { LateRefusal, ProviderInstance, SliceMember } from '../providers/provider.ts';

/** A machine of the simulated cloud, with the instants at which it changed. */
export interface SimulatedMachine {
  readonly id: string;
  /** Of the launch that made it, or started it again. */
  token: string;
  readonly type: NodeTypeName;
  readonly kind: 'head' | 'worker';
  readonly zone: string | undefined;
  readonly market: Market;
  readonly pricePerHour: number | undefined;
  readonly tags: Readonly<Record<string, string>>;
  readonly createdAt: Instant;
  /** Answers from then on; never, for a machine that does not boot. */
  bootedAt: Instant;
  /** Switched off since then, and kept. */
  offAt: Instant;
  /** What it was before it was started again, the last one last. */
  readonly before: FormerLife[];
  /** It was accepted and ends before it boots: why. */
  failed: LateRefusal | undefined;
  readonly slice: SliceMember | undefined;
  /** When the order to end it took effect. */
  stoppingAt: Instant;
  goneAt: Instant;
  noticeAt: Instant;
  preemptionAt: Instant | undefined;
}

/** A machine until it was started again. */
export interface FormerLife {
  readonly token: string;
  readonly bootedAt: Instant;
  readonly offAt: Instant;
  readonly until: Instant;
}

export const never = Number.POSITIVE_INFINITY;

/** The machine as a list taken at `at` shows it; undefined when it is not in that list. */
export function asListed(machine: SimulatedMachine, at: Instant): ProviderInstance | undefined {
  if (at < machine.createdAt || at >= machine.goneAt) return undefined;
  const { token, bootedAt, offAt } = machine.before.find(({ until }) => at < until) ?? machine;
  const ending = at >= machine.stoppingAt;
  return {
    id: machine.id,
    launchToken: token,
    type: machine.type,
    kind: machine.kind,
    state: ending ? 'stopping' : at >= offAt ? 'stopped' : at >= bootedAt ? 'running' : 'pending',
    ...(machine.zone === undefined ? {} : { zone: machine.zone }),
    market: machine.market,
    launchedAt: machine.createdAt,
    tags: machine.tags,
    ...(ending && machine.failed !== undefined ? { failed: machine.failed } : {}),
    ...(machine.slice === undefined ? {} : { slice: machine.slice }),
    ...(machine.preemptionAt !== undefined && at >= machine.noticeAt ? { preemptionAt: machine.preemptionAt } : {}),
  };
}

/** How long it was switched off until `now`, though it existed. */
export function offTime({ before, offAt }: SimulatedMachine, now: Instant): Duration {
  const past = before.reduce((sum, life) => sum + Math.max(0, life.until - life.offAt), 0);
  return past + Math.max(0, now - offAt);
}
