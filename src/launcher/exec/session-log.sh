# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Prints the log of a session from its start until the session has ended, and exits with its code. prelude.sh stands before it.
#
# folder  the session's, relative to the home of the user

cd || exit 3
o=0
while :; do
  over=
  if [ -s "$folder/rc" ]; then
    read -r over <"$folder/rc"
  elif ! alive "$folder/process"; then
    over=1
  fi
  s=$(($(wc -c <"$folder/log")))
  if [ "$s" -gt "$o" ]; then
    tail -c +$((o + 1)) "$folder/log" | head -c $((s - o))
    o=$s
  elif [ -n "$over" ]; then
    exit "$over"
  else
    sleep 0.2
  fi
done
