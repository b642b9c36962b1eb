# shellcheck shell=sh disable=SC2154 # the prelude stands before it
# Functions for the folder of a worker, which is the working folder: its lease, and the watchdog that reads it.

# Ends the watchdog; fails where it is still there.
stop() {
  alive watchdog.pid || return 0
  kill -s TERM -- "-$pid" 2>/dev/null || kill -s TERM "$pid" 2>/dev/null
  n=0
  while alive watchdog.pid && [ $n -lt 40 ]; do
    nap
    n=$((n + 1))
    [ $n != 20 ] || kill -s KILL -- "-$pid" 2>/dev/null || kill -s KILL "$pid" 2>/dev/null
  done
  ! alive watchdog.pid
}

start() {
  if command -v setsid >/dev/null; then
    leave=setsid
  else
    leave=
    trap '' HUP
  fi
  $leave /bin/sh ./watchdog </dev/null >/dev/null 2>&1 &
  record_process $! watchdog.pid
}

# Writes a lease of $1 seconds: which boot of the host it is of, until when by its uptime, and for how long.
write() {
  uptime
  boot
  echo "$r $((u + $1)) $1" >"lease.$$" && mv "lease.$$" lease
}
