# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Prints what Ray's place on a node has to say: its processes, its packages, Ray's logs. dump-prelude.sh and
# ray-log-folder.sh stand before it.
#
# columns      of the processes, as `ps` names them; empty for no processes
# pip          yes for the packages
# logs         yes for the logs
# debug_state  yes for Ray's files of its state
# files_kept   the newest so many

cd || exit 0
[ -z "$columns" ] || tell processes.txt ps -eww -o "$columns"
[ -z "$pip" ] || tell pip.txt sh -c "bash -lic 'python -m pip freeze --disable-pip-version-check' 2>/dev/null"
if [ -z "$logs$debug_state" ] || ! to_ray_logs; then exit 0; fi
k=0
# shellcheck disable=SC2012 # the newest come first
ls -1tp | while IFS= read -r f; do
  case $f in
    # What jobs and tasks have printed is their owners' and stays where it is.
    */ | job-driver-* | worker-*.out | worker-*.err) continue ;;
    debug_state*) [ -n "$debug_state" ] || continue ;;
    *) [ -n "$logs" ] || continue ;;
  esac
  k=$((k + 1))
  [ $k -le "$files_kept" ] || break
  give "ray/$f" "$f"
done
