# shellcheck shell=sh disable=SC2154,SC2034,SC2086 # the parameters are set in front of it; fields of a line of /proc
# A second process that ends what a lost connection would leave. Its argument is the process that runs exec.sh.
#
# terminal           yes where a terminal stands at both ends: one that goes away ends the shell behind it, and only what
#                    runs in a container does not hear it
# engine, container  where the command runs; empty for the host
# hang_up            text of hang-up.sh

if [ -n "$terminal" ]; then
  exec </dev/null >/dev/null 2>&1
  tail -f --pid="$1" /dev/null
else
  # Without a terminal the only sign of a lost connection is that nobody reads the output any more. `tail` notices that by
  # itself and without asking again and again. The shell that would end the watch goes first, so as not to stop it halfway.
  tail -f /dev/null 2>/dev/null
  read -r l <"/proc/$1/stat"
  kill -s KILL "$1"
  set -- ${l##*) }
  s=" $4 "
fi
if [ -z "$container" ]; then eval "$hang_up"; else "$engine" exec "$container" sh -c "$hang_up"; fi
