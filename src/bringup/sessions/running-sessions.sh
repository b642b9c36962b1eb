# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Says `session ID` for each process of a user's session on the head's host, by the id of its set of processes, and `looked`
# at the end.
#
# mark   the mark of a session in an environment, as a basic regular expression
# words  what stands in the command line of a shell that was started to get the mark, as a basic regular expression: a shell
#        shows the environment it was started with, and not what it has set since

cd /proc || exit 1
for f in $(
  grep -las -e "$mark" [0-9]*/environ
  grep -las -e "$words" [0-9]*/cmdline
); do
  { read -r l <"${f%%/*}/stat"; } 2>/dev/null || continue
  # shellcheck disable=SC2086 # the fields of the line
  set -- ${l##*) }
  [ "$1" = Z ] || echo "session $4"
done
echo looked
