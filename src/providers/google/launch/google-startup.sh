# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Runs at every boot, as root: the cluster's own program, then the script of the cluster file.
#
# boot_program  an sh program that returns at once, or empty
# file_script   a script, which is bash unless its first line says otherwise; or empty

script=$(mktemp)
if [ -n "$boot_program" ]; then
  printf '%s' "$boot_program" > "$script"
  sh "$script"
fi
if [ -n "$file_script" ]; then
  printf '%s' "$file_script" > "$script"
  case $file_script in
    '#!'*)
      chmod 700 "$script"
      "$script"
      ;;
    *) bash "$script" ;;
  esac
fi
rm -f "$script"
