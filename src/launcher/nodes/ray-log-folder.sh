# shellcheck shell=sh disable=SC2154,SC2034 # the parameters are set in front of it

# Goes to the folder of the logs of the session that runs, or ran last.
#
# session_file  what is known of it, relative to the home of the user
to_ray_logs() {
  folder=
  read -r session gcs folder 2>/dev/null <~/"$session_file"
  cd "${folder:-/tmp/ray}/${session:-session_latest}/logs" 2>/dev/null || return
}
