import type { NodeAnswer } from '../../api/types.ts';
import { ownValue } from '../../base/own-value.ts';
import { type NodeGroup, nodeGroup } from '../words/states.ts';

export interface NodeFilter {
  /** Empty: all. */
  readonly groups: readonly NodeGroup[];
  readonly type: string;
  readonly search: string;
}

export function filterNodes(nodes: readonly NodeAnswer[], filter: NodeFilter): readonly NodeAnswer[] {
  const wanted = filter.search.trim().toLowerCase();
  return nodes.filter(
    (node) =>
      (filter.groups.length === 0 || filter.groups.includes(nodeGroup(node.status))) &&
      (filter.type === '' || node.type === filter.type) &&
      (wanted === '' ||
        [node.instance, node.type, node.node, node.zone].some((text) => text?.toLowerCase().includes(wanted) === true)),
  );
}

export function groupCounts(nodes: readonly NodeAnswer[]): Record<NodeGroup, number> {
  const counts: Record<NodeGroup, number> = { running: 0, pending: 0, stopped: 0, ending: 0, failed: 0, gone: 0 };
  for (const node of nodes) counts[nodeGroup(node.status)] += 1;
  return counts;
}

export interface Usage {
  readonly name: string;
  readonly used: number;
  readonly total: number;
  readonly share: number;
}

/** What a node has of each resource and how much of it is taken. */
export function nodeUsage(node: NodeAnswer): readonly Usage[] {
  return Object.entries(node.total)
    .filter(([, total]) => total > 0)
    .map(([name, total]) => {
      const used = Math.max(0, total - (ownValue(node.available, name) ?? 0));
      return { name, used, total, share: used / total };
    });
}

/** The resource of which the least is left: it decides what else fits. Undefined while no node is reported. */
export function fullest(node: NodeAnswer): Usage | undefined {
  if (node.node === undefined) return undefined;
  return nodeUsage(node).reduce<Usage | undefined>(
    (most, usage) => (most === undefined || usage.share > most.share ? usage : most),
    undefined,
  );
}
