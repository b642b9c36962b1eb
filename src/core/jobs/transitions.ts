import type { Instant } from '../../base/time/clock.ts';
import { type AfterAttempt, afterAttempt } from './after-attempt.ts';
import { type Attempt, type EndCause, isOver, type Job } from './job.ts';
import { errorTypeOf, failureText, messages } from './messages.ts';

/** What an engine says of an attempt. */
export interface AttemptNews {
  readonly id: string;
  readonly state: 'waiting' | 'setting-up' | 'running' | 'ended';
  readonly node?: string;
  readonly submission?: string;
  readonly driver?: NonNullable<Attempt['driver']>;
  readonly startedAt?: Instant;
  readonly endedAt?: Instant;
  readonly cause?: EndCause;
  readonly exitCode?: number;
  readonly message?: string;
  /** The end of its output, for the words of a failure. */
  readonly lastLines?: string;
}

export type JobEvent =
  /** Nothing holds the job back any more. */
  | { readonly kind: 'release' }
  /** Its turn has come: fixes the id of the next attempt. */
  | { readonly kind: 'hand-over' }
  /** The engine has taken the attempt over. */
  | { readonly kind: 'accepted'; readonly attempt: string }
  | { readonly kind: 'news'; readonly news: AttemptNews }
  /** The environment could not be prepared before an engine was asked. */
  | { readonly kind: 'setup-failed'; readonly message: string }
  | { readonly kind: 'stop' }
  | { readonly kind: 'time-limit'; readonly attempt: string }
  /** It can never start: a dependency failed, or no node type is left that could hold it. */
  | { readonly kind: 'cannot-start'; readonly message: string; readonly errorType: string }
  /** By hand, after the end. */
  | { readonly kind: 'retry' }
  /** A schedule fires and will fire again at `next`; without one it is over. */
  | { readonly kind: 'fire'; readonly next?: Instant };

/** Why an event does not apply. */
export type TransitionRefusal =
  | 'already-over'
  | 'not-over'
  | 'not-held'
  | 'not-waiting'
  | 'not-handed-over'
  | 'unknown-attempt'
  | 'attempt-over'
  | 'not-a-schedule'
  | 'is-a-schedule';

export type Transition = { readonly job: Job } | { readonly refused: TransitionRefusal };

/** The job after the event, or why the event does not apply. Total: every event in every state has one answer. */
export function applyEvent(job: Job, event: JobEvent, now: Instant): Transition {
  switch (event.kind) {
    case 'release':
      if (job.state !== 'held') return refuse(isOver(job.state) ? 'already-over' : 'not-held');
      if (job.cron !== undefined) return refuse('is-a-schedule');
      return { job: { ...without(job, 'notBefore'), state: 'queued' } };
    case 'hand-over':
      if (job.state !== 'queued') return refuse(isOver(job.state) ? 'already-over' : 'not-waiting');
      return { job: { ...job, state: 'starting', attempts: [...job.attempts, nextAttempt(job)] } };
    case 'setup-failed':
      if (job.state !== 'queued') return refuse(isOver(job.state) ? 'already-over' : 'not-waiting');
      return withEnd(
        { ...job, attempts: [...job.attempts, nextAttempt(job)] },
        { cause: 'setup-failed', message: event.message, endedAt: now },
        now,
      );
    case 'accepted':
      return onAttempt(job, event.attempt, (attempt) =>
        attempt.accepted ? { job } : { job: withAttempt(job, { ...attempt, accepted: true }) },
      );
    case 'time-limit':
      return onAttempt(job, event.attempt, (attempt) =>
        attempt.endsFor ? { job } : { job: withAttempt(job, { ...attempt, endsFor: 'time-limit' }) },
      );
    case 'news':
      return onAttempt(job, event.news.id, (attempt) => onNews(job, attempt, event.news, now));
    case 'stop':
      return onStop(job, now);
    case 'cannot-start':
      if (job.state !== 'held' && job.state !== 'queued')
        return refuse(isOver(job.state) ? 'already-over' : 'not-waiting');
      return { job: { ...job, state: 'failed', message: event.message, errorType: event.errorType, endedAt: now } };
    case 'retry':
      if (!isOver(job.state)) return refuse('not-over');
      if (job.cron !== undefined) return refuse('is-a-schedule');
      return { job: again(job) };
    case 'fire':
      if (job.cron === undefined) return refuse('not-a-schedule');
      if (job.state !== 'held') return refuse('already-over');
      return { job: fired(job, event.next, now) };
  }
}

const refuse = (refused: TransitionRefusal): Transition => ({ refused });

function onStop(job: Job, now: Instant): Transition {
  if (isOver(job.state)) return refuse('already-over');
  if (job.state === 'stopping') return { job };
  if (job.state === 'held' || job.state === 'queued') {
    return { job: { ...job, state: 'stopped', message: messages.stopped, stopAskedAt: now, endedAt: now } };
  }
  return { job: { ...job, state: 'stopping', stopAskedAt: now } };
}

