import type { Duration, Instant } from '../../base/time/clock.ts';
import type { Resources } from '../resources.ts';
import type { Job } from './job.ts';

/** How much a user has had lately, in cost-seconds; older use counts for less. */
export interface Usage {
  readonly amount: number;
  readonly at: Instant;
}

export type UsageByUser = ReadonlyMap<string, Usage>;

/** After this long, use counts half. */
export const halfLife: Duration = 3_600_000;

/** What a second on these resources costs: the scarcest kind decides, and nothing is free. */
export function costOf(resources: Resources, bundles: readonly Resources[] = []): number {
  const gib = 2 ** 30;
  const one = (each: Resources): number =>
    Math.max(each['CPU'] ?? 0, 8 * (each['GPU'] ?? 0), (each['memory'] ?? 0) / (4 * gib));
  return Math.max(1, one(resources) + bundles.reduce((sum, bundle) => sum + one(bundle), 0));
}

/** Current use. A clock that went back adds nothing and takes nothing. */
export function decayed(usage: Usage | undefined, now: Instant): number {
  if (!usage) return 0;
  return usage.amount * 2 ** (-Math.max(0, now - usage.at) / halfLife);
}

/** Adds what an attempt has had. */
export function charge(
  usages: UsageByUser,
  user: string,
  job: Pick<Job, 'resources' | 'gang'>,
  ran: Duration,
  now: Instant,
): Map<string, Usage> {
  const added = costOf(job.resources, job.gang?.bundles) * (Math.max(0, ran) / 1_000);
  return new Map(usages).set(user, { amount: decayed(usages.get(user), now) + added, at: now });
}

/** Use of each user from what is known of recent attempts; how a restarted queue comes to the same order. */
export function usageOf(jobs: Iterable<Job>, now: Instant): Map<string, Usage> {
  const amounts = new Map<string, number>();
  for (const job of jobs) {
    for (const attempt of job.attempts) {
      if (attempt.startedAt === undefined || attempt.endedAt === undefined) continue;
      const cost =
        costOf(job.resources, job.gang?.bundles) * (Math.max(0, attempt.endedAt - attempt.startedAt) / 1_000);
      const counted = decayed({ amount: cost, at: attempt.endedAt }, now);
      amounts.set(job.user, (amounts.get(job.user) ?? 0) + counted);
    }
  }
  return new Map([...amounts].map(([user, amount]) => [user, { amount, at: now }]));
}
