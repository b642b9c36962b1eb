# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Has systemd start mantad at a boot.
#
# cluster      its name
# unit         of systemd
# boot_script  what it runs, relative to the home of the user

umask 077
cd "$HOME" && mkdir -p .config/systemd/user || exit 1
printf '%s\n' '[Unit]' "Description=Manta cluster $cluster" '[Service]' "ExecStart=/bin/sh $HOME/$boot_script" \
  'KillMode=process' '[Install]' 'WantedBy=default.target' >".config/systemd/user/$unit"
sync -- ".config/systemd/user/$unit" .config/systemd/user
systemctl --user daemon-reload >/dev/null 2>&1
systemctl --user enable "$unit" >/dev/null 2>&1
loginctl enable-linger >/dev/null 2>&1
