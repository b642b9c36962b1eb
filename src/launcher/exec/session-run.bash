# shellcheck shell=bash disable=SC2154,SC2034 # the parameters are set in front of it
# Runs the command of a session in its window. The terminal inside is one of its own, so that what is kept is what the command
# said and no more; where there is no `script` the output is a pipe. The shell that follows is as in Ray: the window stays to
# be looked at. A window that is taken away ends all of it: a second process, which outlives it, sees to that (`script` is
# deaf to a hang-up) and writes it down. A session counts as started when that one is there. prelude.sh and end-processes.sh
# stand before it.
#
# stop_file  written when the cluster is to be ended after the session; relative to the home of the user
# Its arguments are the folder of the session and, for the second process, whom it watches.

umask 077
cd || exit 3
d=$1

finish() {
  date +%s >"$d/ended"
  echo "$1" >"$d/rc.new" && mv "$d/rc.new" "$d/rc"
  if [ -e "$d/stop" ]; then
    printf '{"session":"%s","exitCode":%s,"at":%s}\n' "${d##*/}" "$1" "$(date +%s)" >"$stop_file.new" &&
      mv "$stop_file.new" "$stop_file"
  fi
}

if [ -n "$2" ]; then
  record_process "$2" "$d/process"
  tail -f --pid="$2" /dev/null
  [ ! -s "$d/rc" ] || exit
  s=" $2 "
  (end KILL)
  finish 129
  exit
fi

date +%s >"$d/started"
setsid bash "$d/run" "$d" $$ </dev/null >/dev/null 2>&1 &
g=$!
trap : INT
umask 022
if script -qefc true /dev/null >/dev/null 2>&1 </dev/null; then
  script -qefc "/bin/sh '$d/work'" /dev/null | (
    umask 077
    exec tee -ai "$d/log"
  )
  c=${PIPESTATUS[0]}
else
  /bin/sh "$d/work" 2>&1 | (
    umask 077
    exec tee -ai "$d/log"
  )
  c=${PIPESTATUS[0]}
fi
umask 077
finish "$c"
umask 022
trap - INT
kill -s KILL -- -$g 2>/dev/null
echo "[exit code $c]"
exec "${SHELL:-bash}"
