import { resolve } from 'node:path';
import { specErrors } from '../../core/spec/errors.ts';
import type { ClusterFile } from '../../head/state-folder.ts';
import type { Io } from '../command.ts';
import { isError, isWebAddress, loadFile } from './config-file.ts';

export type GivenFile = NonNullable<ClusterFile['config']>;

/**
 * A cluster file with the values of the variables it names, so that the daemon needs neither this shell nor a `.env`; and
 * the name that it gives to its cluster.
 */
export async function readNamed(path: string, io: Io): Promise<{ readonly name: string; readonly file: GivenFile }> {
  const loaded = await loadFile(path, io);
  const errors = loaded.problems.filter(isError);
  const [first] = errors;
  if (first !== undefined || loaded.spec === undefined)
    throw specErrors.Refused({
      file: path,
      errors: errors.length,
      first: first === undefined ? '' : `${first.at.line}:${first.at.column}: ${first.message}`,
      hint: first?.hint,
    });
  const text = Buffer.from(loaded.bytes).toString('utf8');
  const used = [...text.matchAll(/\$\{env:([A-Za-z_]\w*)\}/g)].map((match) => match[1] as string);
  return {
    name: loaded.spec.name,
    file: {
      path: path === '-' || isWebAddress(path) ? path : resolve(io.cwd, path),
      text,
      env: Object.fromEntries(used.map((name) => [name, loaded.env[name] ?? ''])),
    },
  };
}
