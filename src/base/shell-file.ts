import { readFileSync } from 'node:fs';
import { shellQuoted } from './shell-quote.ts';

/**
 * The text of a `.sh` file that stands beside a source: `readShell(new URL('./name.sh', import.meta.url))`. Called in this
 * form and no other, at the top of a module: the build puts the text in its place.
 */
export const readShell = (file: URL): string => readFileSync(file, 'utf8');

/** A program with its parameters in front of it, as a command that runs in a shell of its own inside a larger text. */
export function shellCommand(program: string, parameters: Readonly<Record<string, string>>): string {
  const lines = Object.entries(parameters).map(([name, value]) => `${name}=${shellQuoted(value)}\n`);
  return `(\n${lines.join('')}${program})`;
}
