# shellcheck shell=sh
# Reads the numbers of live sessions (`+n`, `-n`) until its input ends. When it ends without the word `end`, the agent died:
# every session, and all that carries the agent's mark, is killed. It needs no poll, no Node and no head. Its argument is the
# word in that mark.

trap '' HUP INT TERM
sessions=' '
while read -r line; do
  case $line in
    +*) sessions="$sessions${line#+} " ;;
    -*)
      one=${line#-}
      sessions="${sessions%% "$one" *} ${sessions#* "$one" }"
      ;;
    end) exit 0 ;;
  esac
done

marked() {
  if [ -d /proc/self ]; then
    grep -ls ":$1:" /proc/[0-9]*/environ | sed 's|^/proc/||; s|/environ$||'
  else
    # shellcheck disable=SC2009 # pgrep does not see environments
    ps -A -E -ww -o pid=,command= | grep "MANTA_MARK=[^ ]*:$1:" | sed 's/^ *//; s/ .*//'
  fi
}

for one in $sessions; do kill -9 -"$one"; done
tries=0
while [ $tries -lt 100 ]; do
  pids=$(marked "$1")
  [ -z "$pids" ] && exit 0
  # shellcheck disable=SC2086 # one word each
  kill -9 $pids
  tries=$((tries + 1))
  sleep 0.05
done
