import { durationOf } from '../../core/duration.ts';

/** A duration before or after `now`, or a date with a time. */
export function instantOf(text: string, now: number, direction: -1 | 1): number | undefined {
  const duration = /^\d+$/.test(text) ? undefined : durationOf(text);
  if (duration !== undefined) return Math.round(now + direction * duration);
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text.replace(' ', 'T')) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

/** `2026-01-31 12:34:56`, in this machine's time zone. */
export function localTime(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString();
  return `${local.slice(0, 10)} ${local.slice(11, 19)}`;
}

/** `12s`, `3m`, `5h`, `2d`. */
export function ageWords(duration: number): string {
  const seconds = Math.max(0, Math.round(duration / 1_000));
  if (seconds < 100) return `${seconds}s`;
  if (seconds < 6_000) return `${Math.round(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)}h` : `${Math.round(seconds / 86_400)}d`;
}
