import type { Host } from '../../base/host.ts';
import { inOneSession } from '../../base/one-session.ts';
import { readShell, shellCommand } from '../../base/shell/shell-file.ts';
import { releaseClaim } from '../../providers/local/claims.ts';
import { endSessionsText } from '../sessions/sessions.ts';
import { removeCargoText } from '../sync/carry.ts';
import { removeStagingText } from '../sync/staging.ts';
import { removeKeyText } from './authorized-keys.ts';
import { endNode, type NodeToEnd } from './end-node.ts';
import { nodeFolder } from './node.ts';
import { namedByRay } from './shell-text.ts';

const program = readShell(new URL('./end-host.sh', import.meta.url));

export interface HostToEnd extends Pick<NodeToEnd, 'cluster' | 'containers'> {
  /** The cluster's key, which is taken out again. */
  readonly publicKey?: string;
  /** Whose claim is given back. */
  readonly clusterId?: string;
}

/** Ends everything of the cluster on a host, and removes what it has made there. Returns what is still there afterwards. */
export async function endHost(
  host: Host,
  { cluster, containers, publicKey, clusterId }: HostToEnd,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const left = await endNode(host, { cluster, containers, remove: true }, signal);
  const session = inOneSession(host);
  const removals = [
    endSessionsText(cluster),
    removeStagingText(cluster),
    shellCommand(program, { folder: nodeFolder(cluster), named: namedByRay(cluster) }),
    ...(clusterId === undefined ? [] : [removeCargoText(clusterId)]),
    ...(publicKey === undefined ? [] : [removeKeyText(publicKey)]),
    'exit 0\n',
  ];
  const removal = session.sh(removals.join('\n'), { signal });
  const claimant = clusterId === undefined ? undefined : { clusterId, cluster, owner: '', headAddress: '' };
  const [{ stdout }] = await Promise.all([removal, claimant && releaseClaim(session, claimant, undefined, { signal })]);
  return [...left, ...[...stdout.matchAll(/^manta-left (.*)$/gm)].map((match) => match[1] as string)];
}
