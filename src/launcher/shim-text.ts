/** The second line of every shim; it is how a shim is told from a real ray. */
export const shimMark = '# manta shim: cluster and job commands go to Manta, all others to the next ray on PATH.';

export interface ShimRequest {
  /** First words of command lines that Manta answers. */
  readonly words: readonly string[];
  /** Those of them that mean Ray itself where the address of a GCS is given. */
  readonly gcsWords: readonly string[];
  /** The Node that starts Manta, and the file that it starts, each as a word of a shell. */
  readonly node: string;
  readonly program: string;
}

/**
 * A `ray` in plain sh: what is not for Manta costs no Node. Words of the shell that it uses are only those that every sh
 * has, and nothing of the user's words is ever read as shell text.
 */
export function shimText({ words, gcsWords, node, program }: ShimRequest): string {
  return `#!/bin/sh
${shimMark}
# Made by 'manta shim install'; 'manta shim remove' takes it away.

command= skip=
for word do
  if [ -n "$skip" ]; then skip=; continue; fi
  case $word in
    --logging-level | --logging-format) skip=yes ;;
    --logging-level=* | --logging-format=*) ;;
    *) command=$word; break ;;
  esac
done

target=ray
case $command in
  ${words.join(' | ')})
    target=manta ;;
esac

# These take the address of a GCS, which only Ray itself can ask.
case $command in
  ${gcsWords.join(' | ')})
    address=\${RAY_ADDRESS-} previous=
    for word do
      case $previous in --address) address=$word ;; esac
      case $word in --address=*) address=\${word#--address=} ;; esac
      previous=$word
    done
    case $address in
      '' | auto | local | http://* | https://*) ;;
      *) target=ray ;;
    esac ;;
esac

if [ "$target" = manta ]; then
  if [ -f ${program} ] && [ -x ${node} ]; then exec ${node} ${program} --as-ray "$@"; fi
  if command -v manta >/dev/null 2>&1; then exec manta --as-ray "$@"; fi
  echo "ray: Manta or its Node has moved from where 'manta shim install' found it; run that again" >&2
  exit 127
fi

old=\${IFS-} ; IFS=:
set -f
for folder in $PATH; do
  real=\${folder:-.}/ray first= second=
  if [ ! -f "$real" ] || [ ! -x "$real" ]; then continue; fi
  { read -r first; read -r second; } 2>/dev/null <"$real"
  case $second in '# manta shim'*) continue ;; esac
  IFS=$old
  exec "$real" "$@"
done

echo "ray: '\${command:-ray}' belongs to Ray, and there is no ray on PATH beside Manta's: run it on a head with manta exec, or install Ray" >&2
exit 127
`;
}
