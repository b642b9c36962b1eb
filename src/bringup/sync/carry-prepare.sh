# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Makes the folder for large files, removes all that are not wanted any more, and says `BYTES NAME` for those that are there.
#
# folder
# Its arguments are the names of those that are wanted.

umask 077
mkdir -p "$folder" && cd "$folder" || exit 1
if [ -L "$folder" ] || [ ! -O . ]; then
  echo 'it belongs to another user' >&2
  exit 1
fi
find . -name '*.new' -mmin +60 -exec rm -f {} +

wanted() {
  for name; do [ "$name" != "$f" ] || return 0; done
  return 1
}

for f in *; do
  case $f in *.new) continue ;; esac
  wanted "$@" || rm -f "./$f"
done
for f in *; do [ ! -f "$f" ] || echo "$(stat -c %s "./$f") $f"; done
