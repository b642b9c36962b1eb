import { MantaError } from '../../base/errors.ts';
import type { Path } from '../../core/spec/problem.ts';
import type { GivenFile } from '../../state/load-spec.ts';

/**
 * Waits for work that finds out more about a cluster file than can be told without asking a cloud. An error whose data has a
 * path of the file as `at` begins with `file:line:column`, as what `manta config check` says does.
 */
export async function placingErrors<Value>(file: GivenFile, work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof MantaError ? placed(file, error) : error;
  }
}

/** The same error, with its place in the file. */
export function placed(file: GivenFile, error: MantaError): MantaError {
  const { code, exit, data, message, hint, cause } = error;
  const path = pathOf(data);
  if (path === undefined) return error;
  const { line, column } = file.source.at(path);
  const whole = `${file.config.path}:${line}:${column}: ${message}`;
  return new MantaError({ code, exit, message: () => whole, hint: () => hint }, data, cause);
}

function pathOf(data: unknown): Path | undefined {
  const { at } = (data ?? {}) as { readonly at?: unknown };
  const isPath = Array.isArray(at) && at.every((part) => typeof part === 'string' || typeof part === 'number');
  return isPath ? at : undefined;
}
