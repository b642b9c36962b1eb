# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Prints a row for each session: id, kind, started, ended, rc, whether its window is there, bytes of its log, command. Fields
# end with the character 037, rows with 036. prelude.sh stands before it.
#
# sessions  folder of all sessions, relative to the home of the user

cd && cd "$sessions" 2>/dev/null || exit 0
field() { printf '%s\037' "$(cat "$i/$1" 2>/dev/null)"; }
for i in *; do
  [ -s "$i/kind" ] || continue
  printf '%s\037' "$i"
  for name in kind started ended rc; do field "$name"; done
  if alive "$i/process"; then printf 'open\037'; else printf 'gone\037'; fi
  printf '%s\037' "$(wc -c <"$i/log" 2>/dev/null)"
  cat "$i/command"
  printf '\036'
done
exit 0
