# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Changes Ray's file and says `written`, or `changed` where it is not the one that was seen. ray-state-prelude.sh stands
# before it.
#
# seen    its checksum then
# remove  yes to remove it
# text    what it is to hold otherwise

take_lock
if [ "$(sum_up)" != "$seen" ]; then
  echo changed
  exit 0
fi
if [ -n "$remove" ]; then
  rm -f "$state" || exit 1
else
  printf '%s' "$text" >"$state.$$" && { sync -- "$state.$$" 2>/dev/null || :; } && mv -f "$state.$$" "$state" || exit 1
fi
echo written
