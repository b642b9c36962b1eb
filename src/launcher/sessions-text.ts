/**
 * The programs behind sessions: commands that run in a tmux or screen of the head and outlast the one who started them.
 * A session is a folder on the head's host:
 *
 *     kind      tmux or screen           command   as the user wrote it
 *     work      what is run, in place    run       what runs it and writes down how it ended
 *     process   who runs it              log       what it has said
 *     started, ended                     seconds since 1970, by the head's clock
 *     rc        its exit code            stop      the cluster is to be ended after it
 */
import { shellQuoted } from '../base/shell-quote.ts';
import { nodeFolder } from '../bringup/node.ts';
import { sessionsFolder, stopRequestFile } from '../bringup/sessions-place.ts';
import { endFunction } from './exec-text.ts';

export type SessionKind = 'tmux' | 'screen';

/** How many that have ended are kept. */
const kept = 50;

const prelude = `umask 077; cd || exit 3
born() { { read -r s <"/proc/$1/stat"; } 2>/dev/null || return 1; set -- \${s##*) }; echo "\${20}"; }
boot() { b=; { read -r b </proc/sys/kernel/random/boot_id; } 2>/dev/null; echo "$b/$(born 1)"; }
alive() { IFS='|' read -r at pid since <"$1/process" && [ "$at" = "$(boot)" ] && [ "$since" = "$(born "$pid")" ]; } 2>/dev/null
`;

/**
 * Bash program of the window. The terminal inside is one of its own, so that what is kept is what the command said and no
 * more; where there is no `script` the output is a pipe. The shell that follows is as in Ray: the window stays to be looked
 * at. A window that is taken away ends all of it: a second process, which outlives it, sees to that (`script` is deaf to a
 * hang-up) and writes it down. A session counts as started when that one is there.
 */
const runner = (stopFile: string): string => `${prelude}
d=$1
finish() {
  date +%s >"$d/ended"; echo "$1" >"$d/rc.new" && mv "$d/rc.new" "$d/rc"
  if [ -e "$d/stop" ]; then printf '{"session":"%s","exitCode":%s,"at":%s}\\n' "\${d##*/}" "$1" "$(date +%s)" >${stopFile}.new && mv ${stopFile}.new ${stopFile}; fi
}
if [ -n "$2" ]; then
  echo "$(boot)|$2|$(born "$2")" >"$d/process"
  tail -f --pid="$2" /dev/null; [ ! -s "$d/rc" ] || exit
  ${endFunction} s=" $2 "; (end KILL); finish 129; exit
fi
date +%s >"$d/started"
setsid bash "$d/run" "$d" $$ </dev/null >/dev/null 2>&1 &
g=$!
trap : INT
umask 022
if script -qefc true /dev/null >/dev/null 2>&1 </dev/null; then script -qefc "/bin/sh '$d/work'" /dev/null | (umask 077; exec tee -ai "$d/log"); c=\${PIPESTATUS[0]}
else /bin/sh "$d/work" 2>&1 | (umask 077; exec tee -ai "$d/log"); c=\${PIPESTATUS[0]}; fi
umask 077; finish "$c"; umask 022; trap - INT
kill -s KILL -- -$g 2>/dev/null
echo "[exit code $c]"
exec "\${SHELL:-bash}"
`;

export interface SessionText {
  readonly cluster: string;
  readonly id: string;
  readonly kind: SessionKind;
  readonly command: string;
  /** Sh text that runs the command in place. */
  readonly work: string;
  readonly stop: boolean;
  /** More options for screen, as shell text of the user's. */
  readonly screenOptions?: string;
}

/** What a start that did not succeed says first. */
export type StartProblem = 'absent' | 'taken' | 'missing' | 'failed';

/** Starts a session under its id, once. Says `started`, or a problem and its words. */
export function startText(session: SessionText): string {
  const { cluster, id, kind, stop, screenOptions = '' } = session;
  const write = (name: string, text: string): string => `printf %s ${shellQuoted(text)} >"$d/${name}"`;
  const begin =
    kind === 'tmux'
      ? `tmux -u new-session -d -s ${id} -x 200 -y 50 bash "$d/run" "$d"`
      : `screen -U -L -dm -S ${id} ${screenOptions} bash "$d/run" "$d"`;
  return `${prelude}
[ -d ${nodeFolder(cluster)} ] || { echo absent; exit 0; }
command -v ${kind} >/dev/null 2>&1 || { echo missing; exit 0; }
f=$HOME/${sessionsFolder(cluster)}; d=$f/${id}
mkdir -p "$f" && mkdir "$d" 2>/dev/null || { [ -d "$d" ] && echo taken || echo failed 'the folder cannot be made'; exit 0; }
no() { rm -rf "$d"; echo failed "$1"; exit 0; }
{ ${write('work', session.work)} && ${write('command', session.command)} && ${write('kind', kind)} && ${write('run', runner(stopRequestFile(cluster)))} && : >"$d/log"; } || no 'the disk may be full'
${stop ? ': >"$d/stop"' : ''}
umask 022
e=$(unset TMUX STY; ${begin} 2>&1 </dev/null) || no "$e"
n=0; until [ -s "$d/process" ]; do n=$((n+1)); [ $n -gt 200 ] && no "\${e:-it did not begin}"; sleep 0.05; done
echo started
cd "$f" && n=0 && ls -1t | while read -r i; do
  [ -e "$i/rc" ] || continue
  n=$((n+1)); if [ $n -gt ${kept} ] && ! alive "$i"; then rm -rf "$i"; fi
done
exit 0
`;
}

/** Separators that no field holds. */
export const fieldEnd = '\u001f';
export const rowEnd = '\u001e';

/** One row a session: id, kind, started, ended, rc, whether its window is there, bytes of its log, command. */
export const listText = (cluster: string): string => `${prelude}
cd ${sessionsFolder(cluster)} 2>/dev/null || exit 0
field() { printf '%s\\037' "$(cat "$i/$1" 2>/dev/null)"; }
for i in *; do
  [ -s "$i/kind" ] || continue
  printf '%s\\037' "$i"; field kind; field started; field ended; field rc
  if alive "$i"; then printf 'open\\037'; else printf 'gone\\037'; fi
  printf '%s\\037' "$(wc -c <"$i/log" 2>/dev/null)"; cat "$i/command"; printf '\\036'
done
exit 0
`;

/** Prints the log from the start; with `follow` until the session has ended. Exits with the session's code then. */
export function logText(cluster: string, id: string, follow: boolean): string {
  const d = `~/${sessionsFolder(cluster)}/${id}`;
  if (!follow) return `cat ${d}/log`;
  return `${prelude}
d=${d}; o=0
while :; do
  over=; if [ -s "$d/rc" ]; then read -r over <"$d/rc"; elif ! alive "$d"; then over=1; fi
  s=$(($(wc -c <"$d/log")))
  if [ "$s" -gt "$o" ]; then tail -c +$((o+1)) "$d/log" | head -c $((s-o)); o=$s
  elif [ -n "$over" ]; then exit "$over"; else sleep 0.2; fi
done
`;
}
