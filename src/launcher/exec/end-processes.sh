# shellcheck shell=sh disable=SC2086,SC2154 # the fields of lines of /proc

# end SIGNAL: to every process of the sessions in `s`, except those that ignore a hang-up.
end() {
  for d in /proc/[0-9]*; do
    { read -r l <"$d/stat"; } 2>/dev/null || continue
    g=$1
    set -- ${l##*) }
    p=$4
    set -- "$g"
    case $s in *" $p "*) ;; *) continue ;; esac
    case $(grep -s ^SigIgn: "$d/status") in *[13579bdf]) continue ;; esac
    kill "-$1" "${d#/proc/}" 2>/dev/null
  done
}
