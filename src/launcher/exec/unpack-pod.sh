# shellcheck shell=sh disable=SC2154,SC2088 # the parameters are set in front of it
# Unpacks the archive on its standard input. A file gets the name of the target, unless that is a folder.
#
# target   path; a tilde at its beginning is the home of the user
# is_file  yes where the archive holds one file, which is to be called as the target

case $target in
"~") target=$HOME ;;
"~/"*) target=$HOME/${target#??} ;;
esac
if [ -n "$is_file" ] && [ ! -d "$target" ]; then
  mkdir -p -- "$(dirname -- "$target")" && exec tar -xzOf - >"$target"
fi
mkdir -p -- "$target" && exec tar -C "$target" -xzf -
