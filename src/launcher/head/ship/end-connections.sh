# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Ends the connections to the workers, which outlive mantad by minutes. Their sockets, named by sixteen digits, stand in its
# folder.
#
# folder  the cluster's, relative to the home of the user

cd "$HOME" || exit 0
for s in "$folder"/????????????????; do [ -S "$s" ] && ssh -S "$s" -O exit manta >/dev/null 2>&1; done
