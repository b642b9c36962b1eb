# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Runs a command of a user, on the host or in its container, and exits with its code. A connection that is lost ends what it
# ran, as a terminal that goes away does; what ignores that (`nohup`) or has left (`setsid`) stays.
#
# manta_node       folder of the node, relative to the home of the user; without it and without the file of `ray up` the
#                  cluster has no node here, and nothing runs. Empty: the node is known to be there
# manta_named      how that file names the cluster
# manta_note       file that is left by a command that ended with 255: a lost connection looks the same
# manta_shell      text of exec-shell.bash
# manta_terminal   yes where a terminal stands at both ends
# manta_is_shell   yes for a login shell of the user
# manta_engine     docker or podman
# manta_container  empty on the host
# manta_watch      text of exec-watch.sh; empty for none

if [ -n "$manta_node" ] && [ ! -d ~/"$manta_node" ]; then
  grep -qsF -e "$manta_named" ~/ray_bootstrap_config.yaml || exit 255
fi

# It has a session of its own, so that one signal ends all of it, however far it has come.
manta_watcher=
if [ -n "$manta_watch" ]; then
  trap : INT
  if command -v setsid >/dev/null; then
    setsid sh -c "$manta_watch" manta-watch $$ &
    manta_watcher=$!
  fi
fi

if [ -n "$manta_is_shell" ]; then set -- bash -c "$manta_shell"; else set -- bash --login -i -c "$manta_shell"; fi
if [ -n "$manta_terminal" ]; then
  [ -z "$manta_container" ] || set -- "$manta_engine" exec -i -t -e TERM "$manta_container" "$@"
  "$@"
elif [ -n "$manta_is_shell" ]; then
  [ -z "$manta_container" ] || set -- "$manta_engine" exec -i "$manta_container" "$@"
  "$@"
elif [ -z "$manta_container" ]; then
  "$@" 9>&2 2>/dev/null
else
  "$manta_engine" exec -i "$manta_container" sh -c 'exec "$@" 9>&2 2>/dev/null' sh "$@"
fi
manta_code=$?

if [ -n "$manta_watch" ]; then
  exec 2>/dev/null
  [ -z "$manta_watcher" ] || kill -s KILL -- "-$manta_watcher" ||
    {
      kill -s KILL "$manta_watcher"
      kill -s KILL -- "-$manta_watcher"
    }
fi
if [ $manta_code = 255 ] && [ -n "$manta_node" ]; then
  umask 077
  : >~/"$manta_note"
fi
exit $manta_code
