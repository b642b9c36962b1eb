# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Deletes the machine that it runs on, with the token of the machine: one that only powers itself off keeps its disk, which
# costs money. Returns soon where the machine may not, or has no token.
#
# metadata  where a machine learns about itself
# compute   the API of Compute Engine
# tpu       the API of TPUs

(
  if command -v curl >/dev/null; then
    about() { curl -sf -m 10 --noproxy '*' -H 'Metadata-Flavor: Google' "$metadata/$1"; }
    delete() { curl -sf -m 60 -o /dev/null -X DELETE -H "Authorization: Bearer $1" "$2"; }
  else
    about() { wget -q -T 10 -t 1 -O - --no-proxy --header='Metadata-Flavor: Google' "$metadata/$1"; }
    delete() { wget -q -T 60 -t 1 -O /dev/null --method=DELETE --header="Authorization: Bearer $1" "$2"; }
  fi
  project=$(about project/project-id) && zone=$(about instance/zone) && name=$(about instance/name) || exit 1
  # A host of a slice that is switched off costs as before: the first one deletes the slice, and the others leave it to that one.
  while slice=$(about instance/attributes/instance-id) && host=$(about instance/attributes/agent-worker-number); do
    token=$(about instance/service-accounts/default/token | sed -n 's/.*"access_token" *: *"\([^"]*\)".*/\1/p')
    [ "$host" != 0 ] || delete "$token" "$tpu/projects/$project/locations/${zone##*/}/nodes/$slice"
    sleep 60
  done
  for _ in 1 2 3; do
    token=$(about instance/service-accounts/default/token | sed -n 's/.*"access_token" *: *"\([^"]*\)".*/\1/p')
    [ -n "$token" ] || exit 1
    # It goes within a minute or two: what powers it off runs after this.
    if delete "$token" "$compute/projects/$project/zones/${zone##*/}/instances/$name"; then
      sleep 120
      exit 0
    fi
    sleep 2
  done
)
