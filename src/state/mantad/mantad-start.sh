# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Starts mantad under its supervisor, which lives on.
#
# boot_script  what a boot runs, relative to the home of the user

cd "$HOME" || exit 1
if command -v setsid >/dev/null; then
  setsid sh "$boot_script" </dev/null >/dev/null 2>&1 &
else
  nohup sh "$boot_script" </dev/null >/dev/null 2>&1 &
fi
