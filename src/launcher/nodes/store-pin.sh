# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Writes a host key that mantad goes by, whole or not at all, where there is a folder for it.
#
# file  relative to the home of the user
# text

cd "$HOME" && [ -d "${file%/*}" ] || exit 0
umask 077
printf %s "$text" >"$file.new" && mv "$file.new" "$file"
