# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Makes Google's guest of a host, at its first boot: the agent, and a way to Google's endpoints in every environment.
#
# guest          text of guest.sh
# authority      file for the certificate that clients trust
# certificate    its text
# variables      lines NAME=VALUE for every environment
# image_program  an sh program that runs at the end, or empty

mkdir -p /usr/lib/google
printf '%s' "$guest" > /usr/lib/google/guest.sh
printf '%s' "$certificate" > "$authority"
echo '169.254.169.254 metadata.google.internal metadata' >> /etc/hosts
printf '%s\n' "$variables" >> /etc/environment
printf '%s\n' "$variables" | sed 's/^/export /' >> /etc/profile.d/lab-google.sh
echo "SetEnv $(printf '%s' "$variables" | tr '\n' ' ')" >> /etc/ssh/sshd_config
eval "$image_program"
