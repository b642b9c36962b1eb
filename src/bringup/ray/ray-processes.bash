# shellcheck shell=bash disable=SC2034,SC2154,SC2004,SC2206 # arrays go by pid, /proc has plain fields; what uses it comes after it
# Finds and ends the processes of Ray on the machine, or in the container, that it runs in. It stands in the function `ray`
# in front of a user's start commands, in the check after the start, and where a node is ended. It starts few programs,
# because it runs on every host of a cluster at once.
#
# A process belongs to a cluster by one of these: the mark in its environment; a session folder of Ray that a marked
# process has, in its words or among its open files (parts of the dashboard overwrite their environment with their title);
# a parent that belongs to it. What carries another mark, and what is below it, belongs to somebody else.

# Keeps of the processes whose files in /proc come on standard input those that are known, in `manta_hit`.
manta_hits() {
  local IFS=/ x p
  declare -gA manta_hit=()
  while read -r x x p x; do [[ -z ${manta_born[$p]-} ]] || manta_hit[$p]=1; done
}

# manta_look PATTERN reads the process table. Afterwards `manta_born` holds the start of each process, `manta_up` its parent,
# `manta_name` its name; `manta_ray` is set for processes of Ray, `manta_own` for those whose mark matches, `manta_guest` for
# those of them that are sessions of users, `manta_other` for those with another mark and all below them, `manta_self` for
# this shell and what it runs under.
manta_look() {
  local LC_ALL=C d l p f words
  declare -gA manta_born=() manta_up=() manta_name=() manta_ray=() manta_own=() manta_guest=() manta_other=() manta_self=()
  for d in /proc/[0-9]*; do
    { IFS= read -r l <"$d/stat"; } 2>/dev/null || continue
    p=${d#/proc/} f=(${l##*) })
    [[ ${f[0]-Z} != [ZX] ]] || continue
    manta_up[$p]=${f[1]} manta_born[$p]=${f[19]}
    l=${l#*(} l=${l%)*}
    manta_name[$p]=$l
    case $l in raylet | gcs_server | plasma_store* | ray::* | ray-dashboard-*) manta_ray[$p]=1 ;; esac
  done
  words='[r]ay/(dashboard/(dashboard|agent)|autoscaler/(_private|v2)/monitor)\.py'
  words+='|[r]ay/_private/(log_monitor|ray_process_reaper|workers/(default|setup)_worker|runtime_env/agent/main)\.py'
  words+='|[r]ay\.(util\.client\.server|dashboard\.subprocesses)|[i]o\.ray\.runtime\.runner|[r]ay/core/src/ray/'
  manta_hits < <(grep -lasE "$words" /proc/[0-9]*/cmdline)
  for p in "${!manta_hit[@]}"; do manta_ray[$p]=1; done
  manta_hits < <(grep -las MANTA_MARK=: /proc/[0-9]*/environ)
  for p in "${!manta_hit[@]}"; do manta_other[$p]=1; done
  manta_hits < <(grep -las "MANTA_MARK=[^[:cntrl:]]*$1" /proc/[0-9]*/environ)
  for p in "${!manta_hit[@]}"; do manta_own[$p]=1; unset "manta_other[$p]"; done
  manta_hits < <(grep -las "MANTA_MARK=[^[:cntrl:]]*$1session:" /proc/[0-9]*/environ)
  for p in "${!manta_hit[@]}"; do manta_guest[$p]=1; done
  p=$BASHPID
  while [[ -n ${manta_up[$p]-} ]]; do manta_self[$p]=1 p=${manta_up[$p]}; done
  manta_below manta_other manta_own
}

# manta_below SET BUT adds to a set what runs below its members, except members of the other set and what is below them.
manta_below() {
  local -n manta_set=$1 manta_but=$2
  local p q way
  for p in "${!manta_up[@]}"; do
    q=$p way=()
    while [[ -n ${manta_up[$q]-} && -z ${manta_set[$q]-} && -z ${manta_but[$q]-} ]]; do
      way+=("$q")
      q=${manta_up[$q]}
    done
    [[ -z ${manta_set[$q]-} ]] || for q in "${way[@]}"; do manta_set[$q]=1; done
  done
}

# manta_word PID NAME sets `manta_value` to what stands after `--NAME=` among the words of a process.
manta_word() {
  local w
  manta_value=
  while IFS= read -r -d '' w; do
    [[ $w != "--$2="* ]] || { manta_value=${w#*=}; return; }
  done 2>/dev/null <"/proc/$1/cmdline"
}

# manta_take cluster|user [FILE] fills `manta_found`, from pid to start: all of the cluster (of users' sessions there only
# Ray), or all Ray of this user that carries no other cluster's mark. The first word of the file is a session that is the
# cluster's also when nothing marked runs in it.
manta_take() {
  local p s files=()
  declare -gA manta_found=()
  local -A take=()
  if [[ $1 = user ]]; then
    for p in "${!manta_ray[@]}"; do [[ ! -O /proc/$p ]] || take[$p]=1; done
  else
    for p in "${!manta_own[@]}"; do
      [[ -z ${manta_guest[$p]-} || -n ${manta_ray[$p]-} ]] || continue
      take[$p]=1
      [[ -z ${manta_ray[$p]-} ]] || files+=("/proc/$p/cmdline")
    done
    for s in $(
      {
        grep -aohs 'session_[0-9][0-9][0-9][0-9]-[0-9_-]*' "${files[@]}" /dev/null
        cut -d ' ' -f 1 "${2:-/dev/null}"
      } 2>/dev/null | sort -u
    ); do
      manta_hits < <(
        grep -lasF -- "$s" /proc/[0-9]*/cmdline
        find /proc/[0-9]*/fd -maxdepth 1 -lname "*/$s/*" 2>/dev/null
      )
      for p in "${!manta_hit[@]}"; do [[ -z ${manta_ray[$p]-} ]] || take[$p]=1; done
    done
  fi
  manta_below take manta_other
  for p in "${!take[@]}"; do
    [[ -n ${manta_other[$p]-}${manta_self[$p]-} ]] || manta_found[$p]=${manta_born[$p]}
  done
}

# manta_alive PID START
manta_alive() {
  local l f
  { IFS= read -r l <"/proc/$1/stat"; } 2>/dev/null || return 1
  f=(${l##*) })
  [[ ${f[19]} = "$2" && ${f[0]} != [ZX] ]]
}
# Whether a process ignores SIGTERM.
manta_deaf() {
  local l
  while read -r l; do
    [[ $l != SigIgn:* ]] || { (( 16#${l##*[[:space:]]} & 0x4000 )); return; }
  done 2>/dev/null <"/proc/$1/status"
}
# Whether the GCS of a raylet is gone.
manta_unheard() {
  local gcs
  manta_word "$1" gcs-address
  gcs=${manta_value%:*}
  # shellcheck disable=SC2016 # its own arguments
  [[ -n $gcs ]] && ! timeout 0.5 bash -c 'exec 3<>"/dev/tcp/$1/$2"' bash "${gcs//[][]/}" "${manta_value##*:}" 2>/dev/null
}

# Asks raylets to sign off, and everything that is not of Ray to end; waits for them.
manta_ask() {
  local p i wait
  local -A deaf=()
  for p in "${!manta_found[@]}"; do
    [[ -z ${manta_ray[$p]-} || ${manta_name[$p]} = raylet ]] || continue
    if manta_deaf "$p"; then deaf[$p]=1; else kill -TERM "$p" 2>/dev/null; fi
    [[ ${manta_name[$p]} != raylet ]] || ! manta_unheard "$p" || deaf[$p]=1
  done
  for i in {1..100}; do
    wait=
    for p in "${!manta_found[@]}"; do
      [[ -z ${deaf[$p]-} ]] || continue
      [[ ${manta_name[$p]} = raylet || $i -lt 25 ]] || continue
      [[ ${manta_name[$p]} = raylet || -z ${manta_ray[$p]-} ]] || continue
      ! manta_alive "$p" "${manta_found[$p]}" || { wait=1; break; }
    done
    [[ -n $wait ]] || break
    sleep 0.02
  done
}

# manta_end cluster|user PATTERN [FILE] ends all that is found, again and again until nothing is. Raylets are asked, and have
# 2 s to sign off from their cluster, if it is still there; what is not Ray's own has half a second, unless it does not
# listen; nothing is asked after that. Prints `ended PID NAME` and, after seconds of trying, `left PID NAME`, and then fails.
manta_end() {
  local p i
  local -A all=() names=()
  for i in {1..120}; do
    manta_look "$2"
    manta_take "$1" "${3-}"
    for p in "${!manta_found[@]}"; do all[$p]=${manta_found[$p]} names[$p]=${manta_name[$p]}; done
    [[ $i != 1 ]] || manta_ask
    for p in "${!all[@]}"; do
      manta_alive "$p" "${all[$p]}" || { echo "ended $p ${names[$p]}"; unset "all[$p]"; }
    done
    if [[ ${#all[@]} = 0 ]]; then
      [[ $i = 1 ]] || return 0
      continue
    fi
    kill -KILL "${!all[@]}" 2>/dev/null
    [[ $i != 5 || $1 != cluster ]] || sudo -n kill -KILL "${!all[@]}" 2>/dev/null
    # Processes of others stay for as long as one likes to wait.
    [[ $i -lt 8 ]] || kill -0 "${!all[@]}" 2>/dev/null || break
    sleep 0.02
  done
  for p in "${!all[@]}"; do echo "left $p ${names[$p]}"; done
  return 1
}
