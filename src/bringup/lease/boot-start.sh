# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Starts the watchdog of a machine's first boot, and returns at once.
#
# watchdog  text of boot-watchdog.sh

if command -v setsid >/dev/null; then
  leave=setsid
else
  leave=
  trap '' HUP
fi
$leave /bin/sh -c "$watchdog" manta-boot </dev/null >/dev/null 2>&1 &
