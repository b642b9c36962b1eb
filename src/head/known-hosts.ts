import type { ClusterSpec } from '../core/spec/cluster.ts';
import { type OwnHosts, ownHosts } from '../core/spec/local.ts';
import { isCloud, usualUser } from '../providers/clouds.ts';
import { type ClusterFile, readCluster, type StateFolder } from './state-folder.ts';

/** Hosts of a cluster as this machine knows them: by the file, or, of a cloud, the head by what `up` wrote down. */
export function knownHosts(
  spec: ClusterSpec,
  folder: StateFolder,
  remote: ClusterFile['remote'] = readCluster(folder)?.remote,
): OwnHosts {
  if (!isCloud(spec.provider.type)) return ownHosts(spec);
  if (remote?.address === undefined) return { pools: [] };
  const { user = usualUser, privateKey: key = folder.files.key, proxyCommand } = spec.auth;
  const way = proxyCommand === undefined ? {} : { proxyCommand };
  return { head: { name: remote.address, address: remote.address, user, key, ...way }, pools: [] };
}
