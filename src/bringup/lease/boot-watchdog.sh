# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Runs as root from the first boot of a cloud's machine on, until somebody has given it a lease; then the machine has its own
# watchdog. If nobody has done so in time, it goes on to power-off.sh, which stands after it.
#
# user      who logs in, in whose home the lease is going to be
# folder    the node's, relative to that home
# lasts     seconds to wait
# look      seconds between two looks

cd /
uptime
until=$((u + lasts))
while :; do
  home=$(getent passwd "$user" 2>/dev/null | cut -d: -f6)
  if { read -r of _ <"${home:-/home/$user}/$folder/lease"; } 2>/dev/null && boot && [ "$of" = "$r" ]; then exit 0; fi
  uptime
  left=$((until - u))
  [ "$left" -gt 0 ] || break
  [ "$left" -lt "$look" ] || left=$look
  sleep "$left"
done
