# shellcheck shell=sh

# Takes the lock flock(2) on descriptor 9, within 20 s. The kernel gives it back when this shell ends.
flock_9() {
  if command -v flock >/dev/null 2>&1; then
    flock -x -w 20 9
  else
    python3 -c 'import fcntl, signal; signal.alarm(20); fcntl.flock(9, fcntl.LOCK_EX)'
  fi
}
