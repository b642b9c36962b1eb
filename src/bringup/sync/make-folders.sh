# shellcheck shell=sh disable=SC2088 # the tilde is a letter here
# Makes the folders that are its arguments, where `~` is the home of the user. Exits with 127 where there is no rsync.

command -v rsync >/dev/null || exit 127
for p; do
  case $p in
    '~') p=$HOME ;;
    '~/'*) p=$HOME/${p#'~/'} ;;
  esac
  [ -d "$p" ] || mkdir -p -- "$p" || exit 1
done
