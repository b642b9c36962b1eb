# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Tells what an exit code of 255 was: `ended` by the command itself, `absent` where there is no node of the cluster.
#
# node, named, note  as in exec.sh

if [ -e ~/"$note" ]; then
  rm -f ~/"$note"
  echo ended
elif [ ! -d ~/"$node" ] && ! grep -qsF -e "$named" ~/ray_bootstrap_config.yaml; then
  echo absent
fi
