import type { Plain } from './cluster.ts';
import { isMap } from './source.ts';

/** Equal for equal values, whatever the order of their keys. Tells changed launch configurations apart; no secret is kept by it. */
export function fingerprint(value: Plain): string {
  let hash = 0xcbf29ce484222325n;
  for (const char of canonical(value)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(char.codePointAt(0) as number)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, '0');
}

function canonical(value: Plain): string {
  if (Array.isArray(value)) return `[${(value as readonly Plain[]).map(canonical).join(',')}]`;
  if (isMap(value)) {
    return `{${Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonical(value[key] as Plain)}`)
      .join(',')}}`;
  }
  return typeof value === 'string'
    ? JSON.stringify(value)
    : value instanceof Date
      ? value.toISOString()
      : String(value);
}
