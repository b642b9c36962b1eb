# shellcheck shell=sh disable=SC2154,SC2034 # the parameters are set in front of it; step-follow.sh comes after it
# Finds a step that is known to have been started.
#
# folder   folder of all steps, relative to the home of the user
# step     id of this one

umask 077
cd || exit 3
d=$folder/$step
w=attached
if [ ! -d "$d" ]; then
  echo 'attached -'
  echo '- gone'
  exit 0
fi
