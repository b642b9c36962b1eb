import type { HostResult } from '../host.ts';
import { readShell } from '../shell/shell-file.ts';
import { shellQuoted } from '../shell/shell-quote.ts';

/** One line without anything that a login shell other than sh would read in another way. */
const program = readShell(new URL('./put.sh', import.meta.url))
  .trim()
  .split(/\n+/)
  .join('; ');

/** Command line that writes its standard input to a file; it answers as `runMarked` reads it. */
export function putCommand(path: string, bytes: number, mode: number, mark: string): string {
  const words = ['/bin/sh', '-c', program, 'manta-put', path, mark, mode.toString(8).padStart(4, '0'), String(bytes)];
  return `exec ${words.map(shellQuoted).join(' ')}`;
}

/** Why it was not written, in the words of the machine. */
export function putProblem(result: HostResult): string {
  const said = result.stderr.trim().split('\n').at(-1) ?? '';
  return said.replace(/^.*?: (?:\d+: )?/, '') || `its length was wrong on arrival (code ${result.code})`;
}
