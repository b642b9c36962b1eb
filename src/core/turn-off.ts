import type { Duration, Instant } from '../base/time/clock.ts';
import { durationWords } from './duration.ts';
import type { Job } from './jobs/job.ts';
import type { MantaSpec } from './spec/manta.ts';

/** When a cluster is to end by itself. What is absent does not end it. */
export interface TurnOffTerms {
  /** `provider.manta.idle_shutdown` */
  readonly idleShutdown?: Duration;
  /** `provider.manta.max_lifetime` */
  readonly maxLifetime?: Duration;
  /** `up --until` and `--for` */
  readonly until?: Instant;
  /** `manta extend`: of all these nothing ends it before. */
  readonly keepUntil?: Instant;
}

export interface TurnOffFacts {
  readonly livesSince: Instant;
  /** Absent: something runs or waits, or nobody could say that nothing does. */
  readonly idleSince?: Instant;
  /** Somebody asked for it (`exec --stop`). */
  readonly asked?: { readonly by: string };
}

export type TurnOffReason =
  | { readonly kind: 'idle'; readonly after: Duration }
  | { readonly kind: 'lifetime'; readonly after: Duration }
  | { readonly kind: 'until'; readonly until: Instant }
  | { readonly kind: 'asked'; readonly by: string };

export interface TurnOff {
  readonly at: Instant;
  readonly because: TurnOffReason;
}

/** What the cluster file says of it. */
export const turnOffTerms = ({ idleShutdown, maxLifetime }: MantaSpec): TurnOffTerms => ({
  ...(idleShutdown !== undefined && { idleShutdown }),
  ...(maxLifetime !== undefined && { maxLifetime }),
});

/** When the cluster ends as things stand, and why: the first of its terms. Undefined while nothing ends it. */
export function turnOffOf(terms: TurnOffTerms, facts: TurnOffFacts, now: Instant): TurnOff | undefined {
  if (facts.asked) return { at: now, because: { kind: 'asked', by: facts.asked.by } };
  const { idleShutdown, maxLifetime, until, keepUntil = Number.NEGATIVE_INFINITY } = terms;
  const ends: TurnOff[] = [];
  if (until !== undefined) ends.push({ at: until, because: { kind: 'until', until } });
  if (maxLifetime !== undefined)
    ends.push({ at: facts.livesSince + maxLifetime, because: { kind: 'lifetime', after: maxLifetime } });
  if (idleShutdown !== undefined && facts.idleSince !== undefined)
    ends.push({ at: facts.idleSince + idleShutdown, because: { kind: 'idle', after: idleShutdown } });
  const put = ends.map(({ at, because }) => ({ at: Math.max(at, keepUntil), because }));
  return put.reduce<TurnOff | undefined>((first, end) => (first && first.at <= end.at ? first : end), undefined);
}

/** The `keepUntil` of a cluster that is to live longer by so much than it would at most, or from now on. Never less than it has. */
export function extendedBy(terms: TurnOffTerms, livesSince: Instant, by: Duration, now: Instant): Instant {
  const { idleShutdown: _, ...fixed } = terms;
  const end = turnOffOf(fixed, { livesSince }, now)?.at ?? now;
  return Math.max(end, now, terms.keepUntil ?? now) + by;
}

const longestNotice = 600_000;

/** From when on it is told that the cluster is about to end. A short term leaves half of itself. */
export function warnsFrom({ at, because }: TurnOff): Instant {
  if (because.kind === 'asked') return at;
  const notice = because.kind === 'until' ? longestNotice : Math.min(longestNotice, because.after / 2);
  return at - (because.kind === 'idle' ? Math.min(notice, longestNotice / 2) : notice);
}

export function reasonWords(because: TurnOffReason): string {
  switch (because.kind) {
    case 'idle':
      return `nothing ran or waited for ${durationWords(because.after)} (idle_shutdown)`;
    case 'lifetime':
      return `it has run for ${durationWords(because.after)} (max_lifetime)`;
    case 'until':
      return 'the time set with --until or --for has been reached';
    case 'asked':
      return `requested by ${because.by}`;
  }
}

/** What happens to the cluster; the words follow its name. */
export function turnOffText(terms: TurnOffTerms, end: TurnOff | undefined, busyWith: string, now: Instant): string {
  if (end === undefined)
    return `shuts down after ${durationWords(terms.idleShutdown ?? 0)} without work${busyWith === '' ? '' : `; now: ${busyWith}`}`;
  const kept = terms.keepUntil !== undefined && end.at === terms.keepUntil ? ', as extended' : '';
  const inTime = `shuts down in ${durationWords(end.at - now)}${kept}`;
  switch (end.because.kind) {
    case 'idle':
      return `${inTime} unless it gets work before (idle_shutdown ${durationWords(end.because.after)})`;
    case 'lifetime':
      return `${inTime} (max_lifetime ${durationWords(end.because.after)})`;
    case 'until':
      return `${inTime} (--until, --for)`;
    case 'asked':
      return `shuts down now: ${reasonWords(end.because)}`;
  }
}

/** Something that keeps a cluster from being idle. */
export interface Activity {
  readonly kind: 'job' | 'demand' | 'driver' | 'actor' | 'serve' | 'session' | 'command' | 'unknown';
  /** One of them, for people. */
  readonly what: string;
  readonly count: number;
}

/**
 * What of the queue keeps a cluster alive: all that runs, waits or is held for later. A schedule alone does only when it
 * fires within `soon`; otherwise a nightly job would keep a cluster for the whole day.
 */
export function jobActivity(jobs: Iterable<Job>, soon: Duration, now: Instant): readonly Activity[] {
  const counts = new Map<string, number>();
  for (const { state, cron, notBefore } of jobs) {
    if (state === 'succeeded' || state === 'failed' || state === 'stopped') continue;
    const isSchedule = state === 'held' && cron !== undefined;
    if (isSchedule && (notBefore ?? now) - now > soon) continue;
    const word = isSchedule ? 'due' : state === 'starting' || state === 'stopping' ? 'running' : state;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts].map(([state, count]) => ({
    kind: 'job',
    what: `${count === 1 ? 'job' : 'jobs'} ${state}`,
    count,
  }));
}

export const activityWords = (activities: readonly Activity[]): string =>
  activities.map(({ what, count }) => `${count} ${what}`).join(', ');

/** What is remembered of the looks at a cluster. */
export interface IdleMemory {
  readonly idleSince?: Instant;
  readonly lookedAt: Instant;
}

/** A pause between two looks in which something may have run unseen. */
export const longestBlindness: Duration = 120_000;

/** Adds one look. Idleness goes back to the first of the looks that found nothing, without a gap between them. */
export function afterLook(before: IdleMemory | undefined, busy: boolean, now: Instant): IdleMemory {
  if (busy) return { lookedAt: now };
  const gap = before === undefined ? Number.POSITIVE_INFINITY : now - before.lookedAt;
  const seamless = gap >= 0 && gap <= longestBlindness;
  return { idleSince: seamless ? (before?.idleSince ?? now) : now, lookedAt: now };
}
