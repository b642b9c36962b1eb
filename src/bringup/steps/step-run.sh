# shellcheck shell=sh disable=SC2154 # the prelude and step-start.sh set what is read here
# Runs the program of a step and writes down how it ended, whatever becomes of those who follow.
# Arguments: folder, shell, mark, and the umask of the user, which the program has for the files it makes.

umask 077
cd || exit 3
d=$1
record_process $$ "$d/process"
[ -e "$d/ended" ] && exit
(
  umask "$4"
  exec "$2" "$d/program"
) </dev/null >>"$d/output" 2>&1
c=$?
n=0
until echo "$c" >"$d/rc"; do
  rm -f "$d/reserve"
  n=$((n + 1))
  [ $n -gt 20 ] && exit
  sleep 1
done
printf '%s %s\n' "$3" "$c" >>"$d/output"
: >"$d/reserve"
