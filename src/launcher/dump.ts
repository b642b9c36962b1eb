/** What a node has to say of itself when something is wrong: its steps, Ray's logs, its processes, its packages. */
import type { Host } from '../base/host.ts';
import { nodeFolder, type Place, stepsFolder } from '../bringup/node.ts';
import { sessionFile } from '../bringup/ray-probe.ts';
import { bashAt } from '../bringup/shell-text.ts';
import { headHome } from '../head/state-folder.ts';

export interface DumpRequest {
  readonly cluster: string;
  readonly host: Host;
  readonly place: Place;
  readonly logs: boolean;
  readonly debugState: boolean;
  readonly pip: boolean;
  readonly processes: boolean;
  /** With their whole command lines. */
  readonly processesVerbose: boolean;
}

export interface DumpedFile {
  readonly name: string;
  readonly content: Buffer;
}

/** Of each file the end, and no more files than a person reads. */
const bytesKept = 256 << 10;
const filesKept = 200;
const within = 120_000;

/** Everything asked for, in at most two round trips. What a node does not have is left out. */
export async function dumpNode(request: DumpRequest, signal: AbortSignal): Promise<DumpedFile[]> {
  const { cluster, host, place } = request;
  const files = [...(await read(host, `${frame}\n${hostText(cluster)}`, signal))];
  const inside = placeText(request);
  if (inside !== '') files.push(...(await read(host, bashAt(place, `${frame}\n${inside}`), signal)));
  return files;
}

async function read(host: Host, program: string, signal: AbortSignal): Promise<DumpedFile[]> {
  const pieces: Uint8Array[] = [];
  await host.sh(program, { signal, within, onStdout: (bytes) => pieces.push(bytes) });
  return unframe(Buffer.concat(pieces));
}

/** `give NAME FILE` and `tell NAME COMMAND...`: a line with the name and the length, then so many bytes. */
const frame = `cd || exit 0
give() { [ -r "$2" ] || return 0; t=$(mktemp) && tail -c ${bytesKept} -- "$2" >"$t" 2>/dev/null && printf '%s\\t%s\\n' "$1" "$(($(wc -c <"$t")))" && cat "$t"; rm -f "$t"; }
tell() { n=$1; shift; t=$(mktemp) && "$@" >"$t" 2>&1; printf '%s\\t%s\\n' "$n" "$(($(wc -c <"$t")))" && cat "$t"; rm -f "$t"; }`;

/** Reads what \`give\` and \`tell\` have written; anything else in between ends it. */
function unframe(bytes: Buffer): DumpedFile[] {
  const files: DumpedFile[] = [];
  for (let at = 0; ; ) {
    const end = bytes.indexOf('\n', at);
    const [, name, size] = /^([^\t]+)\t(\d+)$/.exec(end < 0 ? '' : bytes.toString('utf8', at, end)) ?? [];
    if (name === undefined) return files;
    const from = end + 1;
    at = from + Number(size);
    files.push({ name, content: bytes.subarray(from, at) });
  }
}

const hostText = (cluster: string): string => `
for d in ${stepsFolder(cluster)}/*/; do [ -d "$d" ] || continue; i=\${d%/}; i=\${i##*/}; give "steps/$i.txt" "$d/output"; give "steps/$i.rc" "$d/rc"; done
give record.json ${nodeFolder(cluster)}/record.json
give mantad.log ${headHome}/clusters/${cluster}/mantad.log
give supervisor.log ${headHome}/clusters/${cluster}/supervisor.log
tell host.txt sh -c 'date; uname -a; uptime; df -h; free -m; ulimit -a'
exit 0`;

function placeText({ cluster, logs, debugState, pip, processes, processesVerbose }: DumpRequest): string {
  const columns = processesVerbose ? 'pid,ppid,user,pcpu,rss,etime,args' : 'pid,ppid,user,pcpu,rss,etime,comm';
  // What jobs and tasks have printed is their owners' and stays where it is.
  const wanted = `case $f in job-driver-*|worker-*.out|worker-*.err) continue;; debug_state*) ${debugState ? ';;' : 'continue;;'} *) ${logs ? ';;' : 'continue;;'} esac`;
  return [
    processes && `tell processes.txt ps -eww -o ${columns}`,
    pip && `tell pip.txt sh -c "bash -lic 'python -m pip freeze --disable-pip-version-check' 2>/dev/null"`,
    (logs || debugState) &&
      `f=; read -r n g f <${sessionFile(cluster)} 2>/dev/null
cd "\${f:-/tmp/ray}/\${n:-session_latest}/logs" 2>/dev/null || exit 0
k=0; ls -1tp | while IFS= read -r f; do case $f in */) continue;; esac; ${wanted}; k=$((k+1)); [ $k -le ${filesKept} ] || break; give "ray/$f" "$f"; done`,
  ]
    .filter(Boolean)
    .join('\n');
}
