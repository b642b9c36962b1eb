import { resolve } from 'node:path';
import type { GivenFile } from '../../state/load-spec.ts';
import type { Io } from '../command.ts';
import { readOpened, usable } from './load-file.ts';
import { isWebAddress, type OpenedFile } from './open-file.ts';

/** A cluster file with the values of the variables it names, so that the daemon needs neither this shell nor a `.env`. */
export function readGiven(opened: OpenedFile, io: Io): GivenFile {
  const { file, bytes, env, spec, source, problems } = usable(readOpened(opened));
  const text = Buffer.from(bytes).toString('utf8');
  const used = [...text.matchAll(/\$\{env:([A-Za-z_]\w*)\}/g)].map((match) => match[1]!);
  const path = file === '-' || isWebAddress(file) ? file : resolve(io.cwd, file);
  const values = Object.fromEntries(used.map((name) => [name, env[name] ?? '']));
  return { config: { path, text, env: values }, spec, source, warnings: problems };
}
