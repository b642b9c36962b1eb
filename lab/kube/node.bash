#!/bin/bash
# A node on a host of the lab: containerd, kubelet and kube-proxy. It has what certificates.bash made for it.
#   NAME, ADDRESS: of the host    DNS: who answers pods' questions    REGISTRIES: addresses of the lab's, with spaces between
#   PODS: name=range of the nodes' pods    NODES: name=address of each node    BIN: folder of the programs
# shellcheck source=lab/kube/prelude.bash
. "${BASH_SOURCE%/*}/prelude.bash"
: "${DNS:?}" "${REGISTRIES?}" "${PODS:?}" "${NODES:?}"
mkdir -p cni registries sysctl /run/containerd-lab
socket=/run/containerd-lab/containerd.sock

write_files() {
  cat > containerd.toml <<FILE
version = 2
root = "$dir/containerd"
state = "/run/containerd-lab"
[grpc]
  address = "$socket"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "lab/pause:1"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    discard_unpacked_layers = true
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
  cat > cni/10-lab.conflist <<FILE
{"cniVersion":"0.4.0","name":"lab","plugins":[{"type":"bridge","bridge":"kube0","isGateway":true,"hairpinMode":true,
 "ipam":{"type":"host-local","ranges":[[{"subnet":"$(of_node "$NAME" "$PODS")"}]],"routes":[{"dst":"0.0.0.0/0"}]}}]}
FILE
  cat > kubelet.yaml <<FILE
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix://$socket
failCgroupV1: false
failSwapOn: false
cgroupDriver: cgroupfs
oomScoreAdj: 0
maxOpenFiles: 20000
tlsCertFile: $pki/kubelet-$NAME.crt
tlsPrivateKeyFile: $pki/kubelet-$NAME.key
authentication: {anonymous: {enabled: false}, x509: {clientCAFile: $pki/ca.crt}, webhook: {enabled: true}}
authorization: {mode: Webhook}
makeIPTablesUtilChains: false
serializeImagePulls: false
nodeStatusUpdateFrequency: 3s
nodeLeaseDurationSeconds: 8
clusterDNS: ["$DNS"]
clusterDomain: cluster.local
FILE
  cat > kube-proxy.yaml <<FILE
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
clientConnection: {kubeconfig: $users/kube-proxy.yaml}
clusterCIDR: 10.88.0.0/16
hostnameOverride: $NAME
healthzBindAddress: 127.0.0.1:10256
metricsBindAddress: 127.0.0.1:10249
# These belong to the whole machine.
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
FILE
}

of_node() { # name, name=value...
  for each in $2; do [ "${each%%=*}" != "$1" ] || echo "${each#*=}"; done
}

# Pods of other nodes are behind these, as a cloud's routes have it.
route_pods() {
  echo 1 > /proc/sys/net/ipv4/ip_forward
  for node in $NODES; do
    [ "${node%%=*}" = "$NAME" ] || ip route replace "$(of_node "${node%%=*}" "$PODS")" via "${node#*=}"
  done
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

write_files
pause_image
mount --make-rshared /
shield_kernel
route_pods
keep containerd containerd -c containerd.toml
wait_for containerd ctr -a "$socket" version
ctr -a "$socket" -n k8s.io images import pause.tar > "$log/images.log" 2>&1
keep kubelet kubelet --config kubelet.yaml --kubeconfig "$users/kubelet-$NAME.yaml" --root-dir "$dir/kubelet" --hostname-override "$NAME" --node-ip "$ADDRESS"
keep kube-proxy kube-proxy --config kube-proxy.yaml
wait
