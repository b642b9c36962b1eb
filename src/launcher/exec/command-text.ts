/**
 * The texts that a command becomes on its way to a node. A text is one argument of `sh -c` on the host; whatever it holds
 * of the user is quoted here.
 */

import { readShell, type ShellParameters, shellProgram } from '../../base/shell/shell-file.ts';
import { type CommandPlace, nodeFolder } from '../../bringup/node/node.ts';
import { environmentFile, namedByRay } from '../../bringup/node/shell-text.ts';

const run = readShell(new URL('./exec.sh', import.meta.url));
const shell = readShell(new URL('./exec-shell.bash', import.meta.url));
const watch = readShell(new URL('./exec-watch.sh', import.meta.url));
const hangUp = readShell(new URL('./hang-up.sh', import.meta.url));
const failure = readShell(new URL('./exec-failure.sh', import.meta.url));

export interface PlacedCommand {
  readonly cluster: string;
  readonly place: CommandPlace;
  /** A terminal stands at both ends. Without one the streams are pipes, which carry bytes as they are. */
  readonly terminal: boolean;
  /** Stands in the words of the command's own processes and nowhere else: it is how they are found in a container. */
  readonly mark: string;
  /** Shell text, as the user wrote it; absent: a login shell. */
  readonly command?: string;
}

/**
 * Runs the command and exits with its code. A connection that is lost ends what it ran, as a terminal that goes away does;
 * what ignores that (`nohup`) or has left (`setsid`) stays. Where there is no node of the cluster it runs nothing.
 */
export const commandText = (request: PlacedCommand): string =>
  runText(request, {
    manta_node: nodeFolder(request.cluster),
    manta_named: namedByRay(request.cluster),
    manta_note: noteOf(request.cluster, request.mark),
  });

/** As `commandText`, on a host that is known to have the node. */
export const guardedText = (request: PlacedCommand): string =>
  runText(request, { manta_node: '', manta_named: '', manta_note: '' });

function runText(request: PlacedCommand, node: ShellParameters): string {
  const { place, terminal, command } = request;
  return shellProgram(run, {
    ...node,
    manta_shell: shellText(request),
    manta_terminal: terminal,
    manta_is_shell: command === undefined,
    manta_engine: place.kind === 'host' ? '' : place.engine,
    manta_container: place.kind === 'host' ? '' : place.name,
    manta_watch: watchText(request),
  });
}

const noteOf = (cluster: string, mark: string): string => `${nodeFolder(cluster)}/exit-${mark}`;

/** Tells what an exit code of 255 was: `ended` by the command itself, `absent` where there is no node of the cluster. */
export const askFailureText = (cluster: string, mark: string): string =>
  shellProgram(failure, { node: nodeFolder(cluster), named: namedByRay(cluster), note: noteOf(cluster, mark) });

const shellText = ({ cluster, terminal, mark, command }: PlacedCommand): string =>
  shellProgram(shell, {
    // `runningSessions` of this and of earlier versions finds a session by what follows the mark.
    manta_words: `${mark} f=~/${environmentFile(cluster)}; if`,
    manta_environment: environmentFile(cluster),
    manta_terminal: terminal,
    manta_is_shell: command === undefined,
    manta_command: command,
  });

/** A terminal that goes away ends the shell behind it; only what runs in a container does not hear it. */
function watchText({ place, terminal, mark }: PlacedCommand): string {
  if (place.kind === 'host' && terminal) return '';
  const inside = place.kind === 'container';
  return shellProgram(watch, {
    terminal,
    engine: inside ? place.engine : '',
    container: inside ? place.name : '',
    hang_up: shellProgram(`${endProcesses}${hangUp}`, { mark: inside ? mark : '' }),
  });
}

/** Sh function `end SIGNAL`: to every process of the sessions in `s`, except those that ignore a hang-up. */
export const endProcesses = readShell(new URL('./end-processes.sh', import.meta.url));
