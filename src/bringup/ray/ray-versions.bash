# shellcheck shell=bash
# Which Ray, and which Python, a `ray start` would run.

# Prints `RAY PYTHON` of the Ray that the word `ray` means here, without running it: importing Ray takes a second, its
# metadata some milliseconds. A Ray that hides its versions prints nothing.
manta_ray_find() {
  local script line python
  script=$(type -P ray) || return 0
  IFS= read -r line <"$script" 2>/dev/null
  python=${line#'#!'}
  case $line in
    '#!/bin/sh'*)
      # A path that is too long, or has a space in it, is called by a shell: '''exec' "/path/python" "$0" "$@"
      IFS= read -r line < <(sed -n "2s/^'''exec' *//p" "$script")
      line=${line%% \"\$0\"*}
      python=${line#\"} python=${python%\"}
      ;;
    '#!'*'/env '*) python=$(type -P "${python##*/env }") ;;
    '#!'*) ;;
    *) return 0 ;;
  esac
  [[ -x ${python%% *} || -x $python ]] || return 0
  [[ -x $python ]] || python=${python%% *}
  "$python" -c 'import importlib.metadata as m, platform; print(m.version("ray"), platform.python_version())' 2>/dev/null
}

# manta_ray_versions FILE EXPECTED OLDEST writes `RAY PYTHON` into the file below home. Returns 1 when it is another Ray than
# expected, or a Python of another minor release, and 2 when it is older than the minor release of Ray 2 that is given;
# either may be empty. A Ray that hides its versions is let through.
manta_ray_versions() {
  local found major minor
  found=$(manta_ray_find)
  [[ -n $found ]] || return 0
  [[ ! -d ~/${1%/*} ]] || echo "$found" >~/"$1"
  [[ -z $2 || ${found%.*} = "${2%.*}" ]] || {
    echo "manta: this node has Ray ${found% *} on Python ${found#* }, its head has Ray ${2% *} on Python ${2#* }" >&2
    return 1
  }
  IFS=. read -r major minor _ <<<"$found"
  [[ -z $3 || $major -gt 2 || $minor -ge $3 ]] || return 2
}
