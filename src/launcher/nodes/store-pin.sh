# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Writes a host key that mantad goes by, whole or not at all, where there is a folder for it. It is on disk then: without it
# whatever key the host shows next would be believed.
#
# file  relative to the home of the user
# text

cd "$HOME" && [ -d "${file%/*}" ] || exit 0
umask 077
printf %s "$text" >"$file.new" && sync -- "$file.new" && mv "$file.new" "$file" && sync -- "${file%/*}"
