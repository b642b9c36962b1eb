import { shellQuoted } from '../base/shell-quote.ts';
import type { Place } from '../bringup/node.ts';
import { stepsFolder } from '../bringup/node.ts';
import { sessionFile } from '../bringup/ray-probe.ts';

export interface LogRequest {
  readonly cluster: string;
  readonly place: Place;
  /** Lines of each log, from its end. */
  readonly lines: number;
  readonly follow: boolean;
}

/** Sh text for the host that prints what the steps of the bring-up said, and which logs of Ray there are. */
export function stepLogsText({ cluster, place, lines, follow }: LogRequest): string {
  const steps = `cd ~/${stepsFolder(cluster)} 2>/dev/null || { echo 'nothing of this cluster was set up here' >&2; exit 1; }`;
  if (follow) return `${steps}; exec tail -q -n ${lines} -F */output`;
  // The last line of an output is the mark that says it is complete.
  const each = `c=$(cat "$d/rc" 2>/dev/null) && c="exit code $c" || c='no exit code yet'
m=$(cat "$d/mark" 2>/dev/null); echo "== $d ($c)"; grep -av "^\${m:-.^} " "$d/output" | tail -n ${lines}`;
  const list = inPlace(
    place,
    `${rayLogs(cluster)} && echo "== logs of Ray in $PWD (--file NAME prints one)" && for n in *; do if [ -f "$n" ] && [ -s "$n" ]; then echo "$n"; fi; done`,
  );
  return `${steps}\nfor d in $(ls -1tr); do\n${each}\ndone\n${list} 2>/dev/null\nexit 0`;
}

/** Sh text for the host that prints log files of Ray whose names match a pattern of the shell's. */
export function rayLogText({ cluster, place, lines, follow }: LogRequest, pattern: string): string {
  const text = `${rayLogs(cluster)} || { echo 'Ray has no session here' >&2; exit 1; }
p=${shellQuoted(pattern)}; IFS=; set -- $p
[ -e "$1" ] || { echo "no log of Ray is called '$p'; there is:" >&2; for n in *; do [ ! -f "$n" ] || echo "$n" >&2; done; exit 1; }
exec tail -n ${lines} ${follow ? '-F ' : ''}-- "$@"`;
  return inPlace(place, text);
}

/** Goes to the folder of the logs of the session that runs, or ran last. */
const rayLogs = (cluster: string): string =>
  `f=; read -r n g f <~/${sessionFile(cluster)} 2>/dev/null; cd "\${f:-/tmp/ray}/\${n:-session_latest}/logs" 2>/dev/null`;

const inPlace = (place: Place, text: string): string =>
  place.kind === 'host' ? `(${text}\n)` : `${place.engine} exec ${shellQuoted(place.name)} sh -c ${shellQuoted(text)}`;
