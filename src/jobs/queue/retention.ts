import type { Clock, Duration } from '../../base/time/clock.ts';
import { isOver, type Job } from '../../core/jobs/job.ts';
import type { LogStore } from '../logs/log-store.ts';
import { type PackageStore, packageName } from '../packages/packages.ts';
import { packageUris } from '../packages/runtime-env.ts';
import { memoryOf } from './job-memory.ts';
import type { JobStore } from './store.ts';

export interface RetentionLimits {
  /** Jobs that are over and kept. @default 10,000 */
  readonly finishedJobs?: number;
  /** Jobs that have been over for longer go. @default 30 days */
  readonly finishedFor?: Duration;
  /** Memory that jobs take that are over. @default 64 MiB */
  readonly finishedBytes?: number;
  /** Bytes of all output kept. @default 10 GiB */
  readonly logBytes?: number;
}

export interface RetentionOptions {
  readonly store: JobStore;
  readonly logs: LogStore;
  readonly packages: PackageStore;
  readonly clock: Clock;
  readonly limits: RetentionLimits;
}

/** Drops what the limits do not allow to be kept: old jobs with their output, old output, packages nobody needs. */
export async function sweep({ store, logs, packages, clock, limits }: RetentionOptions): Promise<void> {
  const chosen = surplus(store, clock.now(), limits);
  if (chosen.length > 0) {
    const gone = await store.change((transaction) => {
      // One that was retried meanwhile stays.
      const same = chosen.filter((job) => {
        const now = transaction.get(job.id);
        return now !== undefined && isOver(now.state) && now.endedAt === job.endedAt;
      });
      for (const job of same) transaction.remove(job.id);
      const [oldest, newest] = [same[0]?.id, same.at(-1)?.id];
      if (oldest !== undefined)
        transaction.fact('dropped', clock.now(), undefined, { jobs: same.length, oldest, newest });
      return same;
    });
    for (const job of gone) await logs.remove(job.id);
  }
  await logs.retain(limits.logBytes ?? 10 * 2 ** 30, () => store.jobs.keys());
  await packages.sweep(neededPackages(store));
}

/** Finished jobs beyond the limits, oldest first; one that a live job depends on stays. */
function surplus(store: JobStore, now: number, limits: RetentionLimits): Job[] {
  const needed = new Set([...store.live.values()].flatMap((job) => job.dependsOn));
  const finished = [...store.jobs.values()].filter((job) => isOver(job.state) && !needed.has(job.id));
  const newestFirst = finished.sort((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0));
  const most = {
    jobs: limits.finishedJobs ?? 10_000,
    age: limits.finishedFor ?? 30 * 86_400_000,
    bytes: limits.finishedBytes ?? 64 << 20,
  };
  let bytes = 0;
  return newestFirst
    .filter((job, place) => {
      bytes += memoryOf(job);
      return place >= most.jobs || bytes > most.bytes || now - (job.endedAt ?? now) > most.age;
    })
    .reverse();
}

/** `<owner>/<name>` of every package that a live job may still need. */
export function neededPackages(store: JobStore): Set<string> {
  return new Set(
    [...store.live.values()].flatMap((job) =>
      packageUris(job.runtimeEnv).map((uri) => `${job.user}/${packageName(uri)}`),
    ),
  );
}
