import type { Host, RunOptions } from '../base/host.ts';
import { headHome } from '../head/state-folder.ts';
import type { ClaimRecord } from '../providers/local/record.ts';

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
  const folder = `"$HOME"/${headHome}/clusters/${cluster}`;
  const program = `[ -f ${folder}/cluster.json ] || exit 0
echo there; for f in ${folder}/instances/claims/*.json; do [ -f "$f" ] && cat "$f" && echo; done; exit 0`;
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
