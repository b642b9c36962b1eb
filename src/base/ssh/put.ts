import type { HostResult } from '../host.ts';
import { shellQuoted } from '../shell-quote.ts';

/**
 * One line without anything that a login shell other than sh would read in another way. The length is checked: a lost
 * connection looks like the end of the file from there. What was put on that disk before is there too after a power cut: a
 * file may say of others that they are whole.
 */
const program = [
  'umask 077; printf "%s\\n" "$2"; printf "%s\\n" "$2" >&2; p=$1',
  'case $p in "~/"*) p=$HOME/${p#??};; esac',
  'd=${p%/*}; t=$p.$2.new; [ "$d" = "$p" ] || [ -d "$d/" ] || mkdir -p -- "$d"',
  'cat >"$t" && [ "$(wc -c <"$t")" -eq "$4" ] && chmod "$3" "$t" && { sync -f -- "$t" 2>/dev/null || sync; } && mv -f -- "$t" "$p"',
  'c=$?; [ "$c" != 0 ] || sync -- "$d" 2>/dev/null; [ "$c" = 0 ] || rm -f -- "$t"; printf "%s %s\\n" "$2" "$c"',
].join('; ');

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
