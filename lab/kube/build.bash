#!/bin/bash
# Builds Kubernetes, etcd and the KubeRay operator with its CRDs from Go modules, all in one module so that they share packages.
#   OUT: folder for the programs    WORK: scratch folder    PAUSE: source of the program that holds a pod's namespaces
#   KUBERNETES, KUBERAY, ETCD: versions; KubeRay's own version of Kubernetes must be that of KUBERNETES
#   ONLY: `manifests` copies KubeRay's CRDs and roles alone
#
# `go install` cannot do it: the modules of Kubernetes and etcd replace others by folders that are not in their archives. Each of
# those is published under a version of its own (k8s.io/X v0.MINOR.PATCH), which is put in its place here.
set -euo pipefail
: "${OUT:?}" "${WORK:?}" "${PAUSE:?}" "${KUBERNETES:?}" "${KUBERAY:?}" "${ETCD:?}"
export CGO_ENABLED=0 GOFLAGS="-mod=mod -trimpath -buildvcs=false" GOCACHE="$WORK/cache" GOMODCACHE="$WORK/modules"
operator=github.com/ray-project/kuberay/ray-operator
minor=${KUBERNETES#v1.}

# What `go mod download` says of a module.
downloaded() { # module@version, field
  go mod download -json "$1" | sed -n "s/^\t\"$2\": \"\(.*\)\",\{0,1\}$/\1/p"
}

# KubeRay's CRDs, and the roles of its operator.
copy_manifests() {
  local from; from=$(downloaded "$operator@$KUBERAY" Dir)
  rm -rf "$OUT/crd" "$OUT/rbac"
  mkdir "$OUT/crd" "$OUT/rbac"
  cp "$from"/config/crd/bases/*.yaml "$OUT/crd/"
  cp "$from/config/rbac/role.yaml" "$OUT/rbac/"
  chmod u+w "$OUT"/crd/* "$OUT"/rbac/*
  # Go makes its modules read-only.
  chmod -R u+w "$WORK"
}

mkdir -p "$OUT" "$WORK/module"
cd "$WORK/module"
[ "${ONLY:-}" != manifests ] || { copy_manifests; exit; }
theirs=$(downloaded "k8s.io/kubernetes@$KUBERNETES" GoMod)
[ -n "$theirs" ] || { echo "k8s.io/kubernetes $KUBERNETES cannot be downloaded" >&2; exit 1; }
{
  printf 'module lab/kube\n\n'
  grep -E '^(go|godebug) ' "$theirs"
  printf 'require k8s.io/kubernetes %s\nrequire %s %s\nrequire go.etcd.io/etcd/server/v3 %s\n' "$KUBERNETES" "$operator" "$KUBERAY" "$ETCD"
  printf 'replace %s => %s %s\n' "$operator" "$operator" "$KUBERAY"
  sed -n "s#^[[:space:]]*\(replace \)\{0,1\}\(k8s\.io/[a-z0-9-]*\) => \./staging/.*#replace \2 => \2 v0.$minor#p" "$theirs"
} > go.mod

# Without its version a server calls itself v0.0.0, which clients refuse.
flags='-s -w'
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  flags="$flags -X $package.gitVersion=$KUBERNETES -X $package.gitMajor=1 -X $package.gitMinor=${minor%%.*} -X $package.gitTreeState=clean"
done
for program in kubelet kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubectl; do
  go build -ldflags "$flags" -o "$OUT/" "k8s.io/kubernetes/cmd/$program"
done
go build -ldflags '-s -w' -o "$OUT/kuberay-operator" "$operator"
go build -ldflags '-s -w' -o "$OUT/etcd" go.etcd.io/etcd/server/v3
go build -ldflags '-s -w' -o "$OUT/pause" "$PAUSE"
copy_manifests
