# shellcheck shell=sh disable=SC2154,SC2034 # the parameters are set in front of it
# Renews the lock of this machine. Says `lost` and to whom, where it is another's.
#
# lock, id, who  as in lock-take.sh

cd "$HOME" || exit 0
has='' holder=''
read -r has at holder 2>/dev/null <"$lock"
if [ "$has" != "$id" ]; then
  echo "lost $holder"
  exit 0
fi
umask 077
printf '%s\n' "$id $(date +%s) $who" >"$lock.$$" && mv "$lock.$$" "$lock"
