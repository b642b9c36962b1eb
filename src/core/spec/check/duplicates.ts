import type { Path, Problem } from '../problem.ts';
import { pathText, report } from '../problems.ts';
import type { Source } from '../source.ts';
import type { MappingNode, Node, Pair } from '../yaml/node.ts';
import { parseDocument } from '../yaml/parser.ts';
import { structureProblems as problems } from './structure-problems.ts';

/** Keys that stand twice in one mapping: YAML takes the last one, and the others are lost without a word. */
export function checkDuplicates(source: Source): Problem[] {
  const found: Problem[] = [];
  const root = parseDocument(source.text);
  if (root !== undefined) visit(root, []);
  return found;

  function visit(node: Node, path: Path): void {
    if (node.kind === 'sequence') {
      for (const [index, item] of node.items.entries()) if (!item.alias) visit(item.node, [...path, index]);
    } else if (node.kind === 'mapping') visitMapping(node, path);
  }

  function visitMapping(node: MappingNode, path: Path): void {
    const last = new Map<string, Pair>();
    for (const pair of node.pairs) {
      const name = pair.key.node.kind === 'scalar' && !pair.merged ? pair.key.node.text : undefined;
      const here = [...path, name ?? ''];
      const earlier = name === undefined || name === '<<' ? undefined : last.get(name);
      if (earlier) {
        const { line } = source.positionOf(pair.key.start);
        const spot = { at: source.positionOf(earlier.key.start), path: here };
        found.push(report(problems.DuplicateKey, spot, { what: pathText(here), line }));
      }
      if (name !== undefined) last.set(name, pair);
      if (!pair.value.alias) visit(pair.value.node, here);
    }
  }
}
