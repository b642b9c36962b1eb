# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Prints what the steps of the bring-up said, and which logs of Ray there are.
#
# steps   folder of the steps, relative to the home of the user
# lines   of each log, from its end
# follow  yes to go on as they grow
# list    text that lists the logs of Ray in their place

if ! cd ~/"$steps" 2>/dev/null; then
  echo 'nothing of this cluster was set up here' >&2
  exit 1
fi
if [ -n "$follow" ]; then exec tail -q -n "$lines" -F -- */output; fi
# shellcheck disable=SC2045 # ids have no spaces; the oldest come first
for d in $(ls -1tr); do
  c=$(cat "$d/rc" 2>/dev/null) && c="exit code $c" || c='no exit code yet'
  m=$(cat "$d/mark" 2>/dev/null)
  echo "== $d ($c)"
  # The last line of an output is the mark that says it is complete.
  grep -av "^${m:-.^} " "$d/output" | tail -n "$lines"
done
(eval "$list") 2>/dev/null
exit 0
