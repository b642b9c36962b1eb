import type { Duration, Instant } from '../../base/time/clock.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** How long ago, or in how long, in one unit: `12 s ago`, `in 3 min`. */
export function relativeTime(at: Instant, now: Instant): string {
  const away = Math.abs(now - at);
  if (away < 2 * second) return 'now';
  const text = oneUnit(away);
  return at <= now ? `${text} ago` : `in ${text}`;
}

function oneUnit(length: Duration): string {
  if (length < minute) return `${Math.floor(length / second)} s`;
  if (length < hour) return `${Math.floor(length / minute)} min`;
  if (length < 2 * day) return `${Math.floor(length / hour)} h`;
  return `${Math.floor(length / day)} d`;
}

/** A length of time in at most two units: `0.4 s`, `3 min 05 s`, `2 h 10 min`. */
export function durationText(length: Duration): string {
  const ms = Math.max(0, length);
  if (ms < 10 * second) return `${(ms / second).toFixed(1)} s`;
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < hour) return `${Math.floor(ms / minute)} min ${two((ms % minute) / second)} s`;
  if (ms < day) return `${Math.floor(ms / hour)} h ${two((ms % hour) / minute)} min`;
  return `${Math.floor(ms / day)} d ${Math.floor((ms % day) / hour)} h`;
}

/** Date and time of the reader's zone, to the second: `2026-11-15 12:04:05 UTC+1`. */
export function exactTime(at: Instant): string {
  const date = new Date(at);
  const offset = -date.getTimezoneOffset() / 60;
  const zone = offset === 0 ? 'UTC' : `UTC${offset > 0 ? '+' : '−'}${Math.abs(offset)}`;
  return `${dayText(date)} ${clockText(date)} ${zone}`;
}

/** Time of day, with the date in front when it is not that of `now`. */
export function timeOfDay(at: Instant, now: Instant): string {
  const date = new Date(at);
  const clock = clockText(date);
  return dayText(date) === dayText(new Date(now)) ? clock : `${dayText(date)} ${clock}`;
}

/** A time on an axis, in seconds, with seconds where the axis shows them (`step` under a minute), and the date at midnight. */
export function tickText(at: number, step: number): string {
  const date = new Date(at * 1000);
  const clock = clockText(date);
  if (clock === '00:00:00') return dayText(date).slice(5);
  return step < 60 ? clock : clock.slice(0, 5);
}

function dayText(date: Date): string {
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function clockText(date: Date): string {
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

function two(value: number): string {
  return String(Math.floor(value)).padStart(2, '0');
}
