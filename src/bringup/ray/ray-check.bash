# shellcheck shell=bash disable=SC2154,SC2004 # the parameters are set in front of it, and by the functions
# Looks at a started Ray from inside its place, without starting Python; ray-processes.bash stands before it. Ends monitors of
# Ray's own. Says
#
#     session NAME             a raylet runs          monitor PID       was ended
#     listen ADDRESS PORT      the dashboard          gcs refused|open, dashboard STATUS    to a call without a token
#     manta-ray RAY PYTHON     of the last `ray start`
#
# pattern       the mark of the node, as a basic regular expression
# elapsed       seconds since the start commands began: a Ray without a mark that is younger came from them
# node_folder, session_file, version_file    relative to the home of the user
# is_head       yes on the head
# check_alive   a call to the GCS, as `printf %b` reads it

find_raylet() {
  local p oldest up
  raylet=
  manta_look "$pattern"
  manta_take cluster
  for p in "${!manta_found[@]}"; do [[ ${manta_name[$p]} != raylet ]] || raylet=$p; done
  [[ -z $raylet ]] || return
  # `sudo` and service managers drop the environment.
  read -r up _ </proc/uptime
  oldest=$(((${up%.*} - elapsed) * $(getconf CLK_TCK 2>/dev/null || echo 100)))
  for p in "${!manta_ray[@]}"; do
    [[ -z ${manta_other[$p]-} && ${manta_born[$p]} -ge $oldest ]] || continue
    manta_found[$p]=${manta_born[$p]}
    [[ ${manta_name[$p]} != raylet ]] || raylet=$p
  done
}

tell_session() {
  local session address
  manta_word "$raylet" session-name
  session=$manta_value
  manta_word "$raylet" gcs-address
  address=$manta_value
  manta_word "$raylet" temp_dir
  echo "session $session"
  [[ ! -d ~/$node_folder ]] || echo "$session $address $manta_value" >~/"$session_file"
}

end_monitor() {
  kill -TERM "$1" || sudo -n kill -TERM "$1"
  for _ in {1..25}; do
    manta_alive "$1" "${manta_born[$1]}" || break
    sleep 0.02
  done
  ! manta_alive "$1" "${manta_born[$1]}" || kill -KILL "$1" || sudo -n kill -KILL "$1"
  echo "monitor $1"
}

# Sets `gcs` and `dashboard` to their processes.
find_parts() {
  local p words
  gcs='' dashboard=''
  for p in "${!manta_found[@]}"; do
    [[ -n ${manta_ray[$p]-} ]] || continue
    case ${manta_name[$p]} in
      gcs_server) gcs=$p ;;
      raylet | ray::* | ray-dashboard-*) ;;
      *)
        mapfile -d '' -t words <"/proc/$p/cmdline"
        case ${words[*]} in
          *ray/autoscaler/*monitor.py*) end_monitor "$p" ;;
          *ray/dashboard/dashboard.py*) dashboard=$p ;;
        esac
        ;;
    esac
  done
}

ask_gcs() {
  local at l
  manta_word "$gcs" node-ip-address
  at=$manta_value
  manta_word "$gcs" gcs_server_port
  exec 3<>"/dev/tcp/$at/$manta_value" && printf %b "$check_alive" >&3
  while IFS= LC_ALL=C read -r -d '' -t 2 -u 3 l; do
    case $l in
      *grpc-status*16) echo 'gcs refused'; break ;;
      *grpc-status*) echo 'gcs open'; break ;;
    esac
  done
  exec 3<&-
}

ask_dashboard() {
  local port last inodes listening state inode at l
  manta_word "$dashboard" port
  port=$manta_value
  manta_word "$dashboard" port-retries
  last=$((port + ${manta_value:-0}))
  inodes=" $(find "/proc/$dashboard/fd" -lname 'socket:*' -printf '%l ' 2>/dev/null | tr -d 'socket:[]')"
  while read -r _ listening _ state _ _ _ _ _ inode _; do
    [[ $state = 0A ]] || continue
    at=$((16#${listening##*:}))
    ((at >= port && at <= last)) || continue
    [[ $inodes = ' ' || $inodes = *" $inode "* ]] || continue
    echo "listen ${listening%:*} $at"
    exec 3<>"/dev/tcp/127.0.0.1/$at" || continue
    printf 'GET /api/version HTTP/1.0\r\n\r\n' >&3
    IFS= read -r -t 5 -u 3 l && echo "dashboard ${l#* }"
    exec 3<&-
  done < <(cat /proc/net/tcp /proc/net/tcp6)
}

find_raylet
[[ -z $raylet ]] || tell_session
find_parts 2>/dev/null
sed 's/^/manta-ray /' ~/"$version_file" 2>/dev/null
if [[ -n $is_head ]]; then
  [[ -z $gcs ]] || ask_gcs 2>/dev/null
  [[ -z $dashboard ]] || ask_dashboard 2>/dev/null
fi
