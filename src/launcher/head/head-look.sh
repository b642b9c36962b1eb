# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Says what a head's host has, one fact a line: the mark, the name of the fact, and its value in base64. mantad-prelude.sh
# stands before it.
#
# mark        begins each line that is meant: a login may print lines of its own
# cluster     its name
# folder      the cluster's, relative to the home of the user, as are the next three
# node        the node's
# token_file  of Ray's token
# runtimes    of Manta's programs
# claims      folder of the claims of the host
# ray_mark    the mark of the cluster in an environment, as a basic regular expression
# any_mark    that of any cluster
# make_key    yes to make the cluster's key where there is none

say() { printf '%s %s %s\n' "$mark" "$1" "$(printf '%s' "$2" | base64 | tr -d '\n')"; }
file() { if [ -f "$2" ]; then say "$1" "$(cat "$2")"; fi; }

cd "$HOME" || exit 1
say home "$HOME"
say hostname "$(hostname 2>/dev/null || cat /proc/sys/kernel/hostname)"
say now "$(date +%s)"
say free "$(df -Pk . 2>/dev/null | awk 'NR == 2 { print $4 }')"
say system "$(uname -s) $(uname -m)"
say addresses "$(hostname -I 2>/dev/null || true)"
say runtimes "$(ls "$runtimes" 2>/dev/null)"
file cluster "$folder/cluster.json"
file serving "$folder/mantad.json"
file unseen "$folder/unseen.json"
[ -f "$folder/upgrade.json" ] && say upgrading yes

p=$(lock_holder "$folder/supervisor.lock")
if program_runs "$p" supervisor; then
  say supervisor "$p"
  say supervisorline "$(tr '\0' ' ' 2>/dev/null <"/proc/$p/cmdline")"
fi
p=$(lock_holder "$folder/mantad.lock")
if program_runs "$p" mantad; then say mantad "$p"; fi

command -v systemctl >/dev/null && systemctl --user show-environment >/dev/null 2>&1 && say systemd yes
# shellcheck disable=SC2009 # pgrep may not be there
command -v crontab >/dev/null && ps -e 2>/dev/null | grep -qw '[c]ron\|[c]rond' && say cron yes
file token "$token_file"
file owner "$folder/tokens/owner"
file record "$node/record.json"
if [ -d "$folder/instances/claims" ]; then
  say hosts "$(sed -n 's/.*"host":{[^}]*"name":"\([^"]*\)".*/\1/p' "$folder"/instances/claims/*.json 2>/dev/null)"
fi
say claims "$(cat "$claims"/[0-9]*-* 2>/dev/null)"

# shellcheck disable=SC2013 # paths without spaces
for c in $(grep -lsx raylet /proc/[0-9]*/comm); do
  e=${c%comm}environ
  if [ ! -r "$e" ] || grep -qas -e "$ray_mark" "$e"; then
    say alive yes
  elif ! grep -qas -e "$any_mark" "$e"; then
    say foreign yes
  fi
done

if [ -n "$make_key" ] && command -v ssh-keygen >/dev/null; then
  umask 077
  mkdir -p "$folder"
  [ -f "$folder/key" ] ||
    ssh-keygen -q -t ed25519 -N '' -C "manta $cluster" -f "$folder/key" </dev/null >/dev/null
fi
file key "$folder/key.pub"
exit 0
