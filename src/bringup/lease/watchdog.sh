# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it, and the prelude
# Waits in the folder of a worker until its lease has expired, then ends Ray and, where the machine is the cluster's own, the
# machine. Ends with the lease, when that is taken back.
#
# look        seconds between two looks
# powers_off  yes where the machine goes with its lease; then power-off.sh stands after it
# Its arguments are the programs that end what runs there.

while { read -r of until lasts <lease; } 2>/dev/null; do
  uptime
  boot
  [ "$of" = "$r" ] || exit 0
  left=$((until - u))
  [ "$left" -gt 0 ] || break
  [ "$left" -lt "$look" ] || left=$look
  before=$u
  sleep "$left"
  uptime
  # A machine that was suspended finds its lease expired before anybody could renew it: it waits once more.
  if [ $((u - before)) -gt $((left + 60)) ]; then
    wait=$((lasts / 2))
    [ "$wait" -lt 300 ] || wait=300
    sleep "$wait"
  fi
done
[ -e lease ] || exit 0
date +%s >lapsed
for _ in 1 2 3; do
  for program; do (eval "$program"); done
done
rm -f lease
[ -n "$powers_off" ] || exit 0
