# shellcheck shell=sh disable=SC2088 # the tilde is a letter here
# Writes standard input to a file. Its lines are joined to one, so that each is a command for itself. The length is checked: a
# lost connection looks like the end of the file from there. What was put on that disk before is there too after a power cut:
# a file may say of others that they are whole.
#
# Its arguments are the path, a mark around what it answers, the mode and the length.

umask 077
printf "%s\n" "$2"
printf "%s\n" "$2" >&2
p=$1
case $p in "~/"*) p=$HOME/${p#??} ;; esac
d=${p%/*}
t=$p.$2.new
[ "$d" = "$p" ] || [ -d "$d/" ] || mkdir -p -- "$d"
cat >"$t" && [ "$(wc -c <"$t")" -eq "$4" ] && chmod "$3" "$t" && { sync -f -- "$t" 2>/dev/null || sync; } && mv -f -- "$t" "$p"
c=$?
[ "$c" != 0 ] || sync -- "$d" 2>/dev/null
[ "$c" = 0 ] || rm -f -- "$t"
printf "%s %s\n" "$2" "$c"
