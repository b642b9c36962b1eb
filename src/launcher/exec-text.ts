/**
 * The texts that a command becomes on its way to a node. A text is one argument of `sh -c` on the host; whatever it holds
 * of the user is quoted here.
 */
import { nodeFolder, type Place } from '../bringup/node.ts';

export interface RemoteCommand {
  readonly cluster: string;
  readonly place: Place;
  /** A terminal stands at both ends. Without one the streams are pipes, which carry bytes as they are. */
  readonly terminal: boolean;
  /** Stands in the process table of the command and nowhere else: it is how its processes are found again. */
  readonly mark: string;
  /** Shell text, as the user wrote it; absent: a login shell. */
  readonly command?: string;
}

/** One word for the shell, whatever is in it. */
export const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/**
 * Runs the command in the surroundings that Ray's own `exec` gives it: a login shell that believes to be interactive, so
 * that `.bashrc` is read to its end. Exits with the command's own code. A connection that is lost ends what it ran, as a
 * terminal that goes away does; what ignores that (`nohup`) or has left (`setsid`) stays.
 */
export function commandText(request: RemoteCommand): string {
  const { place, terminal } = request;
  const inner = shellText(request);
  const shell = place.kind === 'host' ? inner : containerText(place, inner, terminal);
  const guard = terminal ? terminalGuard(request) : pipeGuard(request);
  return `${guard.before}${shell}\nr=$?\n${guard.after}${rememberFailure(request)}exit $r`;
}

/** The shell that runs the command, on the host or in the container. */
function shellText({ cluster, place, terminal, mark, command }: RemoteCommand): string {
  const surroundings = `f=~/${nodeFolder(cluster)}/env.sh; if [ -r "$f" ]; then . "$f"; fi; unset f`;
  const numbers = 'export OMP_NUM_THREADS=1 PYTHONWARNINGS=ignore';
  // Typing needs a character set that knows more than ASCII; whoever has chosen one keeps it.
  const locale = 'if [ -z "$LANG$LC_ALL$LC_CTYPE" ]; then export LANG=C.UTF-8; fi';
  const typing = terminal ? `${locale}; ` : '';
  if (command === undefined) return shellOf(`: ${mark}; ${typing}${surroundings}; ${numbers}; exec "\${SHELL:-bash}" -l`, '');
  const text = `: ${mark}; ${typing}[ ! -f ~/.bashrc ] || source ~/.bashrc; ${surroundings}; ${numbers}; (${command}\n)`;
  if (terminal) return shellOf(text, '--login -i ');
  // An interactive bash without a terminal complains before it reads a word of this; the command has its own error stream.
  const quietly = `exec 2>&9 9>&-; ${text}`;
  const start = shellOf(quietly, '--login -i ');
  return place.kind === 'host' ? `${start} 9>&2 2>/dev/null` : `sh -c ${quote(`exec ${start} 9>&2 2>/dev/null`)}`;
}

const shellOf = (text: string, options: string): string => `bash ${options}-c ${quote(text)}`;

export function containerText(place: Place & { kind: 'container' }, text: string, terminal: boolean): string {
  return `${place.engine} exec -i ${terminal ? '-t -e TERM ' : ''}${quote(place.name)} ${text}`;
}

interface Guard {
  readonly before: string;
  readonly after: string;
}

/** A terminal hangs up by itself; only the process in a container does not hear it. */
function terminalGuard({ place, mark }: RemoteCommand): Guard {
  if (place.kind === 'host') return { before: '', after: '' };
  return { before: `trap ${quote(`trap '' HUP; ${hangUp(place, mark)}; exit 129`)} HUP\n`, after: '' };
}

/**
 * Without a terminal the only sign of a lost connection is that nobody reads the output any more. `tail` notices that by
 * itself and without asking again and again.
 */
function pipeGuard({ place, mark }: RemoteCommand): Guard {
  const watch = `trap '' HUP INT; trap 'kill $! 2>/dev/null; exit' TERM; tail -f /dev/null 2>/dev/null & wait $!; ${hangUp(place, mark)}`;
  return { before: `( ${watch} ) &\nw=$!\n`, after: 'kill $w 2>/dev/null; wait $w 2>/dev/null\n' };
}

/** Hang-up for all of it, as from a terminal; after a while no longer a request. */
function hangUp(place: Place, mark: string): string {
  const twice = 'end HUP; sleep 2; end KILL';
  if (place.kind === 'host') return `${endFunction} l=; read -r l </proc/$$/stat; set -- \${l##*) }; s=" $4 "; ${twice}`;
  const inside = `${endFunction} ${findSessions(mark)}; ${twice}`;
  return `${place.engine} exec ${quote(place.name)} sh -c ${quote(inside)}`;
}

/** Signals the processes of a command that runs now, from another connection. */
export function signalText(place: Place, mark: string, signal: 'INT' | 'TERM'): string {
  const text = `${endFunction} ${findSessions(mark)}; end ${signal}`;
  return place.kind === 'host' ? text : `${place.engine} exec ${quote(place.name)} sh -c ${quote(text)}`;
}

/** `end SIGNAL`: to every process of the sessions in `s`, but for those that ignore a hang-up. */
const endFunction = `end() { for d in /proc/[0-9]*; do { read -r l <$d/stat; } 2>/dev/null || continue; g=$1; set -- \${l##*) }; p=$4; set -- $g; case $s in *" $p "*) ;; *) continue;; esac; case $(grep -s ^SigIgn: $d/status) in *[13579bdf]) continue;; esac; kill -$1 \${d#/proc/} 2>/dev/null; done; };`;

/** Sets `s` to the sessions that have the mark in the words of a process, but for the one that searches. */
const findSessions = (mark: string): string =>
  `read -r l </proc/self/stat; set -- \${l##*) }; m=$4; s=; for f in $(grep -ls ${mark} /proc/[0-9]*/cmdline); do { read -r l <\${f%cmdline}stat; } 2>/dev/null || continue; set -- \${l##*) }; [ "$4" = "$m" ] || s="$s $4 "; done`;

/** 255 is also what a lost connection looks like: a command that ended with it leaves a note. */
const noteOf = (cluster: string, mark: string): string => `${nodeFolder(cluster)}/exit-${mark}`;

function rememberFailure({ cluster, mark }: RemoteCommand): string {
  return `if [ $r = 255 ]; then umask 077; mkdir -p ~/${nodeFolder(cluster)}; : >~/${noteOf(cluster, mark)}; fi\n`;
}

/** Prints `ended` when the command itself came to 255, and takes its note away. */
export const askFailureText = (cluster: string, mark: string): string =>
  `f=~/${noteOf(cluster, mark)}; if [ -e "$f" ]; then rm -f "$f"; echo ended; fi`;
