# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Prints what a host has to say of a node. dump-prelude.sh stands before it.
#
# steps    folder of the node's steps, relative to the home of the user, as are the next two
# node     the node's folder
# cluster  the cluster's folder on its head

cd || exit 0
for d in "$steps"/*/; do
  [ -d "$d" ] || continue
  i=${d%/}
  i=${i##*/}
  give "steps/$i.txt" "$d/output"
  give "steps/$i.rc" "$d/rc"
done
give record.json "$node/record.json"
give mantad.log "$cluster/mantad.log"
tell host.txt sh -c 'date; uname -a; uptime; df -h; free -m; ulimit -a'
exit 0
