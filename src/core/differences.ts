import { dig, isMap, type Json } from './kube/object.ts';

/** One value that differs: what is there, and what will be. */
export interface Difference {
  readonly path: string;
  readonly from: Json | undefined;
  readonly to: Json | undefined;
}

/** Where two values differ, as deep down as they have the same shape. Lists are compared by position. */
export function differencesOf(from: Json | undefined, to: Json | undefined, path: string): readonly Difference[] {
  if (isMap(from) && isMap(to))
    return [...new Set([...Object.keys(from), ...Object.keys(to)])].flatMap((key) =>
      differencesOf(dig(from, key), dig(to, key), `${path}.${key}`),
    );
  if (Array.isArray(from) && Array.isArray(to))
    return Array.from({ length: Math.max(from.length, to.length) }, (_, at) => at).flatMap((at) =>
      differencesOf(dig(from, at), dig(to, at), `${path}[${at}]`),
    );
  return from === to ? [] : [{ path, from, to }];
}
