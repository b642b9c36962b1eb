# shellcheck shell=sh
# Lists the logs of Ray that hold something. ray-log-folder.sh stands before it.

to_ray_logs || exit
echo "== logs of Ray in $PWD (--file NAME prints one)"
for n in *; do if [ -f "$n" ] && [ -s "$n" ]; then echo "$n"; fi; done
