import type { Instant } from '../../base/time/clock.ts';
import { longestPause } from './after-attempt.ts';
import type { Job, JobState } from './job.ts';

/** What a job that is held waits for. */
export type Hold =
  | { readonly kind: 'none' }
  | { readonly kind: 'until'; readonly at: Instant }
  | { readonly kind: 'jobs'; readonly ids: readonly string[] }
  | { readonly kind: 'never'; readonly job: string; readonly state: JobState | 'deleted' };

/** What holds the job back. `stateOf` answers undefined for a job that does not exist any more. */
export function holdOf(job: Job, now: Instant, stateOf: (id: string) => JobState | undefined): Hold {
  for (const id of job.dependsOn) {
    const state = stateOf(id) ?? 'deleted';
    if (state === 'failed' || state === 'stopped' || state === 'deleted') return { kind: 'never', job: id, state };
  }
  const open = job.dependsOn.filter((id) => stateOf(id) !== 'succeeded');
  if (open.length > 0) return { kind: 'jobs', ids: open };
  const until = Math.max(job.startAfter ?? 0, pauseEnd(job, now));
  return until > now ? { kind: 'until', at: until } : { kind: 'none' };
}

/** The end of the pause between two attempts; never further away than the longest pause, whatever the clock did. */
function pauseEnd(job: Job, now: Instant): Instant {
  if (job.notBefore === undefined || job.cron !== undefined) return job.notBefore ?? 0;
  return job.notBefore - now > longestPause ? now : job.notBefore;
}

/** The copy of a scheduled job that one firing submits. */
export function firingOf(job: Job, now: Instant): Omit<Job, 'state' | 'attempts' | 'message'> {
  const {
    state: _state,
    attempts: _attempts,
    message: _message,
    cron: _cron,
    notBefore: _notBefore,
    firings,
    startAfter: _after,
    ...rest
  } = job;
  return { ...rest, id: `${job.id}-${(firings ?? 0) + 1}`, submittedAt: now };
}
