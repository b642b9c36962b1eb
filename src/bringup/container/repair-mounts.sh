# shellcheck shell=sh disable=SC2154,SC2016 # the parameters are set in front of it; some texts are read in the container
# Makes mounted files usable in a container: what its user cannot read becomes that user's, and a file that was replaced on
# the host since it was mounted, which the container does not see, is written again. Says `unreadable PATH` for what stays
# so. docker.sh or podman.sh stands before it.
#
# manta_name  of the container
# Its arguments are three for each mount: `file` or `folder`, the path on the host, and the path in the container.

# What its user cannot read, of the paths in the container that are the arguments.
manta_unreadable() {
  manta_engine exec "$manta_name" sh -c 'for f; do [ -r "$f" ] || printf "%s\n" "$f"; done' sh "$@"
}

# A file is another one in the container when it was replaced on the host.
manta_refresh() {
  [ "$(stat -Lc %i "$1")" = "$(manta_engine exec "$manta_name" stat -Lc %i "$2")" ] ||
    manta_engine exec -i -u 0 "$manta_name" sh -c 'cat >"$1"' sh "$2" <"$1"
}

manta_count=$#
while [ "$manta_count" -gt 0 ]; do
  [ "$1" = folder ] || manta_refresh "$2" "$3"
  manta_target=$3
  shift 3
  set -- "$@" "$manta_target"
  manta_count=$((manta_count - 3))
done
manta_owner=$(manta_engine exec "$manta_name" sh -c 'echo "$(id -u):$(id -g)"')
manta_unreadable "$@" | while IFS= read -r manta_path; do
  manta_engine exec -u 0 "$manta_name" chown -R "$manta_owner" "$manta_path" </dev/null >/dev/null 2>&1
done
manta_unreadable "$@" | sed 's/^/unreadable /'
