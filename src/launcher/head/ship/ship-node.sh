# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Unpacks the Node on standard input, whole or not at all, and tries it.
#
# runtimes  folder of Manta's programs, relative to the home of the user
# folder    of this Node, too
# digest    sha256 of the program

umask 077
cd "$HOME" && mkdir -p "$folder" || exit 1
draft=$folder/.new.$$
if ! gzip -dc >"$draft" || ! printf '%s  %s\n' "$digest" "$draft" | sha256sum -c - >/dev/null; then
  rm -f "$draft"
  exit 1
fi
chmod 700 "$draft" && sync -- "$draft" && mv "$draft" "$folder/node" && sync -- "$folder" "$runtimes" &&
  "$folder/node" --version >/dev/null
