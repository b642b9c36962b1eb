#!/bin/bash
# Kubernetes on one host of the lab, every part real: etcd, kube-apiserver, controller-manager, scheduler, the KubeRay operator, and a
# node with kubelet and containerd. The first process of the host starts it at every boot; what it keeps is on the host's disk.
#   NAME, ADDRESS: of the host    REGISTRIES: addresses of the lab's registries, with spaces between    BIN: folder of the programs
set -u
: "${NAME:?}" "${ADDRESS:?}" "${REGISTRIES?}" "${BIN:?}"
export PATH=$BIN:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
# No overlay: containerd makes overlays of its own, and the kernel takes no overlay as the upper part of another.
dir=/var/lib/containers/kube
pki=$dir/pki log=/var/log/kube
export KUBECONFIG=$dir/admin.yaml
mkdir -p "$dir" "$pki" "$log" "$dir/cni" "$dir/registries" "$dir/sysctl" /run/containerd-lab
cd "$dir" || exit 1

certificate() { # file, subject, alternative names
  [ ! -f "$pki/$1.crt" ] || return 0
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$pki/$1.key" -subj "$2" 2>/dev/null |
    openssl x509 -req -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -CAcreateserial -days 3650 -out "$pki/$1.crt" \
      -extfile <(printf 'extendedKeyUsage=serverAuth,clientAuth\n%s\n' "${3:+subjectAltName=$3}") 2>/dev/null
}

new_certificates() {
  [ -f "$pki/ca.crt" ] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 \
    -keyout "$pki/ca.key" -out "$pki/ca.crt" -subj /CN=lab-kube 2>/dev/null
  [ -f "$pki/sa.key" ] || openssl genrsa -out "$pki/sa.key" 2048 2>/dev/null
  certificate server /CN=kube-apiserver "DNS:$NAME,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,IP:$ADDRESS,IP:127.0.0.1,IP:10.96.0.1"
  certificate admin /O=system:masters/CN=admin
  certificate kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client
  certificate kubelet "/CN=system:node:$NAME" "DNS:$NAME,IP:$ADDRESS"
  # People for tests, who may do what they are given: token, name, uid.
  [ -f tokens.csv ] || for user in ada bob; do echo "$(openssl rand -hex 16),$user,$user"; done > tokens.csv
}

write_files() {
  cat > admin.yaml <<FILE
apiVersion: v1
kind: Config
clusters: [{name: lab, cluster: {server: "https://$NAME", certificate-authority-data: $(base64 -w0 "$pki/ca.crt")}}]
users: [{name: admin, user: {client-certificate-data: $(base64 -w0 "$pki/admin.crt"), client-key-data: $(base64 -w0 "$pki/admin.key")}}]
contexts: [{name: lab, context: {cluster: lab, user: admin}}]
current-context: lab
FILE
  cat > containerd.toml <<FILE
version = 2
root = "$dir/containerd"
state = "/run/containerd-lab"
[grpc]
  address = "/run/containerd-lab/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "lab/pause:1"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$dir/cni"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "$dir/registries"
FILE
  for registry in $REGISTRIES; do
    mkdir -p "registries/$registry"
    printf 'server = "http://%s"\n[host."http://%s"]\n  capabilities = ["pull", "resolve"]\n' "$registry" "$registry" > "registries/$registry/hosts.toml"
  done
  cat > cni/10-lab.conflist <<'FILE'
{"cniVersion":"0.4.0","name":"lab","plugins":[{"type":"bridge","bridge":"kube0","isGateway":true,
 "ipam":{"type":"host-local","ranges":[[{"subnet":"10.88.1.0/24"}]],"routes":[{"dst":"0.0.0.0/0"}]}}]}
FILE
  cat > kubelet.yaml <<FILE
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix:///run/containerd-lab/containerd.sock
failCgroupV1: false
failSwapOn: false
cgroupDriver: cgroupfs
oomScoreAdj: 0
maxOpenFiles: 20000
tlsCertFile: $pki/kubelet.crt
tlsPrivateKeyFile: $pki/kubelet.key
authentication: {anonymous: {enabled: false}, x509: {clientCAFile: $pki/ca.crt}, webhook: {enabled: true}}
authorization: {mode: Webhook}
makeIPTablesUtilChains: false
clusterDNS: ["$ADDRESS"]
clusterDomain: cluster.local
FILE
}

