import { createHash } from 'node:crypto';
import type { ClusterSpec, NodeType } from '../../core/spec/cluster.ts';
import type { RayHead } from '../state-folder.ts';

/** Workers whose commands or container are others than those of the file are outdated, and replaced in turn. */
export function withLaunchHashes(
  spec: ClusterSpec,
  { leaveWorkers, mounts }: Pick<RayHead, 'leaveWorkers' | 'mounts'>,
): ClusterSpec {
  const mounted = [...mounts.map(({ remote }) => remote), ...spec.files.clusterSynced];
  // Mounts are part of a container; to a host, files are only copied.
  const made = ({ worker }: NodeType): unknown =>
    worker.container === undefined || mounted.length === 0 ? worker : [worker, mounted];
  return {
    ...spec,
    replaceOutdated: leaveWorkers !== true,
    nodeTypes: spec.nodeTypes.map((type) => ({ ...type, launchHash: hashOf(made(type)) })),
  };
}

const hashOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
