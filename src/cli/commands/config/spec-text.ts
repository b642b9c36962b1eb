import type { ClusterSpec } from '../../../core/spec/cluster.ts';
import { holdsSecret } from '../../../core/spec/keys/key.ts';
import { yamlText } from '../../render/yaml-text.ts';

/** A resolved value as JSON can hold it, with the values of keys that hold secrets hidden. */
function shownValue(value: unknown, key = ''): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((entry) => shownValue(entry, key));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, shownValue(entry, name)]));
  return typeof value === 'string' && value !== '' && holdsSecret(key) ? '***' : value;
}

/** The spec as it is shown: Manta's own keys in the words of the file. */
export function shownSpec({ provider, ...spec }: ClusterSpec): unknown {
  const { type, config, mantaAsWritten: manta } = provider;
  const { name, ...rest } = spec;
  return shownValue({ name, provider: { type, config, ...(manta && { manta }) }, ...rest });
}

/** The spec as text to read: YAML, with durations in words. */
export function specText(spec: ClusterSpec): string {
  return `${yamlText(withDurations(shownSpec(spec)), 0)}\n`;
}

function withDurations(value: unknown, key = ''): unknown {
  if (typeof value === 'number' && key === 'idleTimeout')
    return value % 60_000 === 0 ? `${value / 60_000} min` : `${value / 1000} s`;
  if (Array.isArray(value)) return value.map((entry) => withDurations(entry));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, withDurations(entry, name)]));
  return value;
}
