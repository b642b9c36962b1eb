# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# The first boot of an instance, as root: the image's own program, the user with the key, then the user data. What they say
# is the console.
#
# instance       its id
# image_program  an sh program, or empty
# login_user     who may log in, and use sudo; made if there is none; or empty
# login_key      their public key
# user_data      an sh program, or empty

add_user() {
  if ! id -u "$login_user" >/dev/null 2>&1; then
    # Without PAM sshd refuses an account whose password is locked, which a new one's is.
    useradd --create-home --shell /bin/bash --password '*' "$login_user"
    echo "$login_user ALL=(ALL:ALL) NOPASSWD: ALL" > "/etc/sudoers.d/$login_user"
  fi
  home=$(getent passwd "$login_user" | cut -d: -f6)
  mkdir -p "$home/.ssh"
  printf '%s\n' "$login_key" > "$home/.ssh/authorized_keys"
  chmod 700 "$home/.ssh"
  chmod 600 "$home/.ssh/authorized_keys"
  chown -R "$login_user:" "$home/.ssh"
}

exec > /var/log/console.log 2>&1 8>&-
echo "instance $instance boots for the first time"
(eval "$image_program")
if [ -n "$login_user" ]; then add_user; fi
if [ -n "$user_data" ]; then
  /bin/sh -c "$user_data"
  echo "user data ended with $?"
fi
echo 'first boot is over'
