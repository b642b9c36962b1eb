import { readShell } from '../../base/shell/shell-file.ts';
import { markPart } from '../node/shell-text.ts';

/** Bash functions that find and end the processes of Ray. */
export const processText = readShell(new URL('./ray-processes.bash', import.meta.url));

/** Basic regular expression for the mark of this node, or of any node of the cluster. Holds no quote and no space. */
export function markPattern(cluster: string, instance?: string): string {
  const escape = (text: string): string => text.replaceAll('.', '\\.');
  return `:${escape(markPart(cluster))}/${instance === undefined ? '[^:]*' : escape(markPart(instance))}:`;
}
