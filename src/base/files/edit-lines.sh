# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Takes lines out of a text of the user's and puts one at its end. All of it is done, or the text stays as it was and the
# program fails: a full disk, a grep that cannot be run or another writer never costs a line.
#
# target   a file, relative to the home of the user; or `crontab`, for the table of cron
# pattern  the lines to take out, as a basic regular expression
# line     what to put at the end; empty for nothing

LC_ALL=C; export LC_ALL
umask 077
cd "$HOME" || exit 1

fail() {
  [ -z "${draft-}" ] || rm -f -- "$draft"
  printf '%s\n' "$1; '$target' was left as it was" >&2
  exit 1
}

# With 1 grep says that it found nothing, which is not a failure here.
found() { grep "$@" || [ $? -eq 1 ]; }

changed() { # of standard input
  found -v -e "$pattern" || return 1
  [ -z "$line" ] || printf '%s\n' "$line"
}

# Sets `expected` to how many lines the new text has; ends the program where that would be the old text.
# `given COMMAND` runs a command with the old text as its input.
plan() {
  if ! total=$(given found -c '') || ! gone=$(given found -c -e "$pattern"); then fail 'it could not be read'; fi
  if [ -z "$line" ]; then
    [ "$gone" -gt 0 ] || exit 0
    expected=$((total - gone))
  else
    if [ "$gone" -eq 1 ] && [ "$(given found -e "$pattern")" = "$line" ]; then exit 0; fi
    expected=$((total - gone + 1))
  fi
}

edit_crontab() {
  table=$(crontab -l 2>/dev/null && printf .) || case $(crontab -l 2>&1) in
    *'no crontab for'* | *'No such file'*) table=. ;;
    *) fail "'crontab -l' failed" ;;
  esac
  given() { printf %s "${table%.}" | "$@"; }
  plan
  # An empty table is removed: that needs no room on a disk that may be full.
  if [ "$expected" -eq 0 ]; then
    crontab -r || fail "'crontab -r' failed"
    return
  fi
  new=$(given changed && printf .) || fail 'the new table could not be made'
  [ "$(printf %s "${new%.}" | found -c '')" = "$expected" ] || fail 'the new table does not have the lines it should'
  printf %s "${new%.}" | crontab - || fail 'crontab did not take the new table'
}

edit_file() {
  # The draft stands beside the file itself: a link stays a link.
  file=$target
  if [ -L "$file" ]; then file=$(readlink -f -- "$file") || fail 'it is a broken link'; fi
  folder=$(dirname -- "$file")
  if [ ! -d "$folder" ]; then
    [ -n "$line" ] || exit 0
    mkdir -p -- "$folder" || fail 'its folder could not be made'
  fi
  # The kernel gives it back when this shell ends. Without flock, two that edit at once may undo each other's line.
  exec 9<"$folder" || fail 'its folder could not be read'
  if command -v flock >/dev/null; then flock 9 2>/dev/null || :; fi
  # What one left that was killed.
  rm -f -- "$file".manta-draft.*

  attributes=
  source=/dev/null
  if [ -e "$file" ]; then
    [ -f "$file" ] || fail 'it is not a regular file'
    attributes=$(stat -c '%u:%g %a' -- "$file") || fail 'its owner and mode could not be read'
    source=$file
  fi
  given() { "$@" <"$source"; }
  plan
  draft=$file.manta-draft.$$
  (set -C && given changed >"$draft") || fail 'the new text could not be written'
  if [ -n "$attributes" ]; then
    chown -- "${attributes% *}" "$draft" || fail 'its owner could not be kept'
    chmod -- "${attributes#* }" "$draft" || fail 'its mode could not be kept'
  fi
  [ "$(found -c '' "$draft")" = "$expected" ] || fail 'the new text does not have the lines it should'
  sync -- "$draft" || fail 'the new text did not reach the disk'
  mv -f -- "$draft" "$file" || fail 'it could not be replaced'
  sync -- "$folder" 2>/dev/null || :
}

if [ "$target" = crontab ]; then edit_crontab; else edit_file; fi
