# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it, and the prelude
# Ends steps that have no exit code yet, with all their processes, and waits until none is left: those that carry their
# mark, those of their session, and all that came from one of these. Prints what it could not end.
#
# folder   folder of all steps, relative to the home of the user

umask 077
cd || exit 3
marks=
sessions=' '
for d in "$folder"/*/; do
  if [ ! -d "$d" ] || [ -s "$d/rc" ]; then continue; fi
  : >"$d/ended"
  n=0
  until [ -s "$d/process" ] || [ $n -ge 40 ]; do
    nap
    n=$((n + 1))
  done
  [ -s "$d/rc" ] && continue
  if ! known "$d/process" || ! boot || [ "$at" != "$r" ]; then continue; fi
  { read -r m <"$d/mark"; } 2>/dev/null && marks="$marks -e MANTA_STEP=$m"
  # The runner goes first, so that it writes no exit code for what is ended here.
  alive "$d/process" && sessions="$sessions$pid " && kill -s KILL "$pid"
done
[ -n "$marks" ] || exit 0

left() {
  if [ ! -r /proc/self/stat ]; then
    for i in $sessions; do kill -s 0 -- "-$i" 2>/dev/null && echo "-$i"; done
    return
  fi
  # shellcheck disable=SC2086 # each is an option of its own
  marked=$(grep -lsF $marks /proc/[0-9]*/environ | tr -dc '0-9\n' | tr '\n' ' ')
  cat /proc/[0-9]*/stat 2>/dev/null | awk -v sessions="$sessions" -v marked=" $marked" '
    {
      pid = $1 + 0
      sub(/.*\) /, "")
      if ($1 == "Z" || $1 == "X") next
      parent[pid] = $2
      if (index(sessions, " " $4 " ") || index(marked, " " pid " ")) hit[pid] = 1
    }
    END {
      do {
        more = 0
        for (p in parent) if (!(p in hit) && (parent[p] in hit)) { hit[p] = 1; more = 1 }
      } while (more)
      for (p in hit) printf "%s ", p
    }'
}

asked=' '
n=0
while found=$(left) && [ -n "$found" ]; do
  for p in $found; do
    if [ $n -ge 10 ]; then
      kill -s KILL -- "$p"
      continue
    fi
    case $asked in *" $p "*) continue ;; esac
    kill -s TERM -- "$p"
    asked="$asked$p "
  done 2>/dev/null
  n=$((n + 1))
  if [ $n -gt 70 ]; then
    echo "$found"
    exit 0
  fi
  if [ $n -lt 5 ]; then nap; else sleep 0.25 2>/dev/null || sleep 1; fi
done
exit 0
