import { readShell, shellProgram } from '../../base/shell/shell-file.ts';
import { shellQuoted } from '../../base/shell/shell-quote.ts';
import type { CommandPlace } from '../../bringup/node/node.ts';
import { stepsFolder } from '../../bringup/node/node.ts';
import { sessionFile } from '../../bringup/ray/probe.ts';

/** Sh function `to_ray_logs`, with `session_file` as its parameter. */
export const rayLogFolder = readShell(new URL('./ray-log-folder.sh', import.meta.url));
const stepLogs = readShell(new URL('./step-logs.sh', import.meta.url));
const listRayLogs = readShell(new URL('./list-ray-logs.sh', import.meta.url));
const rayLog = readShell(new URL('./ray-log.sh', import.meta.url));

export interface LogRequest {
  readonly cluster: string;
  readonly place: CommandPlace;
  /** Lines of each log, from its end. */
  readonly lines: number;
  readonly follow: boolean;
}

/** Sh text for the host that prints what the steps of the bring-up said, and which logs of Ray there are. */
export const stepLogsText = ({ cluster, place, lines, follow }: LogRequest): string =>
  shellProgram(stepLogs, {
    steps: stepsFolder(cluster),
    lines,
    follow,
    list: inPlace(place, shellProgram(`${rayLogFolder}${listRayLogs}`, { session_file: sessionFile(cluster) })),
  });

/** Sh text for the host that prints log files of Ray whose names match a pattern of the shell's. */
export const rayLogText = ({ cluster, place, lines, follow }: LogRequest, pattern: string): string =>
  inPlace(
    place,
    shellProgram(`${rayLogFolder}${rayLog}`, { session_file: sessionFile(cluster), pattern, lines, follow }),
  );

const inPlace = (place: CommandPlace, text: string): string =>
  place.kind === 'host' ? `(${text})` : `${place.engine} exec ${shellQuoted(place.name)} sh -c ${shellQuoted(text)}`;
