# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Pulls an image of a registry of Google. Where what is logged in there does not suffice, the machine's own service account does,
# if it has one that may; its token is kept no longer than for the pull.
#
# engine    docker or podman
# image     what is pulled
# registry  where from
# metadata  where a machine learns about itself

"$engine" pull "$image" && exit 0
code=$?
ask() {
  if command -v curl >/dev/null; then
    curl -sf -m 10 --noproxy '*' -H 'Metadata-Flavor: Google' "$1"
  else
    wget -q -T 10 -t 1 -O - --no-proxy --header='Metadata-Flavor: Google' "$1"
  fi
}
token=$(ask "$metadata/instance/service-accounts/default/token" | sed -n 's/.*"access_token" *: *"\([^"]*\)".*/\1/p')
[ -n "$token" ] || exit "$code"
kept=$(mktemp -d) || exit "$code"
trap 'rm -rf "$kept"' EXIT
echo "logging in to $registry with the service account of this machine"
echo '{}' >"$kept/config.json"
export DOCKER_CONFIG="$kept" REGISTRY_AUTH_FILE="$kept/config.json"
printf '%s' "$token" | "$engine" login -u oauth2accesstoken --password-stdin "$registry" >/dev/null || exit "$code"
"$engine" pull "$image"
