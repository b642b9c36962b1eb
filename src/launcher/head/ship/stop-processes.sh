# shellcheck shell=sh
# Ends the processes that are its arguments: told once, waited for, then killed.

any_left() {
  for p; do kill -0 "$p" 2>/dev/null && return; done
  return 1
}

for p; do kill "$p" 2>/dev/null; done
i=0
while [ $i -lt 100 ] && any_left "$@"; do
  sleep 0.1
  i=$((i + 1))
done
for p; do kill -9 "$p" 2>/dev/null; done
