import type { Plain } from '../cluster.ts';
import type { Path } from '../problem.ts';
import { isMap } from '../source.ts';
import { RayConfigError, rayProblems } from './problems.ts';

/** A mapping of a config in the making. */
export type Mutable = Record<string, Plain>;

/** Whether Python takes a value for true. */
export function isTrue(value: Plain | undefined): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isMap(value)) return Object.keys(value).length > 0;
  return Number.isNaN(value) || Boolean(value);
}

/** The value as a mapping that may be changed: callers own the copy they work on. */
export function expectMap(value: Plain | undefined, path: Path, what: string): Mutable {
  if (isMap(value)) return value;
  throw new RayConfigError(rayProblems.shape, path, `${what} must be a mapping, found ${kindOf(value)}`);
}

export function kindOf(value: Plain | undefined): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a date';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'boolean') return `the boolean ${value}`;
  if (typeof value !== 'string') return `the number ${value}`;
  return `'${value.length > 40 ? `${value.slice(0, 40)}…` : value}'`;
}
