# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Makes the folder in which the file mounts of a cluster's containers lie on this host, and says where it is. Everybody can
# make folders below /tmp first, or links: one that somebody else could change is not used.
#
# shared   folder of all clusters, which Ray uses too
# cluster  folder in it
# private  what is used instead, relative to the home of the user; once it is there, it stays in use

umask 022
cd "$HOME" || exit 1

# Nobody but this user and root can replace what is in it.
is_safe() {
  [ -d "$1" ] && [ ! -L "$1" ] || return 1
  case $(stat -c '%u %A' -- "$1") in
    "$2 d"????w* | "$2 d"???????w*) case $(stat -c %A -- "$1") in *[tT]) return 0 ;; esac; return 1 ;;
    "$2 d"*) return 0 ;;
  esac
  return 1
}

uid=$(id -u)
own=$shared/$cluster
if [ ! -d "$private" ]; then
  mkdir -- "$shared" 2>/dev/null
  if is_safe "$shared" "$uid" || is_safe "$shared" 0; then
    mkdir -- "$own" 2>/dev/null
    if [ -d "$own" ] && [ ! -L "$own" ] && [ -O "$own" ] && chmod go-w -- "$own"; then
      printf 'staging %s\n' "$own"
      exit 0
    fi
  fi
fi
mkdir -p -- "$private" && chmod go-w -- "$private" || exit 1
printf 'staging %s\n' "$HOME/$private"
