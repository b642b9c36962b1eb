import type { PlainMap, Plain } from './cluster.ts';
import type { Path, Position, Problem } from './problem.ts';

/** A file as read: its value exactly as PyYAML's `safe_load` gives it, and the position of every node. */
export interface Source {
  readonly file: string;
  readonly text: string;
  readonly value: Plain;
  /** Position of the value at a path; of the nearest ancestor when there is none. */
  at(path: Path): Position;
  /** Position of the key that leads to a path. */
  keyAt(path: Path): Position;
}

export type ReadResult = { readonly source: Source } | { readonly problems: readonly Problem[] };

export const isMap = (value: Plain | undefined): value is PlainMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
