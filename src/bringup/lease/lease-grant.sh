# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Gives a worker a lease, and starts its watchdog in place of one that runs.
#
# folder    the node's, relative to the home of the user
# lasts     seconds
# watchdog  text of the program

umask 077
cd "$HOME/$folder" 2>/dev/null || exit 0
write "$lasts" && printf %s "$watchdog" >watchdog.new && mv watchdog.new watchdog && rm -f lapsed && stop && start
