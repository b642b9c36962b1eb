# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Writes down what the supervisor needs to bring the old version back, before anything changes. Repeated after a lost
# connection it finds the new script there, and keeps what it has kept.
#
# folder       the cluster's, relative to the home of the user
# boot_script  what a boot runs, too
# runtime      name of the new version's programs
# upgrade      text of upgrade.json

umask 077
cd "$HOME" || exit 1
grep -qF -e "$runtime" "$boot_script" 2>/dev/null || cp -p "$boot_script" "$boot_script.before" || exit 1
rm -f "$folder/upgrade-failed.json"
file=$folder/upgrade.json
[ -f "$file" ] || { printf %s "$upgrade" >"$file.new" && sync -- "$file.new" && mv "$file.new" "$file" && sync -- "$folder"; }
