import type { ReachableHost } from '../bringup/node/reach.ts';
import type { ClusterSpec } from '../core/spec/cluster.ts';
import { type HostPool, type OwnHosts, ownHosts } from '../core/spec/local.ts';
import { usualUser } from '../providers/clouds.ts';
import { readLaptopRecord } from './cluster-record.ts';
import type { StateFolder } from './state-folder.ts';

export interface KnownHosts {
  readonly head?: NonNullable<OwnHosts['head']> &
    ReachableHost & {
      /** As workers reach it. Absent: by its name. */
      readonly inside?: string;
    };
  readonly pools: readonly HostPool[];
}

/** Hosts of a cluster as this machine knows them: by the file, or, of a cloud, the head by what `up` wrote down. */
export function knownHosts(spec: ClusterSpec, folder: StateFolder): KnownHosts {
  if (spec.provider.kind !== 'cloud') return ownHosts(spec);
  const { address, inside, instance, zone, prepared } = readLaptopRecord(folder)?.remote ?? {};
  if (address === undefined) return { pools: [] };
  const { user: named = usualUser, privateKey: key = folder.files.key, proxyCommand, proxyUsesNodeId } = spec.auth;
  const { region } = spec.provider.config;
  const { project, loginUser: user = named } = prepared ?? {};
  const facts = instance !== undefined && {
    instance: {
      id: instance,
      ...(zone !== undefined && { zone }),
      ...(typeof region === 'string' && { region }),
      ...(project !== undefined && { project }),
    },
  };
  return {
    head: {
      name: address,
      address: proxyUsesNodeId && instance !== undefined ? instance : address,
      ...(inside !== undefined && { inside }),
      user,
      key,
      ...(proxyCommand !== undefined && { proxyCommand }),
      ...facts,
    },
    pools: [],
  };
}
