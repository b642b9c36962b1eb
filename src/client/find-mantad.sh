# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Says who serves a cluster on its head: `token TOKEN` and mantad.json; or `ended` and cluster.json; or `unserved`. A mantad
# that ought to run and does not, as after a reboot of a machine that starts nothing by itself, is started, which it says
# too. mantad-prelude.sh stands before it.
#
# folder       the cluster's, relative to the home of the user
# boot_script  what a boot runs, too
# start        text that starts mantad

cd "$HOME" || exit 0

serves() {
  p=$(lock_holder "$folder/mantad.lock")
  program_runs "$p" mantad && grep -qs "\"pid\": *$p\b" "$folder/mantad.json"
}
kept() { program_runs "$(lock_holder "$folder/supervisor.lock")" supervisor; }
ended() { grep -q '"ended": *{' "$folder/cluster.json"; }
wait_served() {
  i=0
  while [ $i -lt 150 ] && ! serves && ! ended; do
    sleep 0.1
    i=$((i + 1))
  done
}

[ -f "$folder/cluster.json" ] || exit 0
if ! serves && kept; then wait_served; fi
if ! serves && ended; then
  echo ended
  cat "$folder/cluster.json"
  exit 0
fi
if ! serves && [ -f "$boot_script" ]; then
  eval "$start"
  echo started
  wait_served
fi
if ! serves; then
  echo unserved
  exit 0
fi
echo "token $(cat "$folder/tokens/owner" 2>/dev/null)"
cat "$folder/mantad.json"