# A docker archive of one program.
pause_image() {
  [ ! -f pause.tar ] || return 0
  local work; work=$(mktemp -d)
  tar -cf "$work/layer.tar" -C "$BIN" pause
  local sum; sum=$(sha256sum "$work/layer.tar" | cut -d' ' -f1)
  printf '{"architecture":"amd64","os":"linux","config":{"Entrypoint":["/pause"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' "$sum" > "$work/config.json"
  printf '[{"Config":"config.json","RepoTags":["lab/pause:1"],"Layers":["layer.tar"]}]' > "$work/manifest.json"
  tar -cf pause.tar -C "$work" manifest.json config.json layer.tar
  rm -rf "$work"
}

# The kubelet sets these for the whole machine: it gets copies to write to.
shield_kernel() {
  for key in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
    cat "/proc/sys/$key" > "sysctl/${key//\//_}"
    mount --bind "sysctl/${key//\//_}" "/proc/sys/$key"
  done
}

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

start_control_plane() {
  keep etcd etcd --data-dir etcd --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380 --unsafe-no-fsync --log-level error
  keep kube-apiserver kube-apiserver --etcd-servers=http://127.0.0.1:2379 --bind-address=0.0.0.0 --secure-port=443 --advertise-address="$ADDRESS" \
    --tls-cert-file="$pki/server.crt" --tls-private-key-file="$pki/server.key" --client-ca-file="$pki/ca.crt" --token-auth-file=tokens.csv \
    --authorization-mode=Node,RBAC --service-cluster-ip-range=10.96.0.0/16 --endpoint-reconciler-type=none \
    --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$pki/sa.key" --service-account-signing-key-file="$pki/sa.key" \
    --kubelet-certificate-authority="$pki/ca.crt" --kubelet-client-certificate="$pki/kubelet-client.crt" \
    --kubelet-client-key="$pki/kubelet-client.key" --kubelet-preferred-address-types=InternalIP
  wait_for kube-apiserver kubectl get --raw /readyz
  keep kube-controller-manager kube-controller-manager --kubeconfig="$KUBECONFIG" --leader-elect=false --secure-port=0 \
    --use-service-account-credentials --service-account-private-key-file="$pki/sa.key" --root-ca-file="$pki/ca.crt"
  keep kube-scheduler kube-scheduler --kubeconfig="$KUBECONFIG" --leader-elect=false --secure-port=0
}

start_node() {
  mount --make-rshared /
  shield_kernel
  keep containerd containerd -c containerd.toml
  wait_for containerd ctr -a /run/containerd-lab/containerd.sock version
  ctr -a /run/containerd-lab/containerd.sock -n k8s.io images import pause.tar > "$log/images.log" 2>&1
  keep kubelet kubelet --config kubelet.yaml --kubeconfig "$KUBECONFIG" --root-dir "$dir/kubelet" --hostname-override "$NAME" --node-ip "$ADDRESS"
}

new_certificates
write_files
pause_image
start_control_plane
start_node
wait_for 'the CRDs' kubectl apply --server-side --force-conflicts -f "$BIN/crd"
wait_for 'the CRDs to be served' kubectl wait --for=condition=Established crd --all --timeout=30s
keep kuberay-operator kuberay-operator --enable-leader-election=false --metrics-addr=127.0.0.1:8081 --health-probe-bind-address=127.0.0.1:8082 \
  --use-kubernetes-proxy --feature-gates=RayCronJob=true --log-stdout-encoder=console
: > /run/kube-ready
wait
