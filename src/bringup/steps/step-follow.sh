# shellcheck shell=sh disable=SC2154 # step-start.sh or step-attach.sh comes before it
# Says `started` or `attached` and the mark, then the output of the step in folder `d` from an offset on, then mark and
# outcome.
#
# offset  bytes of the output that the reader has

o=$offset
{ read -r m <"$d/mark"; } 2>/dev/null
n=0
while [ -z "$m" ] && [ ! -e "$d/ended" ] && [ $n -lt 100 ]; do
  nap
  n=$((n + 1))
  { read -r m <"$d/mark"; } 2>/dev/null
done
echo "$w ${m:--}"
if [ "$w" = attached ]; then
  n=0
  until [ -s "$d/process" ] || [ -e "$d/ended" ] || [ $n -ge 100 ]; do
    nap
    n=$((n + 1))
  done
  alive "$d/process" || pid=
fi

rest() { tail -c +$((o + 1)) "$d/output"; }

by_hand() {
  while kill -0 "$pid" 2>/dev/null; do
    s=$(wc -c <"$d/output")
    s=$((s))
    if [ "$s" -gt "$o" ]; then
      rest | head -c $((s - o))
      o=$s
    else
      sleep 0.2 2>/dev/null || sleep 1
    fi
  done
  rest
}

if [ -s "$d/rc" ] || [ -z "$pid" ]; then
  [ -e "$d/output" ] && rest
else
  # A `tail` that does not know `--pid` refuses before it says anything.
  tail -c +$((o + 1)) -s 0.2 --pid="$pid" -f "$d/output" 2>/dev/null || by_hand
fi
if [ -s "$d/rc" ]; then
  read -r c <"$d/rc"
elif ! dd if=/dev/zero of="$d/probe" bs=4096 count=1 2>/dev/null; then
  c=full
elif [ -e "$d/ended" ]; then
  c=ended
elif [ ! -s "$d/process" ]; then
  c=never
elif known "$d/process" && boot && [ "$at" != "$r" ]; then
  c=reboot
else
  c=killed
fi
rm -f "$d/probe" 2>/dev/null
printf '%s %s\n' "${m:--}" "$c"
