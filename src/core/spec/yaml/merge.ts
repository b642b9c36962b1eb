import { type MappingNode, type Pair, STANDARD, type Use } from './node.ts';
import { YamlError, yamlProblems } from './problems.ts';

/** Pairs that all merges of a document may bring in. */
const MOST_MERGED = 100_000;

/** How many more pairs merges may bring in; one for each document. */
export interface MergeBudget {
  left: number;
}

export const mergeBudget = (): MergeBudget => ({ left: MOST_MERGED });

/**
 * Replaces `<<` by the pairs it brings in. They stand before the mapping's own, so that its own win; of a list, the
 * first mapping wins over later ones. Done in place and once, as in PyYAML: a mapping that is merged again is flat.
 */
export function flattenMerges(node: MappingNode, budget: MergeBudget): void {
  const merges: Pair[] = [];
  const own: Pair[] = [];
  for (const pair of node.pairs) {
    const key = pair.key.node;
    if (key.tag === `${STANDARD}value`) key.tag = `${STANDARD}str`;
    (key.tag === `${STANDARD}merge` ? merges : own).push(pair);
  }
  if (merges.length === 0) return;
  node.pairs = own;
  const merged: Pair[] = [];
  for (const { value } of merges) {
    for (const mapping of mergedMappings(value)) {
      flattenMerges(mapping, budget);
      budget.left -= mapping.pairs.length;
      if (budget.left < 0)
        throw new YamlError(yamlProblems.expansion, value.start, 'the merges up to here add too many keys');
      for (const pair of mapping.pairs) merged.push({ ...pair, merged: true });
    }
  }
  node.pairs = [...merged, ...own];
}

function mergedMappings(value: Use): MappingNode[] {
  if (value.node.kind === 'mapping') return [value.node];
  if (value.node.kind !== 'sequence') {
    throw new YamlError(
      yamlProblems.merge,
      value.start,
      "'<<' needs a mapping or a list of mappings, found a single value",
    );
  }
  return value.node.items
    .map(({ node, start }) => {
      if (node.kind === 'mapping') return node;
      throw new YamlError(
        yamlProblems.merge,
        start,
        `'<<' needs a list of mappings, found a ${node.kind === 'sequence' ? 'list' : 'single value'} in it`,
      );
    })
    .reverse();
}
