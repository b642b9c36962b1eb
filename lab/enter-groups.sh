# shellcheck shell=sh
# Runs a command in cgroups of a host. Arguments: the folders of the groups as one word, then the command.

for group in $1; do echo $$ > "$group/cgroup.procs"; done
shift
exec "$@"
