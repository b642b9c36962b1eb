import { ownValue } from '../../../base/own-value.ts';
import type { Plain, PlainMap } from '../cluster.ts';
import { pythonFacts, pythonFloat } from '../yaml/python.ts';

/**
 * The text that Python's `json.dumps` makes of a value: ", " and ": " between the parts, ASCII only, `1.0` for a float.
 * Ray's hashes of a config are made over this text, with sorted keys.
 */
export function pythonJson(value: Plain, options: { readonly sortKeys?: boolean } = {}): string {
  return write(value, options.sortKeys === true, false);
}

function write(value: Plain, sortKeys: boolean, float: boolean): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number')
    return float || !Number.isInteger(value) || Object.is(value, -0) ? pythonFloat(value) : BigInt(value).toString();
  if (value instanceof Date) return quote(String(value));
  const { floats } = pythonFacts(value);
  if (Array.isArray(value)) {
    return `[${value.map((item, index) => write(item as Plain, sortKeys, floats.has(index))).join(', ')}]`;
  }
  const keys = Object.keys(value);
  if (sortKeys) keys.sort(byCodePoint);
  return `{${keys.map((key) => `${quote(key)}: ${write(ownValue(value as PlainMap, key) as Plain, sortKeys, floats.has(key))}`).join(', ')}}`;
}

const quote = (text: string): string =>
  JSON.stringify(text).replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Python sorts by code point; code units put surrogate pairs before U+E000 to U+FFFF. */
function byCodePoint(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  for (let index = 0; index < Math.min(left.length, right.length); index += 1) {
    const difference = (left[index]?.codePointAt(0) ?? 0) - (right[index]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
