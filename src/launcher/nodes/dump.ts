/** What a node has to say of itself when something is wrong: its steps, Ray's logs, its processes, its packages. */
import type { Host } from '../../base/host.ts';
import { readShell, shellProgram } from '../../base/shell/shell-file.ts';
import { type CommandPlace, nodeFolder, stepsFolder } from '../../bringup/node/node.ts';
import { bashAt } from '../../bringup/node/shell-text.ts';
import { sessionFile } from '../../bringup/ray/probe.ts';
import { folderOnHead } from '../../state/state-folder.ts';
import { rayLogFolder } from './logs.ts';

const frame = readShell(new URL('./dump-prelude.sh', import.meta.url));
const ofHost = readShell(new URL('./dump-host.sh', import.meta.url));
const ofPlace = readShell(new URL('./dump-place.sh', import.meta.url));

export interface DumpRequest {
  readonly cluster: string;
  readonly host: Host;
  readonly place: CommandPlace;
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
  const onHost = await read(host, hostText(cluster), signal);
  if (!request.processes && !request.pip && !request.logs && !request.debugState) return onHost;
  return [...onHost, ...(await read(host, bashAt(place, placeText(request)), signal))];
}

async function read(host: Host, program: string, signal: AbortSignal): Promise<DumpedFile[]> {
  const pieces: Uint8Array[] = [];
  await host.sh(program, { signal, within, onStdout: (bytes) => pieces.push(bytes) });
  return unframe(Buffer.concat(pieces));
}

/** Reads what `give` and `tell` of dump-prelude.sh have written; anything else in between ends it. */
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

const hostText = (cluster: string): string =>
  shellProgram(`${frame}${ofHost}`, {
    bytes_kept: bytesKept,
    steps: stepsFolder(cluster),
    node: nodeFolder(cluster),
    cluster: folderOnHead(cluster).path,
  });

function placeText({ cluster, logs, debugState, pip, processes, processesVerbose }: DumpRequest): string {
  const columns = `pid,ppid,user,pcpu,rss,etime,${processesVerbose ? 'args' : 'comm'}`;
  return shellProgram(`${frame}${rayLogFolder}${ofPlace}`, {
    bytes_kept: bytesKept,
    session_file: sessionFile(cluster),
    columns: processes ? columns : '',
    pip,
    logs,
    debug_state: debugState,
    files_kept: filesKept,
  });
}
