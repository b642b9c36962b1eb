# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Lets a key of the cluster log in, beside that of the key pair. Runs as root at the first boot.
#
# login_user  who logs in; made where there is none
# login_key   a line of authorized_keys

set -eu
if ! id "$login_user" >/dev/null 2>&1; then
  useradd -m -s /bin/bash "$login_user"
  mkdir -p /etc/sudoers.d
  printf '%s ALL=(ALL) NOPASSWD:ALL\n' "$login_user" >/etc/sudoers.d/manta-login
  chmod 440 /etc/sudoers.d/manta-login
fi
home=$(getent passwd "$login_user" | cut -d: -f6)
file=$home/.ssh/authorized_keys
mkdir -p "$home/.ssh"
touch "$file"
if ! grep -qxF "$login_key" "$file"; then
  if [ -n "$(tail -c 1 "$file")" ]; then echo >>"$file"; fi
  printf '%s\n' "$login_key" >>"$file"
fi
chmod 700 "$home/.ssh"
chmod 600 "$file"
chown -R "$login_user:" "$home/.ssh"
