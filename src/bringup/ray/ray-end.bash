# shellcheck shell=bash disable=SC2154 # the parameters are set in front of it
# Ends Ray and all that was started for a node, from inside its place; ray-processes.bash stands before it. Says `looked`
# when it could look what runs there, and fails where something is left.
#
# pattern       the mark of the node, or of all nodes of its cluster, as a basic regular expression
# session_file  what is known of the last session of Ray, relative to the home of the user

manta_end cluster "$pattern" ~/"$session_file"
status=$?
echo looked
[[ $status = 0 ]] || exit $status
if read -r _ gcs folder 2>/dev/null <~/"$session_file"; then
  # Ray's tools on this machine would go on trying the cluster that has ended.
  [[ $(cat "$folder/ray_current_cluster" 2>/dev/null) != "$gcs" ]] || rm -f "$folder/ray_current_cluster"
  rm -f ~/"$session_file"
fi
