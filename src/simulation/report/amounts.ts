import type { Duration } from '../../base/time/clock.ts';

/** `1h02m`, `9m48s`, `12.5s`, `240ms`. */
export function durationText(duration: Duration): string {
  if (duration < 1_000) return `${Math.round(duration)}ms`;
  const seconds = duration / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)}s`;
  const minutes = Math.floor(Math.round(seconds) / 60);
  if (minutes < 60) return `${minutes}m${String(Math.round(seconds) % 60).padStart(2, '0')}s`;
  return `${Math.floor(minutes / 60)}h${String(minutes % 60).padStart(2, '0')}m`;
}

/** As a clock shows time since the start: `01:02:03`. */
export function clockText(duration: Duration): string {
  const seconds = Math.floor(duration / 1_000);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${two(Math.floor(seconds / 3_600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

export const moneyText = (amount: number | undefined): string =>
  amount === undefined ? 'no prices' : amount.toFixed(2);

export const percentText = (share: number): string => `${Math.round(share * 100)} %`;

/** How `value` stands to `other`; 1 when both are nothing. */
export const ratio = (value: number, other: number): number =>
  other === 0 ? (value === 0 ? 1 : Number.POSITIVE_INFINITY) : value / other;

export const ratioText = (value: number): string => (Number.isFinite(value) ? `${value.toFixed(2)}x` : '-');

export const geometricMean = (values: readonly number[]): number =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / Math.max(1, values.length));
