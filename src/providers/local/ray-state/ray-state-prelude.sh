# shellcheck shell=sh disable=SC2154,SC2034 # the parameters are set in front of it
# Where Ray keeps its own file of a cluster on this machine, and the lock on it, which is flock(2) on a file that stays.
# flock-prelude.sh stands before it.
#
# cluster  its name

folder=${RAY_TMPDIR-${TMPDIR-/tmp}}/ray
lock=$folder/cluster-$cluster.lock
state=$folder/cluster-$cluster.state

sum_up() { if [ -f "$state" ]; then cksum <"$state"; else echo none; fi; }

# The folder is for all users of the machine, as Ray makes it.
take_lock() {
  [ -d "$folder" ] || { mkdir -p "$folder" && chmod 0777 "$folder"; }
  exec 9>>"$lock" || exit 1
  flock_9 || exit 1
}
