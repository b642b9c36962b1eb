import { readShell, shellCommand } from '../../base/shell/shell-file.ts';
import { nodeFolder } from '../node/node.ts';

const program = readShell(new URL('./end-sessions.sh', import.meta.url));

/** Where sessions of users (tmux, screen) are kept on the head's host, each a folder. */
export const sessionsFolder = (cluster: string): string => `${nodeFolder(cluster)}/sessions`;

/** Written when a command that was started with `--stop` has ended: the cluster is to end. */
export const stopRequestFile = (cluster: string): string => `${nodeFolder(cluster)}/stop-requested.json`;

/** Sh command that closes the windows of all sessions, and ends what runs there. */
export const endSessionsText = (cluster: string): string =>
  shellCommand(program, { sessions: sessionsFolder(cluster) });
