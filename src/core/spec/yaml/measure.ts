import type { Constructed } from './construct.ts';
import type { Node, Pair, Use } from './node.ts';
import { DEEPEST } from './parser.ts';
import { YamlError, yamlProblems } from './problems.ts';

/** Characters of a value with all its aliases written out, a few for each node on top. */
const MOST_EXPANDED = 16 * 1024 * 1024;
const PER_NODE = 8;

interface Extent {
  readonly size: number;
  readonly depth: number;
}

/**
 * Refuses values that a few aliases make endless, deep or huge, so that nobody further on needs to think of it:
 * anyone who walks a value that passed does bounded work.
 */
export function refuseExplosions(root: Node, entries: Constructed['entries']): void {
  const measured = new Map<Node, Extent>();
  const open = new Set<Node>();

  const measure = (use: Use, level: number): Extent => {
    const { node } = use;
    if (node.kind === 'scalar') return { size: node.text.length + PER_NODE, depth: 0 };
    const extent = measured.get(node) ?? measureCollection(use, level);
    if (level + extent.depth > DEEPEST) {
      throw new YamlError(yamlProblems.tooDeep, use.start, `more than ${DEEPEST} levels of lists and mappings`);
    }
    return extent;
  };

  const measureCollection = (use: Use, level: number): Extent => {
    const { node } = use;
    if (level > DEEPEST)
      throw new YamlError(yamlProblems.tooDeep, use.start, `more than ${DEEPEST} levels of lists and mappings`);
    if (open.has(node))
      throw new YamlError(yamlProblems.recursive, use.start, 'this alias refers to a collection that contains it');
    open.add(node);
    let size = PER_NODE;
    let depth = 0;
    for (const child of children(node, entries)) {
      const extent = measure(child, level + 1);
      size += extent.size;
      depth = Math.max(depth, extent.depth);
      if (size > MOST_EXPANDED)
        throw new YamlError(yamlProblems.expansion, child.start, 'the aliases up to here expand to more than 16 MiB');
    }
    open.delete(node);
    const extent = { size, depth: depth + 1 };
    measured.set(node, extent);
    return extent;
  };

  measure({ node: root, start: root.start, end: root.end, alias: false }, 0);
}

function* children(node: Node, entries: Constructed['entries']): Iterable<Use> {
  if (node.kind === 'sequence') yield* node.items;
  if (node.kind !== 'mapping') return;
  const pairs: Iterable<Pair> = entries.get(node)?.values() ?? node.pairs;
  for (const { key, value } of pairs) {
    yield key;
    yield value;
  }
}
