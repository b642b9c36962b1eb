import type { Duration, Instant } from '../../base/time/clock.ts';
import type { Attempt, EndCause, Job, JobState, Retries } from './job.ts';
import { errorTypeOf, failureText, withoutOutput } from './messages.ts';

/** What follows the end of an attempt: another one at an instant, or the end of the job. */
export type AfterAttempt =
  | { readonly kind: 'again'; readonly at: Instant; readonly message: string }
  | { readonly kind: 'over'; readonly state: JobState; readonly message: string; readonly errorType?: string };

/** The budget that a cause draws on; causes without one would only repeat themselves. */
const budgets: Readonly<Partial<Record<EndCause, keyof Retries>>> = {
  failed: 'failed',
  'node-lost': 'nodeLost',
  preempted: 'preempted',
  'setup-failed': 'setupFailed',
  'start-failed': 'setupFailed',
};

/** Longest pause between two attempts. */
export const longestPause: Duration = 300_000;

/**
 * Decides what follows `attempt`, the last of `job`, which has ended. Each cause has its own budget: a preemption never
 * uses up the retries that are meant for the job's own failures. A job that was asked to stop is never run again.
 */
export function afterAttempt(job: Job, attempt: Attempt, now: Instant, lastLines?: string): AfterAttempt {
  const cause = attempt.cause ?? 'node-lost';
  if (cause === 'succeeded') return { kind: 'over', state: 'succeeded', message: failureText({ cause }) };
  if (cause === 'stopped' || job.stopAskedAt !== undefined) {
    return { kind: 'over', state: 'stopped', message: failureText({ cause: 'stopped' }) };
  }
  const text = failureText({ cause, exitCode: attempt.exitCode, message: attempt.message, lastLines });
  const budget = budgets[cause];
  const used = budget === undefined ? 0 : endedFor(job, budget);
  if (budget !== undefined && used <= job.retries[budget]) {
    return {
      kind: 'again',
      at: now + pauseBefore(cause, used),
      message: `${withoutOutput(text)}; attempt ${attempt.number + 1} follows`,
    };
  }
  const errorType = errorTypeOf(cause);
  return { kind: 'over', state: 'failed', message: text, ...(errorType && { errorType }) };
}

/** Attempts, this one included, that drew on the budget since the job was last retried by hand. */
function endedFor(job: Job, budget: keyof Retries): number {
  return job.attempts.filter(
    (attempt) =>
      attempt.number > (job.budgetFrom ?? 0) && attempt.cause !== undefined && budgets[attempt.cause] === budget,
  ).length;
}

/** A node that went away says nothing about the job: the first such retry follows at once. */
function pauseBefore(cause: EndCause, used: number): Duration {
  const doublings = cause === 'node-lost' || cause === 'preempted' ? used - 2 : used - 1;
  return doublings < 0 ? 0 : Math.min(longestPause, 1_000 * 2 ** doublings);
}
