import { ownValue } from '../../base/own-value.ts';
import { planErrors } from './errors.ts';

/** A JSON object whose fields are not checked yet. Reading one of the wrong kind throws MANTA_PLAN_BAD_REQUEST. */
export type Fields = { readonly [name: string]: unknown };

export function fieldsOf(value: unknown, path: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw planErrors.BadRequest({ path, problem: `expected an object, got ${describe(value)}` });
}

export function mapAt(fields: Fields, key: string, path: string): Fields {
  const value = ownValue(fields, key);
  return value === undefined || value === null ? {} : fieldsOf(value, join(path, key));
}

export function listAt(fields: Fields, key: string, path: string): readonly unknown[] {
  const value = ownValue(fields, key);
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw planErrors.BadRequest({ path: join(path, key), problem: `expected a list, got ${describe(value)}` });
}

export function textAt(fields: Fields, key: string, path: string, otherwise: string): string {
  const value = ownValue(fields, key);
  if (value === undefined || value === null) return otherwise;
  if (typeof value === 'string') return value;
  throw planErrors.BadRequest({ path: join(path, key), problem: `expected text, got ${describe(value)}` });
}

/** A number, or one in quotes as protobuf writes 64-bit ones. */
export function numberAt(fields: Fields, key: string, path: string, otherwise: number): number {
  return optionalNumberAt(fields, key, path) ?? otherwise;
}

export function optionalNumberAt(fields: Fields, key: string, path: string): number | undefined {
  const value = ownValue(fields, key);
  if (value === undefined || value === null) return undefined;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  throw planErrors.BadRequest({ path: join(path, key), problem: `expected a number, got ${describe(value)}` });
}

/** A whole number of things, small enough to be counted one by one. */
export function countAt(fields: Fields, key: string, path: string): number {
  const count = optionalNumberAt(fields, key, path) ?? 0;
  if (Number.isInteger(count) && Math.abs(count) <= mostThings) return count;
  throw planErrors.BadRequest({
    path: join(path, key),
    problem: `expected a whole number, got ${describe(ownValue(fields, key))}`,
  });
}

const mostThings = 10_000_000;

const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

function describe(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
