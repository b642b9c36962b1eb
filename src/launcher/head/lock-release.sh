# shellcheck shell=sh disable=SC2154,SC2034 # the parameters are set in front of it
# Gives the lock of this machine back; another's stays.
#
# lock, id  as in lock-take.sh

cd "$HOME" || exit 0
read -r has rest 2>/dev/null <"$lock" && [ "$has" = "$id" ] || exit 0
rm -f "$lock"
rmdir "${lock%/*}" 2>/dev/null
