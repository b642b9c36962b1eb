import type { Capacity } from '../../core/jobs/admit.ts';
import type { ClusterSpec, NodeType } from '../../core/spec/cluster.ts';
import type { EngineNode } from '../../engines/engine.ts';

/** Nothing is known yet of what its machines offer: the file does not say, and none was looked at. */
export const isUnknown = (type: NodeType): boolean => !type.resourcesKnown && Object.keys(type.resources).length === 0;

/**
 * What the cluster may ever hold, for those who admit work. Of types that the file says nothing about, nodes that run
 * count as they are: the start commands may give them more, or less, than their machines have. As long as nothing is
 * known of a type the answer is an empty list, which holds anything.
 */
export function capacityOf(
  spec: ClusterSpec,
  nodes: readonly EngineNode[],
): { readonly types: readonly Capacity[]; readonly maxNodes?: number } {
  const unsaid = new Set(spec.nodeTypes.filter((type) => !type.resourcesKnown).map((type) => type.name));
  const most = spec.maxWorkers ?? Number.POSITIVE_INFINITY;
  const maxNodes = spec.maxWorkers === undefined ? {} : { maxNodes: spec.maxWorkers + 1 };
  if (spec.nodeTypes.some(isUnknown)) return { types: [], ...maxNodes };
  const types = spec.nodeTypes.flatMap((type): readonly Capacity[] => {
    const { name, resources, labels, maxWorkers, firstHost, hostsPerSlice } = type;
    const atMost = Math.min(maxWorkers, most);
    // On own machines the head is of the workers' type.
    if (name === spec.headType) return [{ name, resources, labels, atMost: unsaid.has(name) ? atMost + 1 : 1 }];
    if (firstHost === undefined) return [{ name, resources, labels, atMost }];
    const slices = Math.floor(atMost / Math.max(1, hostsPerSlice));
    return [
      { name, resources: { ...resources, ...firstHost }, labels, atMost: slices },
      { name, resources, labels, atMost: atMost - slices },
    ];
  });
  const running = nodes
    .filter(({ state, type }) => state === 'alive' && type !== undefined && unsaid.has(type))
    .map(({ type, total, labels }) => ({ name: type as string, resources: total, labels, atMost: 1 }));
  return { types: [...types, ...running], ...maxNodes };
}
