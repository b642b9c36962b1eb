# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Takes a lease back and ends its watchdog. Names what is still there.
#
# folder    the node's, relative to the home of the user

umask 077
cd "$HOME/$folder" 2>/dev/null || exit 0
rm -f lease
if stop; then
  rm -f watchdog watchdog.pid lapsed
else
  echo "left watchdog (pid $pid)"
fi
exit 0
