# shellcheck shell=sh
# Deletes this machine at Google with the token of its own account. Stands where a machine's lease has run out, before it is
# switched off. A host of a slice that is switched off costs as before: the first one deletes the slice, and tries until it is
# gone; the others leave it to that one.

of_machine() {
  curl -sf --noproxy '*' -m 10 -H 'Metadata-Flavor: Google' "http://metadata.google.internal/computeMetadata/v1/$1"
}

delete_self() {
  token=$(of_machine instance/service-accounts/default/token | sed -n 's/.*"access_token" *: *"\([^"]*\)".*/\1/p')
  [ -n "$token" ] && printf 'header = "Authorization: Bearer %s"\n' "$token" | curl -sf -m 60 -K - -X DELETE "$1" >/dev/null
}

project=$(of_machine project/project-id)
zone=$(of_machine instance/zone)
zone=${zone##*/}
host=$(of_machine instance/attributes/agent-worker-number)
slice=$(of_machine instance/attributes/instance-id)
if [ -n "$host" ] && [ -n "$slice" ]; then
  while [ "$host" = 0 ]; do
    delete_self "https://tpu.googleapis.com/v2/projects/$project/locations/$zone/nodes/$slice"
    sleep 60
  done
  exit 0
fi
delete_self "https://compute.googleapis.com/compute/v1/projects/$project/zones/$zone/instances/$(of_machine instance/name)"
