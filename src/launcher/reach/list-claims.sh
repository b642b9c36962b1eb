# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Prints `there` and the claims of a cluster on its head, one a line; nothing where Manta has put nothing there.
#
# folder  the cluster's, relative to the home of the user

cd "$HOME" && [ -f "$folder/cluster.json" ] || exit 0
echo there
for f in "$folder"/instances/claims/*.json; do [ -f "$f" ] && cat "$f" && echo; done
exit 0
