import type { ClusterSpec } from '../../../core/spec/cluster.ts';
import { holdsSecret } from '../../../core/spec/keys/key.ts';

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

function yamlText(value: unknown, depth: number): string {
  const indent = '  '.repeat(depth);
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return value
      .map((entry) => `${indent}- ${isNested(entry) ? yamlText(entry, depth + 1).trimStart() : scalarText(entry)}`)
      .join('\n');
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
    if (entries.length === 0) return '{}';
    return entries
      .map(
        ([key, entry]) =>
          `${indent}${scalarText(key)}:${isNested(entry) ? `\n${yamlText(entry, depth + 1)}` : ` ${scalarText(entry)}`}`,
      )
      .join('\n');
  }
  return scalarText(value);
}

const isNested = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0;

function scalarText(value: unknown): string {
  if (Array.isArray(value)) return '[]';
  if (typeof value === 'object' && value !== null) return '{}';
  if (typeof value !== 'string') return String(value);
  const plain =
    /^[A-Za-z_/~.$(-][^\n"'#]*$/.test(value) &&
    !/: |:$| $|^- |^-+$/.test(value) &&
    !/^(true|false|yes|no|on|off|null|y|n|~)$/i.test(value);
  return plain ? value : JSON.stringify(value);
}
