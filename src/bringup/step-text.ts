import { shellQuoted } from '../base/shell-quote.ts';

/**
 * The sh programs behind steps. A step is a folder:
 *
 *     program   what is run               output    what it has said, then its mark and exit code
 *     process   who runs it               rc        its exit code, written once
 *     mark      in its output and in the environment of all its processes
 *     ended     somebody has ended it, or forbids that it begins
 *     reserve   room for `rc` on a disk that the step itself has filled
 */

/** What a follower says behind the mark when there is no exit code. */
export type Fate = 'full' | 'ended' | 'reboot' | 'killed' | 'never' | 'gone';

const prelude = `mask=$(umask); umask 077; cd || exit 3
nap() { sleep 0.05 2>/dev/null || sleep 1; }
born() {
  r=
  if [ -r /proc/self/stat ]; then
    { read -r r <"/proc/$1/stat"; } 2>/dev/null || return 1
    set -- \${r##*) }; r=; [ "$1" != Z ] && r=\${20}
  else r=$(ps -o lstart= -p "$1"); fi
}
boot() { b=; { read -r b </proc/sys/kernel/random/boot_id; } 2>/dev/null; born 1; r=$b/$r; }
known() { IFS='|' read -r at pid since <"$1/process"; } 2>/dev/null
alive() { known "$1" && boot && [ "$at" = "$r" ] && born "$pid" && [ "$since" = "$r" ]; }
`;

/**
 * Runs the program and writes down how it ended, whatever becomes of those who follow. Arguments: folder, shell, mark, and
 * the mask of the user's own that the program has for the files it makes.
 */
const runner = `${prelude}
d=$1
boot; at=$r; born $$; echo "$at|$$|$r" >"$d/process"
[ -e "$d/ended" ] && exit
(umask "$4"; exec "$2" "$d/program") </dev/null >>"$d/output" 2>&1
c=$?
n=0; until echo "$c" >"$d/rc"; do rm -f "$d/reserve"; n=$((n+1)); [ $n -gt 20 ] && exit; sleep 1; done
printf '%s %s\\n' "$3" "$c" >>"$d/output"
: >"$d/reserve"
`;

/** More than any cluster file has commands: one that is done must be found to be so when a bring-up is taken up again. */
const keptSteps = 100;

export interface StepText {
  readonly folder: string;
  readonly id: string;
  readonly program: string;
  readonly shell: 'bash' | 'sh';
}

/**
 * Sh function that starts a program which lives on in a session of its own. What a shell sends to the background without
 * job control ignores SIGINT for good, and with it all that Ray starts: its `cancel` would do nothing.
 */
const leaveText = `leave() {
  if setsid -f true 2>/dev/null; then setsid -f "$@"
  elif perl -MPOSIX=setsid -e 1 2>/dev/null; then perl -MPOSIX=setsid -e 'exit if fork; setsid(); exec @ARGV' -- "$@"
  else (trap '' HUP; "$@" &)
  fi
} </dev/null >/dev/null 2>&1
`;

/** Starts the step unless it was claimed before, and follows its output from an offset. */
export function startAndFollow(step: StepText, mark: string, offset: number): string {
  return `${prelude}${leaveText}
f=${shellQuoted(step.folder)}; d=$f/${shellQuoted(step.id)}; w=attached
text=${shellQuoted(step.program)}
run=${shellQuoted(runner)}
no() { echo "$1" >&2; dd if=/dev/zero of="$f/.probe" bs=16384 count=1 >/dev/null; rm -rf "$f/.probe" "$d"; exit 3; }
[ -d "$f" ] || mkdir -p "$f" || no 'no folder for steps'
if mkdir "$d" 2>/dev/null; then
  w=started
  { printf %s "$text" >"$d/program" && printf %s "$run" >"$d/run" && echo ${mark} >"$d/mark" && : >"$d/output" &&
    printf %16384s '' >"$d/reserve"; } || no 'the step cannot be written down'
  (MANTA_STEP=${mark}; export MANTA_STEP; leave /bin/sh "$d/run" "$d" ${step.shell} ${mark} "$mask")
  n=0; until known "$d" && [ -n "$since" ] || [ $n -ge 500 ]; do sleep 0.01 2>/dev/null || sleep 1; n=$((n+1)); done
  set -- "$f"/*/
  if [ $# -gt ${keptSteps + 5} ]; then
    set -- $(ls -1t "$f"); shift ${keptSteps}
    for i do if [ -s "$f/$i/rc" ] || ! (alive "$f/$i"); then rm -rf "$f/$i"; fi; done
  fi
elif [ ! -d "$d" ]; then mkdir "$d"; no 'no folder for the step'
fi
${follow(offset)}`;
}

