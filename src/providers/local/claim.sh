# shellcheck shell=sh disable=SC2154,SC2034,SC2009,SC3013 # the parameters are set in front of it; dash and busybox know -ef
# Claims a host, renews a claim, gives one back, or only looks. One file a user and cluster, in a sticky folder where nobody
# can touch the files of others; all of it under one lock, which the kernel gives back when its holder dies. Whether a claim
# has expired is told by the clock of the host that holds it: by its uptime where it has not been booted since, so that a
# clock that is set does not matter. What has expired is overtaken only where no Ray runs. flock-prelude.sh stands before it.
#
# act                claim, renew, release, clear (gives back what the cluster holds, for any instance) or look
# folder             of the claims
# proc, devices      where the host tells of itself
# lifetime           seconds after which a claim that was not renewed has expired
# cluster, instance  who claims, by id
# note               rest of the claim's JSON, for those who find the host taken
# answer_mark        begins each line that is meant: a login may print lines of its own

LC_ALL=C; export LC_ALL
umask 022
uid=$(id -u)
own="$folder/$uid-$cluster"
say() { printf '%s %s\n' "$answer_mark" "$*"; }
answer() { say "$@"; exit 0; }

look() {
  say cpus "$(getconf _NPROCESSORS_ONLN 2>/dev/null || nproc 2>/dev/null || echo 0)"
  while read -r key value unit; do
    if [ "$key" = MemTotal: ]; then say memory "$((value * 1024))"; break; fi
  done 2>/dev/null <"$proc/meminfo"
  gpus=0
  for device in "$devices"/nvidia[0-9]*; do if [ -e "$device" ]; then gpus=$((gpus + 1)); fi; done
  say gpus "$gpus"
}

# Whether Ray runs here, no matter who started it. Where the processes of others are hidden, it may.
ray_runs() {
  if [ -r "$proc/1/comm" ]; then
    cat "$proc"/[0-9]*/comm 2>/dev/null | grep -qxE 'raylet|gcs_server'
  elif [ -d "$proc/1" ]; then
    return 0
  else
    ps -A -o comm= 2>/dev/null | grep -qE '(^|/)(raylet|gcs_server)$'
  fi
}

open_folder() {
  mkdir -m 1777 "$folder" 2>/dev/null
  tries=0
  # Who made it just now may not have opened it to all yet.
  until [ -d "$folder" ] && [ ! -L "$folder" ] && [ -k "$folder" ] && [ -w "$folder" ] && [ -x "$folder" ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 10 ]; then answer unusable "'$folder' must be a folder that every user can write to (mode 1777)"; fi
    sleep 0.1 2>/dev/null || sleep 1
  done
}

# The lock is on the folder itself, so that no file of one user stands in the way of another.
lock_folder() {
  while :; do
    exec 9<"$folder" || answer unusable "'$folder' cannot be opened"
    flock_9 2>/dev/null ||
      answer unusable "the lock on '$folder' was not free for 20 s, or there is neither flock nor python3"
    # A folder that was removed and made again in between is another one.
    if [ ! -e /proc/self/fd/9 ] || [ "$folder" -ef /proc/self/fd/9 ]; then return; fi
    open_folder
  done
}

