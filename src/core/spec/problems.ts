import type { Path, Position, Problem } from './problem.ts';

/** One way in which a file can be wrong or doubtful. `title`, `meaning` and `hint` are its entry in docs/errors.md. */
export interface ProblemKind<Data> {
  readonly code: string;
  readonly severity: Problem['severity'];
  readonly title: string;
  readonly meaning: string;
  readonly hint: string;
  /** One sentence, lower case, with the offending value in it. */
  readonly message: (data: Data) => string;
  /** A next step made for this very value; `hint` stands in where there is none. */
  readonly advise?: (data: Data) => string | undefined;
}

/** Where something was found: a path of the file and its position. */
export interface Spot {
  readonly at: Position;
  readonly path: Path;
}

export const report = <Data>(kind: ProblemKind<Data>, spot: Spot, data: Data): Problem => ({
  code: kind.code,
  severity: kind.severity,
  at: spot.at,
  path: spot.path,
  message: kind.message(data),
  hint: kind.advise?.(data) ?? kind.hint,
});

export const error = <Data>(what: string, kind: Omit<ProblemKind<Data>, 'code' | 'severity'>): ProblemKind<Data> => ({
  ...kind,
  code: `MANTA_SPEC_${what}`,
  severity: 'error',
});

export const warning = <Data>(what: string, kind: Omit<ProblemKind<Data>, 'code' | 'severity'>): ProblemKind<Data> => ({
  ...kind,
  code: `MANTA_SPEC_${what}`,
  severity: 'warning',
});

/** After this many problems nobody reads the advice, and a file full of mistakes is still refused quickly. */
export const adviceLimit = 200;

/** Names in a sentence: the first ones, and how many more there are. */
export function listed(names: readonly string[]): string {
  const most = 20;
  const more = names.length - most;
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** A path in the words of the file: `available_node_types.worker.min_workers`, `setup_commands[2]`. */
export const pathText = (path: Path): string =>
  path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
