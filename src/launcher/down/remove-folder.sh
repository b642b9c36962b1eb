# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Removes the folder of a cluster from its head, and says what is left.
#
# folder  the cluster's, relative to the home of the user

cd "$HOME" || exit 0
rm -rf "$folder"
if [ -e "$folder" ]; then echo "manta-left ~/$folder"; fi
