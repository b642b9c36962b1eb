# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Waits for a supervisor that was started: the next look finds one, or knows that there is none.
#
# folder  the cluster's, relative to the home of the user

cd "$HOME" || exit 0
i=0
while [ $i -lt 40 ] && [ ! -f "$folder/supervisor.lock" ]; do
  sleep 0.05
  i=$((i + 1))
done
exit 0
