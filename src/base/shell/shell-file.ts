import { readFileSync } from 'node:fs';
import { shellQuoted } from './shell-quote.ts';

/**
 * Programs for hosts stand in files beside the source that sends them: `.sh` is POSIX sh, `.bash` is bash.
 * `readShell(new URL('./name.sh', import.meta.url))` is called in this form only, at the top of a module, because the build
 * replaces the call with the text. Names are unique in the tree.
 */
export const readShell = (file: URL): string => shellText(readFileSync(file, 'utf8'));

/** The same for a script that users see, with its comments. */
export const readScript = (file: URL): string => readFileSync(file, 'utf8');

/** What is sent of a file: lines of comment stay behind. No string and no here-document in a file has such a line. */
export const shellText = (source: string): string => source.replaceAll(/^[ \t]*#.*\n/gm, '');

/** Set as variables in front of a program: true is `yes`; false and undefined are empty. */
export type ShellParameters = Readonly<Record<string, string | number | boolean | undefined>>;

/** A program with its parameters in front. `words`, where given, are its arguments, `"$@"`. */
export function shellProgram(program: string, parameters: ShellParameters, words?: readonly string[]): string {
  const lines = Object.entries(parameters).map(([name, value]) => `${name}=${valueText(value)}\n`);
  const list = words === undefined ? '' : `set -- ${words.map(shellQuoted).join(' ')}\n`;
  return `${lines.join('')}${list}${program}`;
}

/** The same as a command that runs in a shell of its own inside a larger text. */
export const shellCommand = (program: string, parameters: ShellParameters, words?: readonly string[]): string =>
  `(\n${shellProgram(program, parameters, words)})`;

function valueText(value: ShellParameters[string]): string {
  if (typeof value === 'boolean' || value === undefined) return value ? 'yes' : '';
  return shellQuoted(String(value));
}
