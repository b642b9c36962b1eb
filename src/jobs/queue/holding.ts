import type { EventSink } from '../../base/events.ts';
import type { Clock } from '../../base/time/clock.ts';
import { isOver, type Job } from '../../core/jobs/job.ts';
import { firingOf, type Hold, holdOf } from '../../core/jobs/schedule.ts';
import { applyEvent } from '../../core/jobs/transitions.ts';
import { jobEvents } from '../events.ts';
import type { AttemptKeeper } from './attempts.ts';
import { nextFiring } from './cron.ts';
import type { JobStore } from './store.ts';
import { newJob } from './submission.ts';

export interface HoldingDeps {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly attempts: Pick<AttemptKeeper, 'record'>;
}

/** Queues held jobs whose time has come or whose dependencies are done, fails those whose dependencies failed, fires schedules. */
export async function releaseHeld(deps: HoldingDeps): Promise<void> {
  const { store, clock } = deps;
  const now = clock.now();
  const stateOf = (id: string): Job['state'] | undefined => store.jobs.get(id)?.state;
  const held = [...store.live.values()].filter((job) => job.state === 'held');
  await Promise.all(held.map((job) => look(deps, job, holdOf(job, now, stateOf))));
}

async function look(deps: HoldingDeps, job: Job, hold: Hold): Promise<void> {
  if (hold.kind === 'never') {
    const message = `job '${hold.job}', which it depends on, ${hold.state === 'deleted' ? 'was deleted' : hold.state}`;
    const errorType = 'JOB_SUPERVISOR_ACTOR_START_FAILURE';
    await deps.attempts.record(job.id, { kind: 'cannot-start', message, errorType });
  } else if (hold.kind === 'none') {
    if (job.cron === undefined) await deps.attempts.record(job.id, { kind: 'release' });
    else await fire(deps, job, job.cron);
  }
}

/** Submits a copy; a firing whose predecessor is not over is passed over, so that copies do not pile up. */
async function fire({ store, clock, events }: HoldingDeps, job: Job, cron: string): Promise<void> {
  const now = clock.now();
  const next = nextFiring(cron, now);
  const previous = `${job.id}-${job.firings ?? 0}`;
  const skipped = await store.change((transaction) => {
    const schedule = transaction.get(job.id);
    if (schedule?.state !== 'held') return false;
    const last = transaction.get(previous);
    if (last && !isOver(last.state) && next !== undefined) {
      transaction.put({ ...schedule, notBefore: next });
      transaction.fact('firing-skipped', now, job.id, { previous });
      return true;
    }
    const result = applyEvent(schedule, { kind: 'fire', ...(next !== undefined && { next }) }, now);
    if ('refused' in result) return false;
    const copy = newJob(firingOf(schedule, now), now);
    transaction.put(result.job);
    if (!transaction.get(copy.id)) transaction.put(copy);
    transaction.fact('fired', now, job.id, { copy: copy.id });
    return false;
  });
  if (skipped) events.emit(jobEvents.firingSkipped, { job: job.id, previous });
}
