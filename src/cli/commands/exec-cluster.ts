import { existsSync } from 'node:fs';
import { targetOf } from '../../bringup/reach.ts';
import { ownHosts } from '../../core/spec/local.ts';
import { clientErrors } from '../../head/client/errors.ts';
import { clusterNames, reachedFrom, readCluster, stateFolder, stateHome } from '../../head/state-folder.ts';
import { execErrors } from '../../launcher/exec-errors.ts';
import type { Way } from '../../launcher/exec-way.ts';
import { openRemote, type RemoteCluster } from '../../launcher/remote-cluster.ts';
import type { Invocation, Io } from '../command.ts';
import { whichCluster } from './which-cluster.ts';

/** Runs `use` with the cluster of other machines that is meant, and closes what was opened of it. */
export async function withRemote<Value>(
  invocation: Invocation,
  io: Io,
  use: (cluster: RemoteCluster) => Promise<Value>,
): Promise<Value> {
  const meant = await whichCluster(invocation, io);
  const home = stateHome(io.env);
  const name = meant.name ?? onlyName(home, io);
  const known = readCluster(stateFolder(home, name));
  if (meant.file === undefined && (known?.engine === 'embedded' || known?.python !== undefined))
    throw execErrors.NotOverSsh({ name });
  const cluster = openRemote({ home, name, ...(meant.file && { file: meant.file }) });
  try {
    return await use(cluster);
  } finally {
    await cluster.close();
  }
}

function onlyName(home: string, io: Io): string {
  const named = io.env['MANTA_CLUSTER'];
  if (named) return named;
  const names = clusterNames(home).filter((each) => existsSync(stateFolder(home, each).files.cluster));
  const [first, second] = names;
  if (first === undefined) throw clientErrors.NoCluster({ home });
  if (second !== undefined) throw clientErrors.SeveralClusters({ names });
  return first;
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
