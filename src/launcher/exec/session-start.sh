# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Starts a session under its id, once. Says `started`, or a problem and its words: `absent` where there is no node of the
# cluster, `missing` where there is no multiplexer, `taken`, `failed`. prelude.sh stands before it.
#
# node            folder of the node, relative to the home of the user
# sessions        folder of all sessions, too
# id, kind        tmux or screen
# command         as the user wrote it
# work            text that runs it in place
# run             text of session-run.bash
# stop            yes where the cluster is to be ended after it
# screen_options  more options for screen, as shell text of the user's
# kept            how many that have ended are kept

say() {
  echo "$@"
  exit 0
}
no() {
  rm -rf "$d"
  say failed "$1"
}

umask 077
cd || exit 3
[ -d "$node" ] || say absent
command -v "$kind" >/dev/null 2>&1 || say missing
f=$HOME/$sessions
d=$f/$id
if ! mkdir -p "$f" || ! mkdir "$d" 2>/dev/null; then
  if [ -d "$d" ]; then say taken; fi
  say failed 'the folder cannot be made'
fi
write_down() {
  printf %s "$work" >"$d/work" && printf %s "$command" >"$d/command" && printf %s "$kind" >"$d/kind" &&
    printf %s "$run" >"$d/run" && : >"$d/log"
}
write_down || no 'the disk may be full'
[ -z "$stop" ] || : >"$d/stop"

begin() {
  unset TMUX STY
  if [ "$kind" = tmux ]; then
    tmux -u new-session -d -s "$id" -x 200 -y 50 bash "$d/run" "$d"
  else
    eval "screen -U -L -dm -S \"\$id\" $screen_options bash \"\$d/run\" \"\$d\""
  fi
}
umask 022
e=$(begin 2>&1 </dev/null) || no "$e"
n=0
until [ -s "$d/process" ]; do
  n=$((n + 1))
  [ $n -gt 200 ] && no "${e:-it did not start}"
  sleep 0.05
done
echo started

cd "$f" || exit 0
n=0
# shellcheck disable=SC2012 # ids are plain; the newest come first
ls -1t | while read -r i; do
  [ -e "$i/rc" ] || continue
  n=$((n + 1))
  if [ $n -gt "$kept" ] && ! alive "$i/process"; then rm -rf "$i"; fi
done
exit 0
