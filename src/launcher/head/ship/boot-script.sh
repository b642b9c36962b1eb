# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Writes what a boot of the head runs.
#
# boot_script  relative to the home of the user
# line         command that becomes the supervisor

umask 077
cd "$HOME" && mkdir -p "${boot_script%/*}" || exit 1
printf '%s\n' '#!/bin/sh' "$line" >"$boot_script.new" && chmod 700 "$boot_script.new" && sync -- "$boot_script.new" &&
  mv "$boot_script.new" "$boot_script" && sync -- "${boot_script%/*}"
