/**
 * The programs behind sessions: commands that run in a tmux or screen of the head and outlast the one who started them.
 * A session is a folder on the head's host:
 *
 *     kind      tmux or screen           command   as the user wrote it
 *     work      what is run, in place    run       what runs it and writes down how it ended
 *     process   who runs it              log       what it has said
 *     started, ended                     seconds since 1970, by the head's clock
 *     rc        its exit code            stop      the cluster is to be ended after it
 */
import { readShell, shellProgram } from '../../base/shell/shell-file.ts';
import { nodeFolder } from '../../bringup/node/node.ts';
import { prelude } from '../../bringup/prelude.ts';
import { sessionsFolder, stopRequestFile } from '../../bringup/sessions/sessions.ts';
import { endProcesses } from './command-text.ts';

const start = readShell(new URL('./session-start.sh', import.meta.url));
const run = readShell(new URL('./session-run.bash', import.meta.url));
const list = readShell(new URL('./session-list.sh', import.meta.url));
const log = readShell(new URL('./session-log.sh', import.meta.url));

export type SessionKind = 'tmux' | 'screen';

/** How many that have ended are kept. */
const kept = 50;

export interface SessionText {
  readonly cluster: string;
  readonly id: string;
  readonly kind: SessionKind;
  readonly command: string;
  /** Sh text that runs the command in place. */
  readonly work: string;
  readonly stop: boolean;
  /** More options for screen, as shell text of the user's. */
  readonly screenOptions?: string;
}

/** What a start that did not succeed says first. */
export type StartProblem = 'absent' | 'taken' | 'missing' | 'failed';

/** Starts a session under its id, once. Says `started`, or a problem and its words. */
export const startText = ({ cluster, id, kind, command, work, stop, screenOptions }: SessionText): string =>
  shellProgram(`${prelude}${start}`, {
    node: nodeFolder(cluster),
    sessions: sessionsFolder(cluster),
    id,
    kind,
    command,
    work,
    run: shellProgram(`${prelude}${endProcesses}${run}`, { stop_file: stopRequestFile(cluster) }),
    stop,
    screen_options: screenOptions,
    kept,
  });

/** Separators that no field holds. */
export const fieldEnd = '\u001f';
export const rowEnd = '\u001e';

/** One row a session: id, kind, started, ended, rc, whether its window is there, bytes of its log, command. */
export const listText = (cluster: string): string =>
  shellProgram(`${prelude}${list}`, { sessions: sessionsFolder(cluster) });

/** Prints the log from the start; with `follow` until the session has ended. Exits with the session's code then. */
export function logText(cluster: string, id: string, follow: boolean): string {
  const folder = `${sessionsFolder(cluster)}/${id}`;
  return follow ? shellProgram(`${prelude}${log}`, { folder }) : `cat ~/${folder}/log`;
}
