# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Writes what sessions and Ray read from the folder of a node, for this user alone.
#
# folder            made where it is not there; relative to the home of the user, as are the files
# token             Ray's; empty for none
# token_file
# environment       what sessions get, as shell text
# environment_file

umask 077
cd || exit 1
mkdir -p "$folder" || exit 1
if [ -z "$token" ]; then
  rm -f "$token_file"
else
  # On a head mantad reads it again after a power cut.
  printf '%s\n' "$token" >"$token_file.new" && { sync -- "$token_file.new" 2>/dev/null || :; } &&
    mv -f "$token_file.new" "$token_file" || exit 1
fi
printf %s "$environment" >"$environment_file.new" && mv -f "$environment_file.new" "$environment_file" || exit 1
