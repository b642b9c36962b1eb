# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Ends Ray in a container and removes the container with all else in it. Says `container removed`, `absent`, `foreign` or
# `left`, and `refused WORDS` where the engine does not answer: then nothing is known of the container. docker.sh or
# podman.sh stands before it.
#
# manta_name    of the container
# manta_format  says whether it runs and which node's it is, as a template of the engine's
# manta_owner   how the name of a node of this cluster begins
# manta_end     bash text that ends Ray, for the container

manta_look() { manta_seen=$(manta_engine container inspect -f "$manta_format" "$manta_name" 2>&1); }
manta_gone() { case $manta_seen in *[Nn]'o such container'* | *'no container with name'*) ;; *) return 1 ;; esac; }
manta_say() {
  echo "$1"
  exit 0
}

manta_has_engine || manta_say 'container absent'
if ! manta_look; then
  if manta_gone; then manta_say 'container absent'; fi
  manta_say "refused $manta_seen"
fi
case $manta_seen in
  *" $manta_owner"* | *' ' | *' <no value>') ;;
  *) manta_say 'container foreign' ;;
esac
# shellcheck disable=SC2016 # read in the container
case $manta_seen in
  true*) printf %s "$manta_end" | manta_exec_briefly "$manta_name" bash -c 'eval "$(cat)" </dev/null' ;;
esac
manta_remove "$manta_name"
manta_silent=
for _ in 1 2 3 4 5 6 7 8 9 10; do
  if manta_look; then
    manta_silent=
  elif manta_gone; then
    manta_say 'container removed'
  else
    manta_silent=$manta_seen
  fi
  sleep 0.2
done
echo container left
[ -z "$manta_silent" ] || echo "refused $manta_silent"
