# shellcheck shell=sh
# The engine docker, for programs that run in the surroundings of the user's own commands on the host. Its word stands as it
# is at the beginning of a command: the user may have an alias for it.

manta_engine() { docker "$@"; }
manta_has_engine() { command -v docker >/dev/null; }
manta_exec_briefly() { timeout 8 docker exec -i "$@"; }

# Says with which options a container gets this host's GPUs.
manta_gpu_options() {
  if docker info -f '{{.Runtimes}}' 2>/dev/null | grep -q nvidia-container-runtime; then echo 'gpu --runtime=nvidia'; fi
}

# Removes container $1, and waits for nothing in it. `docker` may be podman, of which older ones do not know the option and
# wait. What docker removes by itself already, because the container has ended, is gone only after a while, and its name
# until then taken.
manta_remove() {
  case $(docker --version 2>/dev/null) in
    podman*) docker rm -f -t 0 "$1" >/dev/null 2>&1 || docker rm -f "$1" >/dev/null ;;
    *)
      docker rm -f "$1" >/dev/null
      manta_tries=0
      while [ $manta_tries -lt 150 ] && docker container inspect "$1" >/dev/null 2>&1; do
        manta_tries=$((manta_tries + 1))
        sleep 0.2
      done
      ;;
  esac
}
