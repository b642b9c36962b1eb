import type { Plain, PlainMap } from '../cluster.ts';

/**
 * What a collection knows beyond its JSON value, because Python tells `1.0` from `1` and the key `8` from `'8'`.
 * It travels with the collection, unseen by loops, spreads, comparison and JSON.
 */
interface PythonFacts {
  /** Where a whole number is a float. */
  readonly floats: ReadonlySet<string | number>;
  /** Keys that are not strings, as Python shows them: `8`, `True`, `None`. */
  readonly keys: ReadonlyMap<string, string>;
}

const facts: unique symbol = Symbol('python');
const none: PythonFacts = { floats: new Set(), keys: new Map() };

type Collection = PlainMap | readonly Plain[];

export function pythonFacts(collection: Collection): PythonFacts {
  return (collection as { [facts]?: PythonFacts })[facts] ?? none;
}

export function setPythonFacts(collection: Collection, found: PythonFacts): void {
  if (found.floats.size > 0 || found.keys.size > 0)
    Object.defineProperty(collection, facts, { value: found, configurable: true });
}

/** Sets an own property, `__proto__` too. */
export function setEntry(map: Record<string, Plain>, key: string, value: Plain): void {
  if (key === '__proto__')
    Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
  else map[key] = value;
}

/** A deep copy in which what was shared is shared again, as Python's `deepcopy` makes it. */
export function copyPlain<T extends Plain>(value: T, copies: Map<Plain, Plain> = new Map()): T {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const known = copies.get(value);
  if (known !== undefined) return known as T;
  const copy: Plain[] | Record<string, Plain> = Array.isArray(value) ? [] : {};
  copies.set(value, copy);
  if (Array.isArray(copy)) for (const item of value as readonly Plain[]) copy.push(copyPlain(item, copies));
  else for (const [key, item] of Object.entries(value as PlainMap)) setEntry(copy, key, copyPlain(item, copies));
  setPythonFacts(copy, pythonFacts(value));
  return copy as Plain as T;
}

/** How Python writes a float: with a point or an exponent, the latter from 1e16 on and below 1e-4. */
export function pythonFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  if (Object.is(value, -0)) return '-0.0';
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e16 || size < 1e-4)) {
    const [digits, exponent] = value.toExponential().split('e') as [string, string];
    return `${digits}e${exponent.charAt(0)}${exponent.slice(1).padStart(2, '0')}`;
  }
  const text = String(value);
  return text.includes('.') ? text : `${text}.0`;
}
