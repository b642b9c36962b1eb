import { concerns, type Market } from './catalog.ts';
import type { QuotaName } from './errors.ts';
import type { CloudInstance } from './instance.ts';
import type { CapacityRule, Quotas } from './settings.ts';

/** Machines that the cloud still has for such a launch. */
export function roomFor(
  rules: readonly CapacityRule[],
  existing: readonly CloudInstance[],
  about: { readonly type: string; readonly zone: string; readonly market: Market },
): number {
  const rooms = rules
    .filter((rule) => concerns(rule, about))
    .map((rule) => {
      const used = existing.filter(({ order, zone, market }) =>
        concerns(rule, { type: order.machine_type, zone, market }),
      );
      return Math.max(0, rule.limit - used.length);
    });
  return Math.min(Number.POSITIVE_INFINITY, ...rooms);
}

/** Machines that the account may still have, and what limits it most. */
export function allowedCount(
  quotas: Quotas,
  existing: readonly CloudInstance[],
  asked: { readonly account: string; readonly market: Market; readonly cpus: number },
): { readonly count: number; readonly why: string; readonly quota: QuotaName } {
  const mine = existing.filter(({ account }) => account === asked.account);
  const cpus = mine.filter(({ market }) => market === asked.market).reduce((sum, each) => sum + each.cpus, 0);
  const quota = asked.market === 'spot' ? 'cpus_spot' : 'cpus_on_demand';
  const most = quotas[quota];
  const limits: { count: number; why: string; quota: QuotaName }[] = [
    {
      count: (quotas.instances ?? Number.POSITIVE_INFINITY) - mine.length,
      why: `a quota of ${quotas.instances} instances, of which ${mine.length} are there,`,
      quota: 'instances',
    },
    {
      // Some machines are not counted by their CPUs.
      count:
        asked.cpus === 0
          ? Number.POSITIVE_INFINITY
          : Math.floor(((most ?? Number.POSITIVE_INFINITY) - cpus) / asked.cpus),
      why: `a quota of ${most} CPUs (${asked.market}), of which ${cpus} are in use,`,
      quota,
    },
  ];
  return limits.reduce((least, each) => (each.count < least.count ? each : least));
}
