# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Prints the users of an image, which is not run for it. docker.sh or podman.sh stands before it.
#
# manta_image

manta_copy=$(manta_engine create "$manta_image" true) || exit 1
manta_engine cp "$manta_copy":/etc/passwd - | tar -xO
manta_engine rm "$manta_copy" >/dev/null
