import type { Host } from '../base/host.ts';
import { inOneSession } from '../base/one-session.ts';
import { releaseClaim } from '../providers/local/claims.ts';
import { removeKeyText } from './authorized-keys.ts';
import { removeCargoText } from './carry.ts';
import { endNode, type NodeToEnd } from './end-node.ts';
import { nodeFolder } from './node.ts';
import { endSessionsText } from './sessions-place.ts';
import { madeByRayText, rayBootstrapFile } from './shell-text.ts';
import { removeStagingText } from './staging.ts';

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
  const removal = session.sh(
    `cd "$HOME" || exit 0
${endSessionsText(cluster)}${removeStagingText(cluster)}rm -rf ${nodeFolder(cluster)}
if ${madeByRayText(cluster)}; then rm -f ${rayBootstrapFile}; fi
${clusterId === undefined ? '' : removeCargoText(clusterId)}${publicKey === undefined ? '' : removeKeyText(publicKey)}
exit 0
`,
    { signal },
  );
  const claimant = clusterId === undefined ? undefined : { clusterId, cluster, owner: '', headAddress: '' };
  const [{ stdout }] = await Promise.all([removal, claimant && releaseClaim(session, claimant, undefined, { signal })]);
  return [...left, ...[...stdout.matchAll(/^manta-left (.*)$/gm)].map((match) => match[1] as string)];
}
