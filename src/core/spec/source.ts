import type { Plain, PlainMap } from './cluster.ts';
import type { Path, Position, Problem } from './problem.ts';

/** Part of a text, in UTF-16 code units; `end` is the first one behind it. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Where something stands in the text: its value, and the key that leads to it when it is in a mapping. */
export interface SourceSpan {
  readonly key?: Range;
  /**
   * From the first character of the value (its anchor or tag included) to behind its last one. Comments and blank lines
   * that follow are not part of it. Empty for a value that is not written (`key:`). An alias is the text `*name`.
   */
  readonly value: Range;
  /** The value is shared text: it is reached through an alias or a merge, and stands elsewhere too. */
  readonly shared: boolean;
}

/** A file as read: its value exactly as PyYAML's `safe_load` gives it, and the position of every node. */
export interface Source {
  readonly file: string;
  readonly text: string;
  readonly value: Plain;
  /** Position of the value at a path; of the nearest ancestor when there is none. */
  at(path: Path): Position;
  /** Position of the key that leads to a path. */
  keyAt(path: Path): Position;
  /** Text of the key and the value at a path; undefined when there is none. */
  rangeOf(path: Path): SourceSpan | undefined;
  /** Keys of the mapping at a path in the order of the file, which objects lose for keys such as `8`. */
  readonly keys: (path: Path) => readonly string[];
  /** Position of a character of the text. */
  positionOf(offset: number): Position;
}

/** Names in the order of the file, given as `written`; those that the file does not have come first. */
export function inFileOrder(names: readonly string[], written: readonly string[]): readonly string[] {
  const there = new Set(names);
  const known = new Set(written);
  return [...names.filter((name) => !known.has(name)), ...[...known].filter((name) => there.has(name))];
}

export type ReadResult = { readonly source: Source } | { readonly problems: readonly Problem[] };

export const isMap = (value: Plain | undefined): value is PlainMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
