import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import type { NodeFiles } from '../../../bringup/node/node.ts';
import type { ClusterSpec } from '../../../core/spec/cluster.ts';
import type { RayHead } from '../../../state/cluster-record.ts';

const here = (path: string): string => path.replace(/^~(?=\/|$)/, homedir());

/** The mounts as they lie here. */
export const filesOnHead = ({ files: { exclude, filter } }: ClusterSpec, { mounts }: RayHead): NodeFiles => ({
  mounts: mounts.map((mount) => ({ ...mount, local: here(mount.local) })),
  exclude,
  filter,
});

/** What workers get: the mounts of the head, and what the file names as synced from it. */
export function filesForWorkers(spec: ClusterSpec, head: RayHead): NodeFiles {
  const files = filesOnHead(spec, head);
  const synced = spec.files.clusterSynced.map((path) => ({
    remote: path,
    local: here(path),
    directory: path.endsWith('/'),
  }));
  const mountable = [...files.mounts, ...synced];
  return { ...files, mounts: [...files.mounts, ...synced.filter(({ local }) => existsSync(local))], mountable };
}
