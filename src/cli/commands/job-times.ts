const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** `90s`, `1h30m`, `2d`; a bare number counts seconds. Milliseconds; undefined when it is none. */
export function durationOf(text: string): number | undefined {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1_000;
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g)) sum += Number(amount) * units[unit!]!;
  return sum;
}

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