/** Only the last attempt of a job that has been handed over can change. */
function onAttempt(job: Job, id: string, change: (attempt: Attempt) => Transition): Transition {
  const attempt = job.attempts.at(-1);
  if (attempt?.id !== id) return refuse('unknown-attempt');
  if (attempt.cause !== undefined) return refuse('attempt-over');
  if (isOver(job.state)) return refuse('already-over');
  if (job.state === 'held' || job.state === 'queued') return refuse('not-handed-over');
  return change(attempt);
}

function onNews(job: Job, attempt: Attempt, news: AttemptNews, now: Instant): Transition {
  if (news.state === 'ended') {
    const end = {
      cause: news.cause ?? ('node-lost' as const),
      endedAt: news.endedAt ?? now,
      exitCode: news.exitCode,
      message: news.message,
    };
    const started = news.startedAt ?? attempt.startedAt;
    return withEnd(
      withAttempt(job, {
        ...attempt,
        accepted: true,
        ...placeOf(attempt, news),
        ...(started !== undefined && { startedAt: started }),
      }),
      end,
      now,
      news.lastLines,
    );
  }
  const place = placeOf(attempt, news);
  const runs = news.state === 'running';
  const startedAt = runs ? (attempt.startedAt ?? news.startedAt ?? now) : attempt.startedAt;
  const message = news.state === 'setting-up' && job.state === 'starting' ? (news.message ?? job.message) : job.message;
  const known =
    attempt.node === place.node && attempt.submission === place.submission && attempt.driver?.id === place.driver?.id;
  if (attempt.accepted && known && attempt.startedAt === startedAt && message === job.message) return { job };
  const next = withAttempt(job, {
    ...attempt,
    accepted: true,
    ...place,
    ...(startedAt !== undefined && { startedAt }),
  });
  if (!runs) return { job: { ...next, message } };
  const state = job.state === 'starting' ? ('running' as const) : job.state;
  return { job: { ...next, state, message: messages.running, startedAt: job.startedAt ?? startedAt ?? now } };
}

/** Where it is, and under which names. */
function placeOf(attempt: Attempt, news: AttemptNews): Pick<Attempt, 'node' | 'submission' | 'driver'> {
  const node = news.node || attempt.node;
  const submission = news.submission ?? attempt.submission;
  const driver = news.driver ?? attempt.driver;
  return { ...(node && { node }), ...(submission !== undefined && { submission }), ...(driver && { driver }) };
}

interface End {
  readonly cause: EndCause;
  readonly endedAt: Instant;
  readonly exitCode?: number | undefined;
  readonly message?: string | undefined;
}

/** Ends the last attempt and moves the job on to what follows it. */
function withEnd(job: Job, end: End, now: Instant, lastLines?: string): Transition {
  const attempt = job.attempts.at(-1) as Attempt;
  const cause = attempt.endsFor !== undefined && end.cause !== 'succeeded' ? attempt.endsFor : end.cause;
  const ended: Attempt = {
    ...attempt,
    cause,
    endedAt: end.endedAt,
    ...(end.exitCode !== undefined && { exitCode: end.exitCode }),
    ...(end.message !== undefined && { message: end.message }),
  };
  const next = withAttempt(job, ended);
  return { job: follow(next, ended, afterAttempt(next, ended, now, lastLines)) };
}

function follow(job: Job, attempt: Attempt, sequel: AfterAttempt): Job {
  if (sequel.kind === 'again') return { ...job, state: 'held', notBefore: sequel.at, message: sequel.message };
  const failure = sequel.errorType ?? (sequel.state === 'failed' ? errorTypeOf(attempt.cause ?? 'failed') : undefined);
  return {
    ...job,
    state: sequel.state,
    message: sequel.message,
    endedAt: attempt.endedAt ?? 0,
    ...(failure !== undefined && { errorType: failure }),
    ...(attempt.exitCode !== undefined && { exitCode: attempt.exitCode }),
  };
}

function again(job: Job): Job {
  const fresh = without(job, 'errorType', 'exitCode', 'startedAt', 'endedAt', 'stopAskedAt', 'notBefore');
  return { ...fresh, state: 'held', message: messages.waiting(job), budgetFrom: job.attempts.length };
}

function fired(job: Job, next: Instant | undefined, now: Instant): Job {
  const firings = (job.firings ?? 0) + 1;
  if (next !== undefined) return { ...job, firings, notBefore: next };
  return {
    ...without(job, 'notBefore'),
    firings,
    state: 'succeeded',
    message: failureText({ cause: 'succeeded' }),
    endedAt: now,
  };
}

/** `<job>.<n>`: the same after a crash, so that an engine can tell a repeated order from a new one. */
function nextAttempt(job: Job): Attempt {
  const number = job.attempts.length + 1;
  return { id: `${job.id}.${number}`, number };
}

const withAttempt = (job: Job, attempt: Attempt): Job => ({
  ...job,
  attempts: [...job.attempts.slice(0, -1), attempt],
});

/** Optional keys only: a copy without them. */
function without(
  job: Job,
  ...keys: ('errorType' | 'exitCode' | 'startedAt' | 'endedAt' | 'stopAskedAt' | 'notBefore')[]
): Job {
  const copy: { -readonly [Key in keyof Job]: Job[Key] } = { ...job };
  for (const key of keys) delete copy[key];
  return copy;
}
