# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Keeps commands of other machines from changing a cluster: takes the lock on its head. Says `locked`, or `held` and by whom,
# and exits with `held_code` then. A lock is made whole or not at all. Of several that find an expired one only the one that has
# made `.next` may put its own in its place, and only where it is still the one that was found.
#
# lock          file, relative to the home of the user: `ID SECONDS WHO`
# id            of this machine
# who           what it does, in words
# expires_after  seconds
# held_code

umask 077
cd "$HOME" || exit 1
mkdir -p "${lock%/*}" || exit 1
draft=$lock.$$

# Whether lock $1 is another machine's and in force. Sets `holder`.
fresh() {
  holder=${1#* }
  at=${holder%% *} holder=${holder#* }
  [ "${1%% *}" != "$id" ] && [ $(($(date +%s) - at)) -lt "$expires_after" ]
}
answer() {
  rm -f "$draft"
  echo "$1"
  exit "${2:-0}"
}

n=0
while [ $n -lt 20 ]; do
  n=$((n + 1))
  printf '%s\n' "$id $(date +%s) $who" >"$draft" || exit 1
  if ln "$draft" "$lock" 2>/dev/null; then answer locked; fi
  line=$(cat "$lock" 2>/dev/null)
  if [ -n "$line" ] && fresh "$line"; then answer "held $holder" "$held_code"; fi
  if ln "$draft" "$lock.next" 2>/dev/null; then
    rm -f "$draft"
    if [ "$(cat "$lock" 2>/dev/null)" = "$line" ] && mv "$lock.next" "$lock"; then answer locked; fi
    rm -f "$lock.next"
  else
    rm -f "$draft"
    # One that made it and died there does not hold others up for long.
    next=$(cat "$lock.next" 2>/dev/null)
    [ -z "$next" ] || fresh "$next" || rm -f "$lock.next"
    sleep 0.05 2>/dev/null || sleep 1
  fi
done
next=$(cat "$lock.next" 2>/dev/null)
if [ -n "$next" ] && fresh "$next"; then answer "held $holder" "$held_code"; fi
exit 1
