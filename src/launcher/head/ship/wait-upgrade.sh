# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Waits until a new version has taken over. Says nothing then; `pending` where it did not in time; why, where the old one was
# brought back.
#
# folder       the cluster's, relative to the home of the user
# boot_script  what a boot runs, too

cd "$HOME" || exit 1
i=0
while [ $i -lt 2400 ] && [ -f "$folder/upgrade.json" ]; do
  sleep 0.1
  i=$((i + 1))
done
if [ -f "$folder/upgrade.json" ]; then
  echo pending
  exit 0
fi
cat "$folder/upgrade-failed.json" 2>/dev/null
rm -f "$boot_script.before"
exit 0
