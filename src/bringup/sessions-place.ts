import { nodeFolder } from './node.ts';

/** Where sessions of users (tmux, screen) are kept on the head's host, each a folder. */
export const sessionsFolder = (cluster: string): string => `${nodeFolder(cluster)}/sessions`;

/** Written when a command that was started with `--stop` has ended: the cluster is to end. */
export const stopRequestFile = (cluster: string): string => `${nodeFolder(cluster)}/stop-requested.json`;

/** Sh text that ends the windows of all sessions, and with them what runs there; they belong to the cluster and go with it. */
export const endSessionsText = (cluster: string): string => `for i in ${sessionsFolder(cluster)}/*; do
  case $(cat "$i/kind" 2>/dev/null) in
    tmux) tmux kill-session -t "=\${i##*/}" ;;
    screen) screen -S "\${i##*/}" -X quit ;;
  esac >/dev/null 2>&1 </dev/null
done
`;
