# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Removes what starts mantad after a reboot of the head: a unit of systemd and the script that it runs. The line of cron is
# taken out by edit-lines.sh.
#
# unit         of systemd
# boot_script  relative to the home of the user

cd "$HOME" || exit 0
if [ -f ".config/systemd/user/$unit" ]; then
  systemctl --user disable "$unit" >/dev/null 2>&1
  rm -f ".config/systemd/user/$unit"
fi
rm -f "$boot_script"
