# shellcheck shell=sh disable=SC2154,SC2034,SC2086 # the parameters are set in front of it; fields of lines of /proc
# Hang-up for all processes of a session, as from a terminal that goes away; after a while no longer a request.
# end-processes.sh stands before it.
#
# mark  stands in the words of a process of each session that is meant; empty where `s` is set already

if [ -n "$mark" ]; then
  # All but the one that searches.
  read -r l </proc/self/stat
  set -- ${l##*) }
  m=$4
  s=
  # shellcheck disable=SC2013 # paths without spaces
  for f in $(grep -ls -e "$mark" /proc/[0-9]*/cmdline); do
    { read -r l <"${f%cmdline}stat"; } 2>/dev/null || continue
    set -- ${l##*) }
    [ "$4" = "$m" ] || s="$s $4 "
  done
fi
end HUP
sleep 2
end KILL
