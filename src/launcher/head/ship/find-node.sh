# shellcheck shell=sh disable=SC2154,SC2016 # the parameters are set in front of it; Node reads its own text
# Says where a Node is that is new enough: one that was shipped, or the one that a login shell finds.
#
# runtimes  folder of Manta's programs, relative to the home of the user
# oldest    release of Node

good() {
  [ -x "$1" ] && v=$("$1" -p 'process.versions.node.split(".")[0]' 2>/dev/null) && [ "$v" -ge "$oldest" ] 2>/dev/null
}
tell() {
  echo "manta-node $1"
  exit 0
}

for n in "$HOME/$runtimes"/node-*/node "$(command -v node 2>/dev/null)"; do if good "$n"; then tell "$n"; fi; done
command -v bash >/dev/null || exit 0
n=$(bash -lic 'command -v node' 2>/dev/null </dev/null | tail -n 1)
if good "$n"; then tell "$n"; fi
exit 0
