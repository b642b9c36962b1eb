import { targetOf } from '../../bringup/reach.ts';
import { ownHosts } from '../../core/spec/local.ts';
import type { MeantCluster } from '../../head/client/target.ts';
import { reachedFrom, readCluster, stateFolder, stateHome } from '../../head/state-folder.ts';
import { execErrors } from '../../launcher/exec-errors.ts';
import type { Way } from '../../launcher/exec-way.ts';
import { openRemote, type RemoteCluster } from '../../launcher/remote-cluster.ts';
import type { Io } from '../command.ts';
import { findCluster, type Said } from './find-cluster.ts';

/** Runs `use` with a cluster of other machines, and closes what was opened of it. */
export async function withRemote<Value>(
  meant: MeantCluster,
  io: Io,
  use: (cluster: RemoteCluster) => Promise<Value>,
): Promise<Value> {
  const { name, file } = meant;
  const home = stateHome(io.env);
  const known = readCluster(stateFolder(home, name));
  if (file === undefined && (known?.engine === 'embedded' || known?.python !== undefined))
    throw execErrors.NotOverSsh({ name });
  const cluster = openRemote({ home, ...meant });
  try {
    return await use(cluster);
  } finally {
    await cluster.close();
  }
}

/** As `withRemote`, with the cluster that a command line means. */
export async function withRemoteMeant<Value>(
  said: Said,
  io: Io,
  use: (cluster: RemoteCluster) => Promise<Value>,
): Promise<Value> {
  return await withRemote(await findCluster(said, io), io, use);
}

/** The way to the head, where it follows from the cluster file alone. */
export function wayTo({ spec, folder, name, place, headAddress }: RemoteCluster): Way | undefined {
  const { head } = ownHosts(spec);
  if (spec.provider.type !== 'local' || head === undefined) return undefined;
  const target = targetOf({ ...head, address: head.outside ?? head.address }, reachedFrom(folder));
  // As Ray shows it: the address from outside, unless the file wants internal ones everywhere.
  const { use_internal_ips: internal, use_external_head_ip: external } = spec.provider.config;
  const shown = internal === true && external !== true ? headAddress : (head.outside ?? headAddress);
  return { name, target, place, shown };
}
