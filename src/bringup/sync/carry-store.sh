# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Standard input becomes a file, when all of it has come. One of its size that is there already stays, where that is wanted.
#
# folder, target
# bytes
# keep     yes to look for it first

if [ -n "$keep" ] && [ "$(stat -c %s "$target" 2>/dev/null)" = "$bytes" ]; then exit 0; fi
umask 077
mkdir -p "$folder" || exit
t=$target.$$.new
trap 'rm -f "$t"' EXIT
cat >"$t" || exit
if [ "$(stat -c %s "$t")" != "$bytes" ]; then
  echo 'it arrived incomplete' >&2
  exit 1
fi
sync -- "$t" && mv -f "$t" "$target"
