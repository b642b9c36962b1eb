# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Makes a container, and fails with 99 where it has ended at once. docker.sh or podman.sh stands before it.
#
# manta_name
# manta_run       the command that makes it, with options as the user wrote them
# manta_replaces  yes where another of its name is removed first

if [ -n "$manta_replaces" ]; then manta_remove "$manta_name"; fi
eval "$manta_run" || exit
sleep 0.1
case $(manta_engine container inspect -f '{{.State.Running}}' "$manta_name" 2>&1) in true) exit 0 ;; esac
manta_engine logs --tail 5 "$manta_name" >&2
exit 99
