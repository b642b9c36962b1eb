# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# First process of a host: starts its daemons, then collects orphans until it is told to switch off. Says `ready` on
# descriptor 8 when the host accepts connections.
#
# first_boot  an sh program that runs before anything else, once in the life of the disk; or empty
# every_boot  an sh program that runs after it, at every boot; or empty
# sshd, cron  `yes` if the host has that daemon

trap 'exit 0' PWR
mkdir -p /var/log
if [ -n "$first_boot" ] && [ ! -e /etc/lab-first ]; then
  : > /etc/lab-first
  eval "$first_boot"
fi
eval "$every_boot"
if [ -n "$sshd" ]; then /usr/sbin/sshd -D -e 2>>/var/log/sshd.log 8>&- & fi
if [ -n "$cron" ]; then /usr/sbin/cron -f 2>>/var/log/cron.log 8>&- & fi
if [ -n "$sshd" ]; then
  until [ -s /run/sshd.pid ]; do sleep 0.01; done
fi
echo ready >&8
exec 8>&-
while :; do
  sleep infinity &
  wait
done
