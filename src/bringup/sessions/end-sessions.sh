# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Closes the windows of all sessions of users, which ends what runs there: they belong to the cluster and go with it.
#
# sessions  their folder, relative to the home of the user

cd "$HOME" || exit 0
for i in "$sessions"/*; do
  case $(cat "$i/kind" 2>/dev/null) in
    tmux) tmux kill-session -t "=${i##*/}" ;;
    screen) screen -S "${i##*/}" -X quit ;;
  esac >/dev/null 2>&1 </dev/null
done
