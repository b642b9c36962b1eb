import { type Json, nameOf } from '../../core/kube/object.ts';
import { headGroup, scalingOf } from '../../core/kube/scaling-spec.ts';
import type { ClusterSpec } from '../../core/spec/cluster.ts';
import { mantaSpec } from '../../core/spec/manta.ts';
import { headErrors } from '../errors.ts';

/** The spec that a RayCluster stands for: it is the one truth there, and no file. Throws where it cannot be read. */
export function specOfRayCluster(cluster: Json): ClusterSpec {
  const scaling = scalingOf(cluster);
  if ('problem' in scaling) throw headErrors.BadRayCluster({ name: nameOf(cluster), problem: scaling.problem });
  return {
    ...scaling,
    name: nameOf(cluster),
    headType: headGroup,
    replaceOutdated: false,
    provider: { type: 'kuberay', kind: 'elsewhere', config: {}, manta: mantaSpec(undefined) },
    head: { initialization: [], setup: [], start: [], launchConfig: {} },
    auth: { proxyUsesNodeId: false },
    files: { mounts: [], clusterSynced: [], syncContinuously: false, exclude: [], filter: [] },
  };
}
