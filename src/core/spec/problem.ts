/** One-based, as editors count. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export type Path = readonly (string | number)[];

/** Something wrong or doubtful in a file. `error` means the file cannot be used as it is. */
export interface Problem {
  /** `MANTA_SPEC_…`, documented in docs/errors.md. */
  readonly code: string;
  readonly severity: 'error' | 'warning';
  readonly at: Position;
  /** Where in the tree, for tools. */
  readonly path: Path;
  readonly message: string;
  readonly hint?: string;
}
