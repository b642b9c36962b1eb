# shellcheck shell=sh
# Starts sshd and returns when it listens.

rm -f /run/sshd.pid
/usr/sbin/sshd -E /var/log/sshd.log
until [ -s /run/sshd.pid ]; do sleep 0.01; done
