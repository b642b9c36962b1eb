#!/bin/bash
# The control plane on one host of the lab, every part real: etcd, kube-apiserver, controller-manager, scheduler, the KubeRay operator,
# and names for pods. `control.bash seed` starts the first two alone, and leaves etcd's folder with KubeRay's CRDs in seed.tar.gz.
#   NAME, ADDRESS: of the host    BIN: folder of the programs    LAB: folder of this file
# shellcheck source=lab/kube/prelude.bash
. "${BASH_SOURCE%/*}/prelude.bash"
: "${LAB:?}"
export KUBECONFIG=$users/admin.yaml

start_store() { # how the API server tells where it is
  keep etcd etcd --data-dir etcd --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380 --unsafe-no-fsync --log-level error
  # Whoever is lost is given up after seconds, not minutes.
  keep kube-apiserver kube-apiserver --etcd-servers=http://127.0.0.1:2379 --bind-address=0.0.0.0 --secure-port=443 --advertise-address="$ADDRESS" \
    --tls-cert-file="$pki/server.crt" --tls-private-key-file="$pki/server.key" --client-ca-file="$pki/ca.crt" --token-auth-file=tokens.csv \
    --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --service-cluster-ip-range=10.96.0.0/16 --endpoint-reconciler-type="$1" \
    --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$pki/sa.key" --service-account-signing-key-file="$pki/sa.key" \
    --kubelet-certificate-authority="$pki/ca.crt" --kubelet-client-certificate="$pki/kubelet-client.crt" \
    --kubelet-client-key="$pki/kubelet-client.key" --kubelet-preferred-address-types=InternalIP \
    --default-not-ready-toleration-seconds=10 --default-unreachable-toleration-seconds=10
  wait_for kube-apiserver kubectl get --raw /readyz
}

install_kuberay() {
  wait_for 'the CRDs' kubectl apply --server-side --force-conflicts -f "$BIN/crd" -f "$BIN/rbac" -f "$LAB/roles.yaml"
  wait_for 'the CRDs to be served' kubectl wait --for=condition=Established crd --all --timeout=30s
}

controllers=endpoints-controller,endpointslice-controller,garbage-collector-controller,pod-garbage-collector-controller,job-controller
controllers=$controllers,cronjob-controller,deployment-controller,replicaset-controller,statefulset-controller,daemonset-controller,namespace-controller
controllers=$controllers,serviceaccount-controller,serviceaccount-token-controller,root-ca-certificate-publisher-controller
controllers=$controllers,node-lifecycle-controller,taint-eviction-controller,resourcequota-controller,disruption-controller
controllers=$controllers,persistentvolume-binder-controller,persistentvolumeclaim-protection-controller,ttl-after-finished-controller

start_rest() {
  keep kube-controller-manager kube-controller-manager --kubeconfig="$users/controller-manager.yaml" --leader-elect=false --secure-port=0 \
    --controllers="$controllers" --node-monitor-period=1s --node-monitor-grace-period=12s \
    --use-service-account-credentials --service-account-private-key-file="$pki/sa.key" --root-ca-file="$pki/ca.crt"
  keep kube-scheduler kube-scheduler --kubeconfig="$users/scheduler.yaml" --leader-elect=false --secure-port=0
  keep dns node "$LAB/dns.ts" "$NAME" "$pki" "$ADDRESS" 127.0.0.1
  keep kuberay-operator env KUBECONFIG="$users/kuberay-operator.yaml" kuberay-operator --enable-leader-election=false \
    --metrics-addr=127.0.0.1:8081 --health-probe-bind-address=127.0.0.1:8082 --feature-gates=RayCronJob=true --log-stdout-encoder=console
}

if [ "${1:-}" = seed ]; then
  keep() { local name=$1; shift; "$@" >> "$log/$name.log" 2>&1 & }
  start_store none
  install_kuberay
  # shellcheck disable=SC2046 # one word for each
  kill $(jobs -p)
  wait
  tar -czSf seed.tar.gz etcd
  rm -rf etcd
  exit
fi
[ -d etcd ] || tar -xzSf seed.tar.gz
start_store lease
start_rest
: > /run/kube-ready
wait
