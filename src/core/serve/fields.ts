import { ownValue } from '../../base/own-value.ts';
import { isMap, type Json } from '../kube/object.ts';
import { nearest } from '../spec/keys/nearest.ts';
import type { Path } from '../spec/problem.ts';
import { pythonFacts } from '../spec/yaml/python.ts';

export interface SchemaProblem {
  readonly severity: 'error' | 'warning';
  readonly path: Path;
  readonly says: string;
  readonly next: string;
}

/** What a value has to be; without a word it may be anything. */
export interface ServeField {
  /** What is wrong with a value, as in `must be a string`; `isFloat`: written as 2.0, which Python tells from 2. */
  readonly check?: (value: Json, isFloat: boolean) => string | undefined;
  readonly record?: ServeRecord;
  readonly item?: ServeField;
  readonly values?: ServeField;
  readonly isRequired?: true;
  readonly isNullable?: true;
}

/** A map with known keys. */
export interface ServeRecord {
  readonly fields: { readonly [key: string]: ServeField };
  /** Unknown keys are refused. */
  readonly isClosed?: true;
}

interface Bounds {
  readonly min?: number;
  readonly above?: number;
  readonly max?: number;
}

export const anything: ServeField = {};
export const text: ServeField = { check: (value) => (typeof value === 'string' ? undefined : 'must be a string') };
export const maybe = (field: ServeField): ServeField => ({ ...field, isNullable: true });
export const listOf = (item: ServeField): ServeField => ({ item });
export const mapOf = (values: ServeField): ServeField => ({ values });
export const oneOf = (words: readonly string[]): ServeField => ({
  check: (value) =>
    words.includes(value as string) ? undefined : `must be ${words.length === 1 ? '' : 'one of '}${words.join(', ')}`,
});

const truths = ['true', 'false', '0', '1', 'on', 'off', 't', 'f', 'y', 'n', 'yes', 'no'];
export const whether: ServeField = {
  check: (value) =>
    typeof value === 'boolean' ||
    value === 0 ||
    value === 1 ||
    (typeof value === 'string' && truths.includes(value.toLowerCase()))
      ? undefined
      : 'must be true or false',
};

export const number = (bounds: Bounds): ServeField => ({
  check: (value) => boundsProblem(numberIn(value), bounds, 'a number'),
});

export const int = (bounds: Bounds): ServeField => ({
  check: (value) => {
    // A text with an exponent is a number, and no whole one.
    const found = typeof value === 'string' && /[eE]/.test(value) ? undefined : numberIn(value);
    return boundsProblem(found !== undefined && Number.isInteger(found) ? found : undefined, bounds, 'a whole number');
  },
});

/** Numbers, and what pydantic reads as one. */
function numberIn(value: Json): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  if (
    typeof value !== 'string' ||
    !/^[-+]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][-+]?\d{1,4})?$/.test(value.trim())
  )
    return undefined;
  return Number(value);
}

function boundsProblem(value: number | undefined, { min, above, max }: Bounds, what: string): string | undefined {
  const limits = [
    min === undefined ? [] : [`from ${min}`],
    above === undefined ? [] : [`above ${above}`],
    max === undefined ? [] : [`up to ${max}`],
  ].flat();
  const isFine =
    value !== undefined &&
    (min === undefined || value >= min) &&
    (above === undefined || value > above) &&
    (max === undefined || value <= max);
  return isFine ? undefined : `must be ${what}${limits.length === 0 ? '' : ` ${limits.join(' ')}`}`;
}

/** Goes through a value by the record that it should be. */
export function problemsIn(value: Json, record: ServeRecord, path: Path): readonly SchemaProblem[] {
  if (!isMap(value)) return [wrong(path, value, 'must be a map')];
  const facts = pythonFacts(value);
  const missing = Object.entries(record.fields)
    .filter(([key, field]) => field.isRequired && ownValue(value, key) === undefined)
    .map(([key]): SchemaProblem => ({ severity: 'error', path, says: `${key} is missing`, next: `add ${key}` }));
  const found = Object.entries(value).flatMap(([key, each]) => {
    const field = ownValue(record.fields, key);
    return field === undefined
      ? [unknownKey([...path, key], key, record)]
      : fieldProblems(each, field, [...path, key], facts.floats.has(key));
  });
  return [...missing, ...found];
}

function fieldProblems(value: Json, field: ServeField, path: Path, isFloat: boolean): readonly SchemaProblem[] {
  if (value === null && field.isNullable) return [];
  const problem = field.check?.(value, isFloat);
  if (problem !== undefined) return [wrong(path, value, problem)];
  if (field.record !== undefined) return problemsIn(value, field.record, path);
  const { item, values } = field;
  if (item !== undefined) {
    if (!Array.isArray(value)) return [wrong(path, value, 'must be a list')];
    return (value as readonly Json[]).flatMap((each, at) => fieldProblems(each, item, [...path, at], false));
  }
  if (values === undefined) return [];
  if (!isMap(value)) return [wrong(path, value, 'must be a map')];
  return Object.entries(value).flatMap(([key, each]) => fieldProblems(each, values, [...path, key], false));
}

function unknownKey(path: Path, key: string, { fields, isClosed }: ServeRecord): SchemaProblem {
  const near = nearest(key, Object.keys(fields));
  const next = near === undefined ? `known keys: ${Object.keys(fields).join(', ')}` : `did you mean '${near}'?`;
  return isClosed
    ? { severity: 'error', path, says: `there is no '${key}' here`, next }
    : { severity: 'warning', path, says: `Serve drops '${key}' silently, because it does not know it`, next };
}

const longest = 60;

function wrong(path: Path, value: Json, problem: string): SchemaProblem {
  const shown = JSON.stringify(value);
  const at = path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .slice(1);
  // A problem that says more than what the value must be stands alone.
  if (!problem.startsWith('must '))
    return { severity: 'error', path, says: problem, next: 'see the documentation of Ray Serve config files' };
  return {
    severity: 'error',
    path,
    says: `${at || 'the config'} ${problem}, not ${shown.length > longest ? `${shown.slice(0, longest)}…` : shown}`,
    next: 'change the value',
  };
}
