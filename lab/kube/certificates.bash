#!/bin/bash
# Makes what the parts of a cluster know each other by: an authority, certificates, and a kubeconfig for each part. Once.
#   NAME, ADDRESS: of the host of the control plane    NODES: name=address of each node, with spaces between
#   BIN: folder of the programs
# shellcheck source=lab/kube/prelude.bash
. "${BASH_SOURCE%/*}/prelude.bash"
: "${NODES:?}"
mkdir -p "$pki" "$users"

certificate() { # file, subject, alternative names
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$pki/$1.key" -subj "$2" 2>/dev/null |
    openssl x509 -req -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -CAcreateserial -days 3650 -out "$pki/$1.crt" \
      -extfile <(printf 'extendedKeyUsage=serverAuth,clientAuth\n%s\n' "${3:+subjectAltName=$3}") 2>/dev/null
}

user() { # file, subject, alternative names
  certificate "$@"
  cat > "$users/$1.yaml" <<FILE
apiVersion: v1
kind: Config
clusters: [{name: lab, cluster: {server: "https://$NAME", certificate-authority-data: $(base64 -w0 "$pki/ca.crt")}}]
users: [{name: $1, user: {client-certificate-data: $(base64 -w0 "$pki/$1.crt"), client-key-data: $(base64 -w0 "$pki/$1.key")}}]
contexts: [{name: lab, context: {cluster: lab, user: $1}}]
current-context: lab
FILE
}

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -keyout "$pki/ca.key" -out "$pki/ca.crt" -subj /CN=lab-kube 2>/dev/null
openssl genrsa -out "$pki/sa.key" 2048 2>/dev/null
certificate server /CN=kube-apiserver "DNS:$NAME,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local,IP:$ADDRESS,IP:127.0.0.1,IP:10.96.0.1"
certificate kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client
user admin /O=system:masters/CN=admin
user controller-manager /CN=system:kube-controller-manager
user scheduler /CN=system:kube-scheduler
user kube-proxy /CN=system:kube-proxy
user dns /CN=lab:dns
user kuberay-operator /CN=kuberay-operator
for node in $NODES; do
  user "kubelet-${node%=*}" "/O=system:nodes/CN=system:node:${node%=*}" "DNS:${node%=*},IP:${node#*=}"
done
# People for tests, who may do what they are given: token, name, uid.
for person in ada bob; do echo "$(openssl rand -hex 16),$person,$person"; done > tokens.csv
