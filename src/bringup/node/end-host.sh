# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Removes the folder of a node from its host, and the file that `ray up` leaves on a head, where it is this cluster's.
#
# folder      the node's, relative to the home of the user
# named       how that file names the cluster

cd "$HOME" || exit 0
rm -rf "$folder"
if grep -qsF -e "$named" ~/ray_bootstrap_config.yaml; then rm -f ~/ray_bootstrap_config.yaml; fi
