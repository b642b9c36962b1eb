import { redact } from './redact.ts';

/**
 * Every failure a user can meet is declared once, in a table beside the layer that raises it:
 * a stable code, the exit code, what was wrong, and what to do next. Nothing else is thrown on purpose.
 */

export interface ErrorRecipe<Data> {
  /** Stable and documented in docs/errors.md; `MANTA_<AREA>_<WHAT>`. */
  code: string;
  /** Exit code of a command that ends with this error; docs/exit-codes.md. */
  exit: number;
  /** One sentence, lower case, no full stop, with the offending value in it. */
  message: (data: Data) => string;
  /** The next step. */
  hint?: (data: Data) => string | undefined;
}

export interface ErrorKind<Data> {
  readonly code: string;
  readonly exit: number;
  /** An error value to throw. `cause` is kept for `--verbose` and the logs. */
  (data: Data, cause?: unknown): MantaError;
  is(value: unknown): value is MantaError<Data>;
  /** How it was declared; docs/errors.md is made from it. */
  readonly recipe: ErrorRecipe<Data>;
}

export class MantaError<Data = unknown> extends Error {
  readonly code: string;
  readonly exit: number;
  readonly hint: string | undefined;
  readonly data: Data;

  constructor(recipe: ErrorRecipe<Data>, data: Data, cause?: unknown) {
    super(redact(recipe.message(data)), cause === undefined ? undefined : { cause });
    this.name = 'MantaError';
    this.code = recipe.code;
    this.exit = recipe.exit;
    const hint = recipe.hint?.(data);
    this.hint = hint === undefined ? undefined : redact(hint);
    this.data = data;
  }
}

export function defineError<Data = Record<string, never>>(recipe: ErrorRecipe<Data>): ErrorKind<Data> {
  const make = (data: Data, cause?: unknown): MantaError => new MantaError(recipe, data, cause);
  return Object.assign(make, {
    code: recipe.code,
    exit: recipe.exit,
    recipe,
    is: (value: unknown): value is MantaError<Data> => value instanceof MantaError && value.code === recipe.code,
  });
}

/** What a thrown value says, whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
