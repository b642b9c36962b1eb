# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Writes down which hosts have no key yet, whole or not at all.
#
# file   relative to the home of the user
# hosts  one a line; empty for none

cd "$HOME" || exit 1
if [ -z "$hosts" ]; then
  rm -f "$file"
  exit
fi
umask 077
mkdir -p "${file%/*}" && printf %s "$hosts" >"$file.new" && sync -- "$file.new" && mv "$file.new" "$file" &&
  sync -- "${file%/*}"
