import type { ClusterSpec, NodeType } from '../../../core/spec/cluster.ts';
import { fingerprint } from '../../../core/spec/fingerprint.ts';
import type { RayHead } from '../../../state/cluster-record.ts';
import { hashOf } from '../../../state/launch-hash.ts';

/**
 * Workers whose commands or container are others than those of the file are outdated, and replaced in turn; so are those of
 * a cloud whose `node_config` is another.
 */
export function withLaunchHashes(
  spec: ClusterSpec,
  { leaveWorkers, mounts }: Pick<RayHead, 'leaveWorkers' | 'mounts'>,
): ClusterSpec {
  const mounted = [...mounts.map(({ remote }) => remote), ...spec.files.clusterSynced];
  // Mounts are part of a container; to a host, files are only copied.
  const setUp = ({ worker }: NodeType): unknown =>
    worker.container === undefined || mounted.length === 0 ? worker : [worker, mounted];
  const made = (type: NodeType): unknown =>
    spec.provider.kind === 'cloud' ? [setUp(type), fingerprint(type.launchConfig)] : setUp(type);
  return {
    ...spec,
    replaceOutdated: leaveWorkers !== true,
    nodeTypes: spec.nodeTypes.map((type) => ({ ...type, launchHash: hashOf(made(type)) })),
  };
}
