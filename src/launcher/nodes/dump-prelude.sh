# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Functions that print files: a line with the name and the length, then so many bytes.
#
# bytes_kept  of each file, from its end

# framed NAME FILE prints the file and removes it.
framed() {
  printf '%s\t%s\n' "$1" "$(($(wc -c <"$2")))" && cat "$2"
  rm -f "$2"
}

# give NAME FILE
give() {
  [ -r "$2" ] || return 0
  t=$(mktemp) || return
  if tail -c "$bytes_kept" -- "$2" >"$t" 2>/dev/null; then framed "$1" "$t"; else rm -f "$t"; fi
}

# tell NAME COMMAND... gives what a command says.
tell() {
  n=$1
  shift
  t=$(mktemp) || return
  "$@" >"$t" 2>&1
  framed "$n" "$t"
}
