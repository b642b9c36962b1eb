# What the programs of this folder share. They run on hosts of the lab; what they keep is on the host's disk.
set -u
: "${NAME:?}" "${ADDRESS:?}" "${BIN:?}"
export PATH=$BIN:/opt/node/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
# No overlay: containerd makes overlays of its own, and the kernel takes no overlay as the upper part of another.
dir=/var/lib/containers/kube
# shellcheck disable=SC2034 # the programs use them
pki=$dir/pki users=$dir/users
log=/var/log/kube
mkdir -p "$dir" "$log"
cd "$dir" || exit 1

# Starts a program again whenever it ends, as an init system does.
keep() { # name, program and its arguments
  local name=$1; shift
  (while :; do "$@" >> "$log/$name.log" 2>&1; echo "$name ended with $?" >> "$log/stack.log"; sleep 1; done) &
}

wait_for() { # what, command...
  local what=$1; shift
  for _ in $(seq 1200); do if "$@" > /dev/null 2>&1; then return 0; fi; sleep 0.1; done
  echo "gave up waiting for $what" >> "$log/stack.log"; exit 1
}
