# shellcheck shell=sh disable=SC2154,SC2034 # the parameters are set in front of it; step-follow.sh comes after it
# Starts a step, unless it was claimed before.
#
# folder   folder of all steps, relative to the home of the user
# step     id of this one
# program  what it runs
# shell    bash or sh
# mark     stands in its output and in the environment of all its processes
# runner   text of step-run.sh
# kept     steps that are kept

mask=$(umask)
umask 077
cd || exit 3
d=$folder/$step
w=attached

# Starts a program that lives on in a session of its own. What a shell sends to the background without job control ignores
# SIGINT for good, and with it all that Ray starts: its `cancel` would do nothing.
leave() {
  if setsid -f true 2>/dev/null; then
    setsid -f "$@"
  elif perl -MPOSIX=setsid -e 1 2>/dev/null; then
    perl -MPOSIX=setsid -e 'exit if fork; setsid(); exec @ARGV' -- "$@"
  else
    (
      trap '' HUP
      "$@" &
    )
  fi
} </dev/null >/dev/null 2>&1

# The attempt to write says whether the disk is full.
no() {
  echo "$1" >&2
  dd if=/dev/zero of="$folder/.probe" bs=16384 count=1 >/dev/null
  rm -rf "$folder/.probe" "$d"
  exit 3
}

write_down() {
  printf %s "$program" >"$d/program" && printf %s "$runner" >"$d/run" && echo "$mark" >"$d/mark" && : >"$d/output" &&
    printf %16384s '' >"$d/reserve"
}

[ -d "$folder" ] || mkdir -p "$folder" || no 'no folder for steps'
if mkdir "$d" 2>/dev/null; then
  w=started
  write_down || no 'cannot write the step'
  (
    MANTA_STEP=$mark
    export MANTA_STEP
    leave /bin/sh "$d/run" "$d" "$shell" "$mark" "$mask"
  )
  n=0
  until known "$d/process" && [ -n "$since" ] || [ $n -ge 500 ]; do
    sleep 0.01 2>/dev/null || sleep 1
    n=$((n + 1))
  done
  set -- "$folder"/*/
  if [ $# -gt $((kept + 5)) ]; then
    # shellcheck disable=SC2046,SC2012 # ids have no spaces; the newest come first
    set -- $(ls -1t "$folder")
    shift "$kept"
    for i; do
      if [ -s "$folder/$i/rc" ] || ! (alive "$folder/$i/process"); then rm -rf "${folder:?}/$i"; fi
    done
  fi
elif [ ! -d "$d" ]; then
  mkdir "$d"
  no 'no folder for the step'
fi