# Reads one claim. No value before the note has a comma in it.
read_claim() {
  line=; IFS= read -r line <"$1" 2>/dev/null
  IFS=, read -r c_format c_renewed c_expires c_lifetime c_uptime c_boot c_cluster c_instance c_note <<END
$line
END
  [ "$c_format" = '{"format":1' ] || return 1
  c_renewed=${c_renewed#'"renewedAt":'}
  c_lifetime=${c_lifetime#'"lifetime":'}
  c_uptime=${c_uptime#'"uptime":'}
  c_boot=${c_boot#'"boot":"'}; c_boot=${c_boot%'"'}
  c_cluster=${c_cluster#'"clusterId":"'}; c_cluster=${c_cluster%'"'}
  c_instance=${c_instance#'"instance":"'}; c_instance=${c_instance%'"'}
  case "$c_renewed$c_lifetime$c_uptime" in *[!0-9]*) return 1 ;; esac
  [ -n "$c_renewed" ] && [ -n "$c_lifetime" ] && [ -n "$c_uptime" ]
}

# A claim from the future was made before the clock was set back, in another life of the host.
in_force() {
  if [ -n "$boot" ] && [ "$c_boot" = "$boot" ]; then age=$((uptime - c_uptime)); else age=$((now - c_renewed)); fi
  [ "$age" -lt "$c_lifetime" ] && [ "$((0 - age))" -lt "$c_lifetime" ]
}

# A claim that a power cut leaves torn would keep all others from the host. A `sync` that takes no files is done without.
to_disk() { sync -- "$1" 2>/dev/null || :; }

write_claim() {
  draft="$folder/.$uid-$cluster.$$"
  rm -f "$draft"
  (
    set -C
    printf '{"format":1,"renewedAt":%s,"expiresAt":%s,"lifetime":%s,"uptime":%s,"boot":"%s","clusterId":"%s","instance":"%s",%s\n' \
      "$now" "$((now + lifetime))" "$lifetime" "$uptime" "$boot" "$cluster" "$instance" "$note" >"$draft"
  ) && to_disk "$draft" && mv -f "$draft" "$own" && to_disk "$folder" && return
  rm -f "$draft"
  answer unusable "the claim cannot be written to '$own'"
}

# Whether it belongs to the user whom its name tells: everybody can put files here, in anybody's name. Where the host does
# not say whose it is, it counts.
is_genuine() {
  name=${1##*/}
  listed=$(ls -dn -- "$1" 2>/dev/null) || return 0
  read -r c_mode c_links c_uid c_rest <<END
$listed
END
  [ "$c_uid" = "${name%%-*}" ]
}

# Ends with the claim of another cluster that is in force, or that has expired while Ray runs.
refuse_taken() {
  for file in "$folder"/*; do
    if [ "$file" = "$own" ] || [ ! -f "$file" ] || [ -L "$file" ]; then continue; fi
    case ${file##*/} in [0-9]*-*) ;; *) continue ;; esac
    if ! is_genuine "$file"; then continue; fi
    if ! read_claim "$file"; then
      # What a power cut left of a claim that an older Manta wrote.
      if [ ! -s "$file" ] && ! ray_runs; then
        rm -f "$file" 2>/dev/null
        continue
      fi
      answer unusable "the claim '$file' cannot be read"
    fi
    if in_force; then answer taken "$line"; fi
    if ray_runs; then answer taken-by-ray "$line"; fi
    rm -f "$file" 2>/dev/null
  done
}

if [ "$act" = look ]; then look; answer looked; fi
open_folder
lock_folder
now=$(date +%s)
boot=; uptime=0
if read -r boot 2>/dev/null <"$proc/sys/kernel/random/boot_id" && read -r uptime rest 2>/dev/null <"$proc/uptime"; then
  uptime=${uptime%%.*}
else boot=; uptime=0; fi
case $boot in *[!0-9a-f-]*) boot= ;; esac

mine=
if [ -e "$own" ] || [ -L "$own" ]; then
  if [ -L "$own" ] || [ ! -f "$own" ] || [ ! -O "$own" ]; then answer unusable "'$own' belongs to someone else"; fi
  if read_claim "$own"; then mine=$c_instance; fi
fi

case $act in
claim)
  if [ -n "$mine" ] && [ "$mine" != "$instance" ]; then answer own "$mine"; fi
  if [ -z "$mine" ] || ! in_force; then refuse_taken; fi
  if ray_runs; then say ray yes; fi
  write_claim
  look
  answer held
  ;;
renew)
  if [ -n "$mine" ] && [ "$mine" != "$instance" ]; then answer lost "$line"; fi
  if [ -z "$mine" ] || ! in_force; then refuse_taken; fi
  write_claim
  answer held
  ;;
release | clear)
  if [ "$act" = clear ]; then instance=$mine; fi
  if [ -n "$mine" ] && [ "$mine" = "$instance" ]; then
    rm -f "$own" || answer unusable "'$own' cannot be removed"
    answer released
  fi
  answer not-held
  ;;
esac
