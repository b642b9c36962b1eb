# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Unpacks the archive on standard input as a runtime, whole or not at all; one that is there stays.
#
# runtimes  folder of Manta's programs, relative to the home of the user
# runtime   name of this one

umask 077
cd "$HOME" && mkdir -p "$runtimes" && d=$(mktemp -d "$runtimes/.new.XXXXXX") || exit 1
# All of the disk at once, at the price of one file.
if ! tar -xzf - -C "$d" || ! { sync -f -- "$d" 2>/dev/null || sync; }; then
  rm -rf "$d"
  exit 1
fi
if ! mv -T "$d" "$runtimes/$runtime" 2>/dev/null; then
  [ -d "$runtimes/$runtime" ] && rm -rf "$d" || exit 1
fi
sync -- "$runtimes"
