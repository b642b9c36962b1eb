import { ownValue } from '../../base/own-value.ts';

/** What an API server answers, and what a manifest holds. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonMap = { readonly [key: string]: Json };

export const isMap = (value: Json | undefined): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What stands at a path; undefined where there is nothing, or something else on the way. */
export function dig(value: Json | undefined, ...path: readonly (string | number)[]): Json | undefined {
  let found = value;
  for (const part of path) {
    if (typeof part === 'number') found = Array.isArray(found) ? (found as readonly Json[])[part] : undefined;
    else found = isMap(found) ? ownValue(found, part) : undefined;
  }
  return found;
}

export function textAt(value: Json | undefined, ...path: readonly (string | number)[]): string | undefined {
  const found = dig(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

export function numberAt(value: Json | undefined, ...path: readonly (string | number)[]): number | undefined {
  const found = dig(value, ...path);
  return typeof found === 'number' ? found : undefined;
}

export function listAt(value: Json | undefined, ...path: readonly (string | number)[]): readonly Json[] {
  const found = dig(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** Names and values of the map at a path. */
export function entriesAt(
  value: Json | undefined,
  ...path: readonly (string | number)[]
): readonly (readonly [string, Json])[] {
  const found = dig(value, ...path);
  return isMap(found) ? Object.entries(found) : [];
}

export const nameOf = (object: Json | undefined): string => textAt(object, 'metadata', 'name') ?? '';
export const namespaceOf = (object: Json | undefined): string => textAt(object, 'metadata', 'namespace') ?? '';

/** A condition of an object's status. */
export const conditionOf = (object: Json | undefined, type: string): Json | undefined =>
  listAt(object, 'status', 'conditions').find((each) => textAt(each, 'type') === type);
