# shellcheck shell=sh
# Switches the machine off. One that would not go is told again: it costs until it has gone.

while :; do
  sync
  sudo -n poweroff || poweroff || sudo -n shutdown -h now || shutdown -h now
  sleep 60
done
