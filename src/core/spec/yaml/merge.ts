import { type MappingNode, type Pair, STANDARD, type Use } from './node.ts';
import { Refusal, yamlProblems } from './problems.ts';

/** Pairs that one mapping may come to hold. */
const MOST_PAIRS = 100_000;

/**
 * Replaces `<<` by the pairs it brings in. They stand before the mapping's own, so that its own win; of a list, the
 * first mapping wins over later ones. Done in place and once, as in PyYAML: a mapping that is merged again is flat.
 */
export function flattenMerges(node: MappingNode): void {
  const own: Pair[] = [];
  const merged: Pair[] = [];
  const pairs = node.pairs;
  const merges = pairs.filter((pair) => pair.key.node.tag === `${STANDARD}merge`);
  for (const { key } of pairs) if (key.node.tag === `${STANDARD}value`) key.node.tag = `${STANDARD}str`;
  if (merges.length === 0) return;
  for (const pair of pairs) if (pair.key.node.tag !== `${STANDARD}merge`) own.push(pair);
  node.pairs = own;
  for (const { value } of merges) {
    for (const mapping of mergedMappings(value)) {
      flattenMerges(mapping);
      for (const pair of mapping.pairs) merged.push({ ...pair, merged: true });
      if (merged.length > MOST_PAIRS)
        throw new Refusal(yamlProblems.expansion, value.start, 'this merge brings in too many keys');
    }
  }
  node.pairs = [...merged, ...own];
}

function mergedMappings(value: Use): MappingNode[] {
  if (value.node.kind === 'mapping') return [value.node];
  if (value.node.kind !== 'sequence') {
    throw new Refusal(
      yamlProblems.merge,
      value.start,
      "'<<' needs a mapping or a list of mappings, found a single value",
    );
  }
  return value.node.items
    .map(({ node, start }) => {
      if (node.kind === 'mapping') return node;
      throw new Refusal(
        yamlProblems.merge,
        start,
        `'<<' needs a list of mappings, found a ${node.kind === 'sequence' ? 'list' : 'single value'} in it`,
      );
    })
    .reverse();
}
