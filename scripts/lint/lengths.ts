import type { Node, Rule } from './rule.ts';
import { sourcePath } from './rule.ts';

const longest = 80;

/** `file: function` that reads better whole, and why: at most five. None so far. */
const exceptions: ReadonlyMap<string, string> = new Map();

/** A function is read on one screen: state is a class with small methods, wiring a short function, a long sequence named steps. */
export const lengthsRuleExcept = (exceptions: ReadonlyMap<string, string>): Rule => ({
  create(context) {
    const file = sourcePath(context.filename);
    if (file === undefined) return {};
    const unused = new Set([...exceptions.keys()].filter((key) => key.startsWith(`${file}: `)));
    const check = (node: Node): void => {
      const { start, end } = node.loc;
      const lines = end.line - start.line + 1;
      const name = nameOf(node);
      if (lines <= longest || unused.delete(`${file}: ${name}`)) return;
      context.report({ node, message: `'${name}' has ${lines} lines; a function has at most ${longest}` });
    };
    return {
      FunctionDeclaration: check,
      FunctionExpression: check,
      ArrowFunctionExpression: check,
      'Program:exit': (node) => {
        for (const key of unused)
          context.report({ node, message: `'${key}' is no longer over ${longest} lines: take it off the exceptions` });
      },
    };
  },
});

export const lengthsRule = lengthsRuleExcept(exceptions);

/** The function's own name, or that of the variable, method or property that holds it. */
function nameOf(node: Node): string {
  const { parent } = node;
  if (node.id?.name !== undefined) return node.id.name;
  if (parent?.type === 'VariableDeclarator') return parent.id?.name ?? '(anonymous)';
  const held =
    parent?.type === 'MethodDefinition' || parent?.type === 'Property' || parent?.type === 'PropertyDefinition';
  return (held ? parent.key?.name : undefined) ?? '(anonymous)';
}
