import { ownHosts } from '../../core/spec/local.ts';
import { readCluster } from '../../head/state-folder.ts';
import { execErrors } from '../../launcher/exec-errors.ts';
import { claimedNodes } from '../../launcher/node-claims.ts';
import type { RemoteCluster } from '../../launcher/remote-cluster.ts';
import type { Io, Run } from '../command.ts';
import { withRemote } from './exec-cluster.ts';

export const run: Run = (invocation, io) =>
  withRemote(invocation, io, async (cluster) => {
    if (readCluster(cluster.folder) === undefined) await refuseAbsent(cluster, io);
    const address = shownAddress(cluster);
    io.out(io.json ? `${JSON.stringify({ address })}\n` : `${address}\n`);
    return 0;
  });

/** As with Ray: the one from outside, unless the file wants internal addresses everywhere. */
function shownAddress({ spec, headAddress }: RemoteCluster): string {
  const { use_internal_ips: internal, use_external_head_ip: external } = spec.provider.config;
  const outside = ownHosts(spec).head?.outside;
  return internal === true && external !== true ? headAddress : (outside ?? headAddress);
}

/** A cluster that was not started from here is asked for where its head would be. */
async function refuseAbsent(cluster: RemoteCluster, io: Io): Promise<void> {
  const claims = await claimedNodes(cluster.head, cluster.name, { signal: io.signal });
  if (claims === undefined) throw execErrors.NotUp({ name: cluster.name, host: cluster.head.name });
}
