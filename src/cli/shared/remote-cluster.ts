import { targetOf } from '../../bringup/node/reach.ts';
import type { MeantCluster } from '../../client/target.ts';
import { ownHosts } from '../../core/spec/local.ts';
import { launcherErrors } from '../../launcher/errors.ts';
import type { HeadRoute } from '../../launcher/reach/known-route.ts';
import { openRemote, type RemoteCluster } from '../../launcher/reach/remote-cluster.ts';
import { readCluster } from '../../state/cluster-record.ts';
import { reachedFrom, stateFolder, stateHome } from '../../state/state-folder.ts';
import type { Io } from '../command.ts';
import { type ClusterSelector, findCluster } from './find-cluster.ts';

/** Runs `use` with a cluster of other machines, and closes what was opened of it. */
export async function withRemote<Value>(
  meant: MeantCluster,
  io: Io,
  use: (cluster: RemoteCluster) => Promise<Value>,
): Promise<Value> {
  const { name, file } = meant;
  const home = stateHome(io.env);
  const known = readCluster(stateFolder(home, name));
  if (file === undefined && known?.role === 'this-machine') throw launcherErrors.ExecNotOverSsh({ name });
  const cluster = openRemote({ home, ...meant });
  try {
    return await use(cluster);
  } finally {
    await cluster.close();
  }
}

/** As `withRemote`, with the cluster that a command line means. */
export async function withRemoteMeant<Value>(
  said: ClusterSelector,
  io: Io,
  use: (cluster: RemoteCluster) => Promise<Value>,
): Promise<Value> {
  return await withRemote(await findCluster(said, io), io, use);
}

/** The route to the head, where it follows from the cluster file alone. */
export function routeTo({ spec, folder, name, place, headAddress }: RemoteCluster): HeadRoute | undefined {
  const { head } = ownHosts(spec);
  if (spec.provider.kind !== 'own-hosts' || head === undefined) return undefined;
  const target = targetOf({ ...head, address: head.outside ?? head.address }, reachedFrom(folder));
  // As Ray shows it: the address from outside, unless the file wants internal ones everywhere.
  const { use_internal_ips: internal, use_external_head_ip: external } = spec.provider.config;
  const shown = internal === true && external !== true ? headAddress : (head.outside ?? headAddress);
  return { name, target, place, shown };
}
