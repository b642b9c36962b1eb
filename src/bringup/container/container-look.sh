# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Says what is known of the engine, the container and the image, one fact a line. An engine that is not there, or not for
# this user, ends it with its complaint on the error stream. docker.sh or podman.sh stands before it.
#
# manta_name    of the container
# manta_image
# manta_format  what to say of the container, as a template of the engine's
# manta_gpu     yes to say with which options it gets this host's GPUs
# Its arguments are the paths on the host that the container is to have mounted.

# The group of the engine's users may be new: then it counts from the next connection on.
manta_tell_group() {
  case " $(id -nG) " in *" docker "*) return ;; esac
  case ",$(getent group docker | cut -d: -f4)," in *",$(id -un),"*) echo 'group new' ;; esac
}

for manta_path; do [ -e "$manta_path" ] || printf 'missing %s\n' "$manta_path"; done
manta_has_engine || exit 127
if ! manta_said=$(manta_engine container inspect -f "$manta_format" "$manta_name" 2>&1); then
  case $manta_said in
    *[Nn]'o such container'* | *'no container with name'*) manta_said= ;;
    *)
      printf '%s\n' "$manta_said" >&2
      manta_tell_group
      exit 1
      ;;
  esac
fi
printf '%s\n' "$manta_said"
manta_engine image inspect -f 'image {{.Id}} {{.Config.User}}|{{range .Config.Env}}{{.}}|{{end}}' "$manta_image" 2>/dev/null
sed -n 's/^MemAvailable: *\([0-9]*\) kB/memory \1/p' /proc/meminfo
if [ -n "$manta_gpu" ] && command -v nvidia-smi >/dev/null && nvidia-smi >/dev/null 2>&1; then manta_gpu_options; fi
exit 0
