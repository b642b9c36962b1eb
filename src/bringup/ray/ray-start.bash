# shellcheck shell=bash disable=SC2154 # the parameters are set in front of it
# Defines and exports a function `ray` for the start commands of a user, and for the shells that they start.
# ray-processes.bash and ray-versions.bash stand before it.
#
# manta_pattern         the mark of the cluster's nodes, as a basic regular expression
# manta_version_file    where the versions of a `ray start` are written, relative to the home of the user
# manta_expected        `RAY PYTHON` that it must be; empty for any
# manta_oldest          minor release of Ray 2 that it must be at least; empty for any
# manta_dashboard_port  of the head; empty for Ray's own choice
# manta_mismatch        exit code where it is another Ray or Python
# manta_no_token        exit code where it is too old

manta_ray_stop() {
  local ended status=0
  # In a shell of its own, where nothing that the user has set changes what the text means.
  ended=$(
    set +euf
    IFS=$' \t\n'
    manta_end user "$manta_pattern"
  ) || status=1
  case $ended in
    '') echo 'Did not find any active Ray processes.' ;;
    *)
      ended=$(grep -c ^ended <<<"$ended")
      echo "Stopped $ended Ray processes."
      ;;
  esac
  return $status
}

ray() {
  local word skip='' verb='' head='' help=''
  for word in "$@"; do
    if [[ -n $skip ]]; then
      skip=
      continue
    fi
    case $verb$word in
      --logging-level | --logging-format) skip=1 ;;
      -*) ;;
      *--help) help=1 ;;
      start--head) head=1 ;;
      *) verb=${verb:-$word} ;;
    esac
  done
  if [[ $verb = stop && -z $help ]]; then
    manta_ray_stop
    return
  fi
  if [[ $verb = start && -z $help ]]; then
    manta_ray_versions "$manta_version_file" "$manta_expected" "$manta_oldest" ||
      return $(($? == 1 ? manta_mismatch : manta_no_token))
  fi
  if [[ -n $head ]]; then
    set -- "$@" --no-monitor --dashboard-host=127.0.0.1
    [[ -z $manta_dashboard_port ]] || set -- "$@" "--dashboard-port=$manta_dashboard_port"
  fi
  (
    # Ray itself, and what it starts, see nothing of this.
    unset manta_pattern manta_version_file manta_expected manta_oldest manta_dashboard_port manta_mismatch manta_no_token
    unset -f ray manta_ray_stop manta_ray_find manta_ray_versions manta_hits manta_look manta_below manta_word manta_take \
      manta_alive manta_deaf manta_unheard manta_ask manta_end
    ray "$@"
  )
}

export manta_pattern manta_version_file manta_expected manta_oldest manta_dashboard_port manta_mismatch manta_no_token
export -f ray manta_ray_stop manta_ray_find manta_ray_versions manta_hits manta_look manta_below manta_word manta_take \
  manta_alive manta_deaf manta_unheard manta_ask manta_end
unset RAY_AUTH_TOKEN
