#!/bin/sh
# `ray` of a head pod that has Manta's planner: KubeRay starts 'ray kuberay-autoscaler ...' there.
command -v node > /dev/null || {
  echo 'manta: this image has no Node; give --image one with Node 24 and bash, such as node:24-bookworm-slim' >&2
  exit 1
}
# A process of its own: what it took to unpack is not kept.
folder=$(node "${0%/*}/unpack.mjs") || exit 1
exec node "$folder/kube.js" "$@"
