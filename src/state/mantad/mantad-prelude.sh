# shellcheck shell=sh
# Functions that tell whether mantad and its supervisor run on the head.

# Says whom lock file $1 names.
lock_holder() { sed -n 's/.*"pid":[ ]*\([0-9]*\).*/\1/p' "$1" 2>/dev/null | head -n 1; }

# Whether process $1 is a program of Manta by name $2, `mantad` or `supervisor`.
program_runs() {
  [ -n "$1" ] && kill -0 "$1" 2>/dev/null || return 1
  [ -d /proc/self ] || return 0
  tr '\0' ' ' <"/proc/$1/cmdline" 2>/dev/null | grep -q "/$2\.[jt]s "
}
