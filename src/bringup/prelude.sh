# shellcheck shell=sh
# Functions that several programs for hosts share. A process is known by the boot of the host, its number and its start
# time, `BOOT|PID|START` in a file: neither a reboot nor another process that gets the number is mistaken for it.

nap() { sleep 0.05 2>/dev/null || sleep 1; }

# Sets `r` to the start time of process $1; fails where there is none.
born() {
  r=
  if [ -r /proc/self/stat ]; then
    { read -r r <"/proc/$1/stat"; } 2>/dev/null || return 1
    # shellcheck disable=SC2086 # the fields of the line
    set -- ${r##*) }
    r=
    [ "$1" != Z ] && r=${20}
  else
    r=$(ps -o lstart= -p "$1")
  fi
}

# Sets `r` to what tells this boot of the host, or of the container, from others.
boot() {
  b=
  { read -r b </proc/sys/kernel/random/boot_id; } 2>/dev/null
  born 1
  r=$b/$r
}

# Writes process $1 into file $2.
record_process() {
  boot
  at=$r
  born "$1"
  echo "$at|$1|$r" >"$2"
}

# Sets `at`, `pid` and `since` to what file $1 says.
known() { IFS='|' read -r at pid since <"$1"; } 2>/dev/null

# Whether the process in file $1 runs.
alive() { known "$1" && boot && [ "$at" = "$r" ] && born "$pid" && [ "$since" = "$r" ]; }

# Sets `u` to the seconds that the host has been up, where it tells; nobody sets that clock.
uptime() { if { read -r u _ </proc/uptime; } 2>/dev/null; then u=${u%%.*}; else u=$(date +%s); fi; }
