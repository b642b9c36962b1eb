# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Writes what mantad's folder on the head begins with: the record, a credential, and the host keys that are known, each whole
# or not at all. A host key that is there stays.
#
# folder      the cluster's, relative to the home of the user
# record      text of cluster.json
# credential  empty for none: one that is there goes
# Its arguments are two for each host key: the name of its file, and its text.

umask 077
cd "$HOME" || exit 1
for each in backups tokens packages logs instances hosts; do mkdir -p "$folder/$each" || exit 1; done

write() {
  printf %s "$2" >"$1.new" && sync -- "$1.new" && mv "$1.new" "$1" || exit 1
}

while [ $# -gt 0 ]; do
  [ -s "$folder/hosts/$1" ] || write "$folder/hosts/$1" "$2"
  shift 2
done
if [ -n "$credential" ]; then write "$folder/credential" "$credential"; else rm -f "$folder/credential"; fi
write "$folder/cluster.json" "$record"
sync -- "$folder" "$folder/hosts"
