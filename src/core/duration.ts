import { ownValue } from '../base/own-value.ts';
import type { Duration } from '../base/time/clock.ts';

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** `90s`, `1h30m`, `2d`; a bare number counts seconds. Undefined when it is none. */
export function durationOf(text: string): Duration | undefined {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1_000;
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/gy))
    sum += Number(amount) * ownValue(units, unit!)!;
  return sum;
}

/** What a key of a cluster file holds as a length of time. Undefined where it holds none, or one of nothing. */
export function lengthOf(value: unknown): Duration | undefined {
  const length = typeof value === 'string' ? durationOf(value) : undefined;
  return length === undefined || length <= 0 ? undefined : length;
}

/** Text of a duration with its unit, as it stands in cluster files. */
export const durationPattern = '^(?:[0-9]+(?:\\.[0-9]+)?(?:ms|[smhdw]))+$';

/** In at most two units, to the second: `45s`, `1h30m`, `2d`. What it says, `durationOf` reads. */
export function durationWords(duration: Duration): string {
  const seconds = Math.max(0, Math.round(duration / 1_000));
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  if (first < 0) return '0s';
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount}${unit}`)
    .join('');
}
