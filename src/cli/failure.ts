import { inspect } from 'node:util';
import { MantaError } from '../base/errors.ts';
import { redact } from '../base/redact.ts';
import { cliErrors } from './errors.ts';
import type { Failure } from './render/renderer.ts';

/** Anything thrown, as an error that has a code. What was not thrown on purpose is a fault of Manta's own. */
export function toMantaError(thrown: unknown): MantaError {
  if (thrown instanceof MantaError) return thrown;
  return cliErrors.Internal({ what: oneLine(thrown) }, thrown);
}

/** How an error is shown. Causes come with `--verbose` only, stack traces only for faults of Manta's own. */
export function failureOf(error: MantaError, verbose: boolean): Failure {
  return {
    code: error.code,
    message: error.message,
    hint: error.hint,
    details: verbose ? causes(error, error.code === cliErrors.Internal.code) : [],
  };
}

function causes(error: MantaError, withStack: boolean): string[] {
  const lines: string[] = [];
  let cause: unknown = error.cause;
  for (let depth = 0; cause !== undefined && depth < 10; depth++) {
    const stack = withStack && cause instanceof Error ? cause.stack : undefined;
    lines.push(redact(`cause: ${stack ?? oneLine(cause)}`));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return lines;
}

function oneLine(thrown: unknown): string {
  if (!(thrown instanceof Error)) return inspect(thrown, { depth: 1, breakLength: Number.POSITIVE_INFINITY });
  const code = 'code' in thrown && typeof thrown.code === 'string' ? ` (${thrown.code})` : '';
  const message = thrown.message.split('\n')[0] ?? '';
  return message === '' ? thrown.name : `${message}${message.includes(code.trim()) ? '' : code}`;
}
