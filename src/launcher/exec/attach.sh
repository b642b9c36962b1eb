# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Attaches to what runs in a multiplexer on the host, or opens a new shell in it.
#
# manta_kind   tmux or screen
# manta_fresh  yes for a new shell in any case
# manta_shell  text that becomes a shell of the user on the node

cd || exit 1
if ! command -v "$manta_kind" >/dev/null 2>&1; then
  echo "there is no $manta_kind on this machine" >&2
  exit 127
fi
if [ -z "$LANG$LC_ALL$LC_CTYPE" ]; then export LANG=C.UTF-8; fi
if [ "$manta_kind" = tmux ]; then
  if [ -z "$manta_fresh" ] && tmux has-session 2>/dev/null; then exec tmux -u attach; fi
  exec tmux -u new /bin/sh -c "$manta_shell"
fi
if [ -z "$manta_fresh" ] && screen -ls 2>/dev/null | grep -q '[(]\(At\|De\)tached'; then exec screen -U -L -xRR; fi
exec screen -U -L /bin/sh -c "$manta_shell"
