# shellcheck shell=sh
# The engine podman, for programs that run in the surroundings of the user's own commands on the host. Its word stands as it
# is at the beginning of a command: the user may have an alias for it.

manta_engine() { podman "$@"; }
manta_has_engine() { command -v podman >/dev/null; }
manta_exec_briefly() { timeout 8 podman exec -i "$@"; }

# Says with which options a container gets this host's GPUs.
manta_gpu_options() {
  if ls /etc/cdi/nvidia* /var/run/cdi/nvidia* >/dev/null 2>&1; then echo 'gpu --device nvidia.com/gpu=all'; fi
}

# Removes container $1, and waits for nothing in it. Older podman does not know the option and waits.
manta_remove() {
  podman rm -f -t 0 "$1" >/dev/null 2>&1 || podman rm -f "$1" >/dev/null
}
