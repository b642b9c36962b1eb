# What Google's guest agent does, at every boot of a machine. The first argument says what:
#   accounts   makes the users of the keys in the metadata, or those of OS Login where it is on
#   agent      runs the startup script, then keeps up with the metadata until the machine goes down
metadata=http://169.254.169.254/computeMetadata/v1
kept=/var/lib/google

ask() { # path, seconds
  curl -sf -m "${2:-10}" -H 'Metadata-Flavor: Google' "$metadata/$1"
}

is_on() { # key: the instance's own word goes before that of the project
  value=$(ask "instance/attributes/$1" || ask "project/attributes/$1") || value=
  case $value in [Tt][Rr][Uu][Ee] | 1 | [Yy]*) return 0 ;; esac
  return 1
}

# Lines USER:KEY
wanted_keys() {
  if is_on enable-oslogin; then
    ask oslogin/users | python3 -c '
import json, sys
for profile in json.load(sys.stdin).get("loginProfiles", []):
    for key in profile["sshPublicKeys"].values():
        print(profile["posixAccounts"][0]["username"] + ":" + key["key"])'
    return
  fi
  ask instance/attributes/ssh-keys && echo
  is_on block-project-ssh-keys || { ask project/attributes/ssh-keys && echo; }
}

accounts() {
  mkdir -p "$kept"
  wanted_keys | grep ':' > "$kept/keys.new"
  cut -d: -f1 "$kept/keys.new" | cat - "$kept/users" 2>/dev/null | grep -E '^[a-z_][a-z0-9_-]{0,31}$' | sort -u > "$kept/users.new"
  mv "$kept/users.new" "$kept/users"
  while read -r user; do
    # Without PAM sshd refuses an account whose password is locked, which a new one's is.
    id -u "$user" > /dev/null 2>&1 || useradd --create-home --shell /bin/bash --password '*' "$user"
    echo "$user ALL=(ALL:ALL) NOPASSWD: ALL" > "/etc/sudoers.d/google-$user"
    home=$(getent passwd "$user" | cut -d: -f6)
    mkdir -p "$home/.ssh"
    grep "^$user:" "$kept/keys.new" | cut -d: -f2- > "$home/.ssh/authorized_keys"
    chmod 700 "$home/.ssh"
    chmod 600 "$home/.ssh/authorized_keys"
    chown -R "$user:" "$home/.ssh"
  done < "$kept/users"
}

startup_script() {
  ask instance/attributes/startup-script > "$kept/startup-script" || return 0
  chmod 700 "$kept/startup-script"
  echo 'startup-script: begins'
  case $(head -c 2 "$kept/startup-script") in
    '#!') "$kept/startup-script" ;;
    *) /bin/bash "$kept/startup-script" ;;
  esac
  echo "startup-script exit status $?"
}

# Programs of a machine find Google through the proxy that stands in the environment.
set -a
# shellcheck disable=SC1091
[ ! -f /etc/environment ] || . /etc/environment
set +a
case $1 in
  accounts) accounts ;;
  agent)
    startup_script &
    while sleep 0.2; do
      ask '?recursive=true&wait_for_change=true&timeout_sec=60' 90 > /dev/null
      accounts
    done
    ;;
esac
