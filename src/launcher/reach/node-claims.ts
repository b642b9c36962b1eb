import type { Host, RunOptions } from '../../base/host.ts';
import { readShell, shellProgram } from '../../base/shell/shell-file.ts';
import type { ClaimRecord } from '../../providers/local/record.ts';
import { folderOnHead } from '../../state/state-folder.ts';

const listing = readShell(new URL('./list-claims.sh', import.meta.url));

/** A host that is claimed for the cluster. */
export interface ClaimedNode {
  readonly instance: string;
  readonly kind: 'head' | 'worker';
  readonly address: string;
  readonly type: string;
  readonly state: ClaimRecord['state'];
}

/** The claims as they stand on the head, whether mantad runs or not; undefined where Manta has put nothing there. */
export async function claimedNodes(
  head: Host,
  cluster: string,
  options: RunOptions,
): Promise<readonly ClaimedNode[] | undefined> {
  const program = shellProgram(listing, { folder: folderOnHead(cluster).path });
  const { stdout } = await head.sh(program, options);
  const [first, ...lines] = stdout.split('\n');
  if (first !== 'there') return undefined;
  return lines.flatMap((line) => readClaim(line) ?? []);
}

/** A record that cannot be read costs one node, not the list. */
function readClaim(line: string): ClaimedNode | undefined {
  try {
    const { id, kind, host, type, state } = JSON.parse(line) as ClaimRecord;
    return { instance: id, kind, address: host.name, type, state };
  } catch {
    return undefined;
  }
}
