# shellcheck shell=sh
# What cloud-init does with user data at the first boot, as root. A call for each part stands after it.

folder=/var/lib/cloud/instance/scripts
mkdir -p "$folder"

# number, a script as base64: runs it by the interpreter that its first line names
script_part() {
  file=$(printf '%s/part-%03d' "$folder" "$1")
  echo "$2" | base64 -d > "$file"
  chmod 700 "$file"
  "$file"
  echo "cloud-init: part $1 ended with $?"
}

# number, kind
other_part() {
  echo "cloud-init: part $1 is $2: left out"
}
