# shellcheck shell=sh disable=SC2154,SC2034,SC2093 # the parameters are set in front of it
# The `ray` that 'manta shim install' writes: cluster and job commands go to Manta, all others to the next ray on PATH.
#
# manta_words      first words of command lines that Manta answers
# manta_gcs_words  those of them that mean Ray itself where the address of a GCS is given, which only Ray can ask
# manta_node       the Node that starts Manta
# manta_program    the file that it starts

command='' skip=''
for word; do
  if [ -n "$skip" ]; then
    skip=
    continue
  fi
  case $word in
    --logging-level | --logging-format) skip=yes ;;
    --logging-level=* | --logging-format=*) ;;
    *)
      command=$word
      break
      ;;
  esac
done

target=ray
for word in $manta_words; do if [ "$word" = "$command" ]; then target=manta; fi; done

asks_gcs=
for word in $manta_gcs_words; do if [ "$word" = "$command" ]; then asks_gcs=yes; fi; done
if [ -n "$asks_gcs" ]; then
  address=${RAY_ADDRESS-} previous=
  for word; do
    case $previous in --address) address=$word ;; esac
    case $word in --address=*) address=${word#--address=} ;; esac
    previous=$word
  done
  case $address in
    '' | auto | local | http://* | https://*) ;;
    *) target=ray ;;
  esac
fi

if [ "$target" = manta ]; then
  if [ -f "$manta_program" ] && [ -x "$manta_node" ]; then exec "$manta_node" "$manta_program" --as-ray "$@"; fi
  if command -v manta >/dev/null 2>&1; then exec manta --as-ray "$@"; fi
  echo "ray: Manta or its Node has moved from where 'manta shim install' found it; run that again" >&2
  exit 127
fi

old=${IFS-}
IFS=:
set -f
for folder in $PATH; do
  real=${folder:-.}/ray first='' second=''
  if [ ! -f "$real" ] || [ ! -x "$real" ]; then continue; fi
  { read -r first; read -r second; } 2>/dev/null <"$real"
  case $second in '# manta shim'*) continue ;; esac
  IFS=$old
  exec "$real" "$@"
done

echo "ray: '${command:-ray}' belongs to Ray, and there is no ray on PATH beside Manta's: run it on a head with manta exec, or install Ray" >&2
exit 127
