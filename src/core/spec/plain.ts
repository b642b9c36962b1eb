import type { Plain, PlainMap } from './cluster.ts';
import { isMap } from './source.ts';

/** Values of a file that passed the checks, by what they are expected to be; what is something else is as good as absent. */

export const mapOf = (value: Plain | undefined): PlainMap => (isMap(value) ? value : {});

export const numberOf = (value: Plain | undefined): number | undefined =>
  typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;

export const isText = (value: Plain | undefined): value is string => typeof value === 'string' && value !== '';

export const textsOf = (value: Plain | undefined): readonly string[] =>
  Array.isArray(value) ? (value as readonly Plain[]).filter(isText) : [];
