/**
 * The texts that a command becomes on its way to a node. A text is one argument of `sh -c` on the host; whatever it holds
 * of the user is quoted here.
 */

import { shellQuoted } from '../base/shell-quote.ts';
import { nodeFolder, type Place } from '../bringup/node.ts';
import { environmentFile, madeByRayText } from '../bringup/shell-text.ts';

export interface PlacedCommand {
  readonly cluster: string;
  readonly place: Place;
  /** A terminal stands at both ends. Without one the streams are pipes, which carry bytes as they are. */
  readonly terminal: boolean;
  /** Stands in the words of the command's own processes and nowhere else: it is how they are found in a container. */
  readonly mark: string;
  /** Shell text, as the user wrote it; absent: a login shell. */
  readonly command?: string;
}

/**
 * Runs the command and exits with its code. A connection that is lost ends what it ran, as a terminal that goes away does;
 * what ignores that (`nohup`) or has left (`setsid`) stays. Where there is no node of the cluster it runs nothing.
 */
export function commandText(request: PlacedCommand): string {
  const { cluster, mark } = request;
  const node = `[ -d ~/${nodeFolder(cluster)} ] || ${madeByRayText(cluster)} || exit 255\n`;
  // 255 is also what a lost connection looks like: a command that ended with it leaves a note.
  const note = `if [ $r = 255 ]; then umask 077; : >~/${noteOf(cluster, mark)}; fi\n`;
  return `${node}${guardedText(request, note)}`;
}

/** As `commandText`, on a host that is known to have the node. `then` is run when the command has ended, its code in `r`. */
export function guardedText(request: PlacedCommand, then = ''): string {
  const watch = request.terminal ? terminalWatch(request) : pipeWatch(request);
  const [before, after] = watch === undefined ? ['', ''] : guard(watch);
  return `${before}${placedText(request)}\nr=$?\n${after}${then}exit $r`;
}

const noteOf = (cluster: string, mark: string): string => `${nodeFolder(cluster)}/exit-${mark}`;

/** Tells what an exit code of 255 was: `ended` by the command itself, `absent` where there is no node of the cluster. */
export const askFailureText = (cluster: string, mark: string): string =>
  `f=~/${noteOf(cluster, mark)}; if [ -e "$f" ]; then rm -f "$f"; echo ended; elif [ ! -d ~/${nodeFolder(cluster)} ] && ! ${madeByRayText(cluster)}; then echo absent; fi`;

/**
 * The command in the surroundings that Ray's own `exec` gives it: a login shell that believes to be interactive, so that
 * `.bashrc` is read to its end.
 */
function placedText(request: PlacedCommand): string {
  const { place, terminal } = request;
  const text = shellText(request);
  if (place.kind === 'host') return text;
  return `${place.engine} exec -i ${terminal ? '-t -e TERM ' : ''}${shellQuoted(place.name)} ${text}`;
}

function shellText({ cluster, place, terminal, mark, command }: PlacedCommand): string {
  const surroundings = `f=~/${environmentFile(cluster)}; if [ -r "$f" ]; then . "$f"; fi; unset f`;
  const numbers = 'export OMP_NUM_THREADS=1 PYTHONWARNINGS=ignore';
  // Typing needs a character set that knows more than ASCII; whoever has chosen one keeps it.
  const locale = terminal ? 'if [ -z "$LANG$LC_ALL$LC_CTYPE" ]; then export LANG=C.UTF-8; fi; ' : '';
  if (command === undefined)
    return `bash -c ${shellQuoted(`: ${mark}; ${locale}${surroundings}; ${numbers}; exec "\${SHELL:-bash}" -l`)}`;
  // An interactive bash without a terminal complains of that; it keeps quiet, and the command has the error stream alone.
  const errors = terminal ? '' : ' 2>&9 9>&-';
  const profile = `[ ! -f ~/.bashrc ] || source ~/.bashrc${errors}`;
  // In a shell below, because a login shell that is left by `exit` takes leave in words. It outlives Ctrl-C to tell the code.
  const run = `trap : INT; (eval ${shellQuoted(command)})${errors}`;
  const text = `bash --login -i -c ${shellQuoted(`: ${mark}; ${locale}${profile}; ${surroundings}; ${numbers}; ${run}`)}`;
  if (terminal) return text;
  return place.kind === 'host' ? `${text} 9>&2 2>/dev/null` : `sh -c ${shellQuoted(`exec ${text} 9>&2 2>/dev/null`)}`;
}

/**
 * A second process that ends what a lost connection would leave. It has a session of its own, so that one signal ends all
 * of it, however far it has come.
 */
const guard = (watch: string): readonly [before: string, after: string] => [
  `trap : INT\nw=; if command -v setsid >/dev/null; then setsid sh -c ${shellQuoted(watch)} manta-watch $$ & w=$!; fi\n`,
  'exec 2>/dev/null; [ -z "$w" ] || kill -s KILL -- -$w || { kill -s KILL $w; kill -s KILL -- -$w; }\n',
];

/** A terminal that goes away ends the shell behind it; only what runs in a container does not hear it. */
function terminalWatch({ place, mark }: PlacedCommand): string | undefined {
  if (place.kind === 'host') return undefined;
  return `exec </dev/null >/dev/null 2>&1; tail -f --pid=$1 /dev/null; ${hangUp(place, mark)}`;
}

/**
 * Without a terminal the only sign of a lost connection is that nobody reads the output any more. `tail` notices that by
 * itself and without asking again and again. The shell that would end the watch goes first, so as not to stop it halfway.
 */
function pipeWatch({ place, mark }: PlacedCommand): string {
  const session = 'read -r l </proc/$1/stat; kill -s KILL $1; set -- ${l##*) }; s=" $4 "';
  return `tail -f /dev/null 2>/dev/null; ${session}; ${hangUp(place, mark)}`;
}

/** Hang-up for all of the session, as from a terminal; after a while no longer a request. On the host `s` is known. */
function hangUp(place: Place, mark: string): string {
  const twice = `${endFunction} end HUP; sleep 2; end KILL`;
  if (place.kind === 'host') return twice;
  return `${place.engine} exec ${shellQuoted(place.name)} sh -c ${shellQuoted(`${findSessions(mark)}; ${twice}`)}`;
}

/** `end SIGNAL`: to every process of the sessions in `s`, but for those that ignore a hang-up. */
export const endFunction = `end() { for d in /proc/[0-9]*; do { read -r l <$d/stat; } 2>/dev/null || continue; g=$1; set -- \${l##*) }; p=$4; set -- $g; case $s in *" $p "*) ;; *) continue;; esac; case $(grep -s ^SigIgn: $d/status) in *[13579bdf]) continue;; esac; kill -$1 \${d#/proc/} 2>/dev/null; done; };`;

/** Sets `s` to the sessions that have the mark in the words of a process, but for the one that searches. */
const findSessions = (mark: string): string =>
  `read -r l </proc/self/stat; set -- \${l##*) }; m=$4; s=; for f in $(grep -ls ${mark} /proc/[0-9]*/cmdline); do { read -r l <\${f%cmdline}stat; } 2>/dev/null || continue; set -- \${l##*) }; [ "$4" = "$m" ] || s="$s $4 "; done`;
