# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Prints log files of Ray. ray-log-folder.sh stands before it.
#
# pattern  of the shell's, for their names
# lines    of each, from its end
# follow   yes to go on as they grow

if ! to_ray_logs; then
  echo 'Ray has no session here' >&2
  exit 1
fi
IFS=
# shellcheck disable=SC2086 # it is a pattern
set -- $pattern
if [ ! -e "$1" ]; then
  echo "Ray has no log '$pattern'; its logs are:" >&2
  for n in *; do [ ! -f "$n" ] || echo "$n" >&2; done
  exit 1
fi
if [ -n "$follow" ]; then exec tail -n "$lines" -F -- "$@"; fi
exec tail -n "$lines" -- "$@"