/** Follows a step that is known to have been started. */
export function followOnly(step: Pick<StepText, 'folder' | 'id'>, offset: number): string {
  return `${prelude}
d=${shellQuoted(step.folder)}/${shellQuoted(step.id)}; w=attached
if [ ! -d "$d" ]; then echo "attached -"; echo "- gone"; exit 0; fi
${follow(offset)}`;
}

/**
 * Says `started` or `attached` and the mark, then the output from the offset on, then mark and outcome. A `tail` that
 * knows no `--pid` refuses before it has said anything.
 */
const follow = (offset: number): string => `o=${offset}
{ read -r m <"$d/mark"; } 2>/dev/null
n=0; while [ -z "$m" ] && [ ! -e "$d/ended" ] && [ $n -lt 100 ]; do nap; n=$((n+1)); { read -r m <"$d/mark"; } 2>/dev/null; done
echo "$w \${m:--}"
if [ $w = attached ]; then
  n=0; until [ -s "$d/process" ] || [ -e "$d/ended" ] || [ $n -ge 100 ]; do nap; n=$((n+1)); done
  alive "$d" || pid=
fi
by_hand() {
  while kill -0 "$pid" 2>/dev/null; do
    s=$(wc -c <"$d/output"); s=$((s))
    if [ "$s" -gt "$o" ]; then tail -c +$((o+1)) "$d/output" | head -c $((s-o)); o=$s; else sleep 0.2 2>/dev/null || sleep 1; fi
  done
  tail -c +$((o+1)) "$d/output"
}
if [ -s "$d/rc" ] || [ -z "$pid" ]; then [ -e "$d/output" ] && tail -c +$((o+1)) "$d/output"
else tail -c +$((o+1)) -s 0.2 --pid="$pid" -f "$d/output" 2>/dev/null || by_hand
fi
if [ -s "$d/rc" ]; then read -r c <"$d/rc"
elif ! dd if=/dev/zero of="$d/probe" bs=4096 count=1 2>/dev/null; then c=full
elif [ -e "$d/ended" ]; then c=ended
elif [ ! -s "$d/process" ]; then c=never
elif known "$d" && boot && [ "$at" != "$r" ]; then c=reboot
else c=killed; fi
rm -f "$d/probe" 2>/dev/null
printf '%s %s\\n' "\${m:--}" "$c"
`;

/**
 * Ends steps that have no exit code yet, with every process of theirs, and waits until none is left: those that carry
 * their mark, those of their session, and whatever came from one of these. Prints what it could not end.
 */
export function endText(folder: string): string {
  return `${prelude}
f=${shellQuoted(folder)}
marks=; sessions=' '
for d in "$f"/*/; do
  [ -d "$d" ] && [ ! -s "$d/rc" ] || continue
  : >"$d/ended"
  n=0; until [ -s "$d/process" ] || [ $n -ge 40 ]; do nap; n=$((n+1)); done
  [ -s "$d/rc" ] && continue
  known "$d" && boot && [ "$at" = "$r" ] || continue
  { read -r m <"$d/mark"; } 2>/dev/null && marks="$marks -e MANTA_STEP=$m"
  # First, so that it writes no exit code for what is ended here.
  alive "$d" && sessions="$sessions$pid " && kill -s KILL "$pid"
done
[ -n "$marks" ] || exit 0
left() {
  if [ ! -r /proc/self/stat ]; then for i in $sessions; do kill -s 0 -- "-$i" 2>/dev/null && echo "-$i"; done; return; fi
  marked=$(grep -lsF $marks /proc/[0-9]*/environ | tr -dc '0-9\\n' | tr '\\n' ' ')
  cat /proc/[0-9]*/stat 2>/dev/null | awk -v sessions="$sessions" -v marked=" $marked" '
    { pid = $1 + 0; sub(/.*\\) /, ""); if ($1 == "Z" || $1 == "X") next
      parent[pid] = $2; if (index(sessions, " " $4 " ") || index(marked, " " pid " ")) hit[pid] = 1 }
    END { do { more = 0; for (p in parent) if (!(p in hit) && (parent[p] in hit)) { hit[p] = 1; more = 1 } } while (more)
      for (p in hit) printf "%s ", p }'
}
asked=' '; n=0
while found=$(left) && [ -n "$found" ]; do
  for p in $found; do
    if [ $n -ge 10 ]; then kill -s KILL -- "$p"; else case $asked in *" $p "*) ;; *) kill -s TERM -- "$p"; asked="$asked$p ";; esac; fi
  done 2>/dev/null
  n=$((n+1)); [ $n -gt 70 ] && { echo "$found"; exit 0; }
  if [ $n -lt 5 ]; then nap; else sleep 0.25 2>/dev/null || sleep 1; fi
done
exit 0
`;
}
