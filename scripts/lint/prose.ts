import type { Node, Rule } from './rule.ts';
import { sourcePath } from './rule.ts';

/** Sentences are shown here, and cut to fit. */
const rendering = new Set(['cli/failure.ts']);

const tests = new Set(['test', 'exec']);
const questions = new Set(['includes', 'startsWith', 'endsWith', 'match', 'matchAll', 'search', 'indexOf', 'split']);

/** Decisions are made on data: on the code of an error or an event and what it carries, never on its sentence. */
export const proseRule: Rule = {
  create(context) {
    const file = sourcePath(context.filename);
    if (file === undefined || rendering.has(file)) return {};
    const report = (node: Node): void =>
      context.report({ node, message: 'a sentence decides here: ask for the code, or for data that goes with it' });
    return {
      CallExpression: (node) => {
        const asked = node.callee?.type === 'MemberExpression' ? node.callee.property?.name : undefined;
        if (asked === undefined) return;
        if (questions.has(asked) && isSentence(node.callee?.object)) report(node);
        if (tests.has(asked) && isSentence(node.arguments?.[0])) report(node);
      },
      BinaryExpression: (node) => {
        const sides = [node.left, node.right];
        const literal = sides.some((side) => typeof side?.value === 'string' && side.value !== '');
        if (literal && sides.some(isSentence)) report(node);
      },
    };
  },
};

/** `x.message`, `x.hint`, `event.text`, `messageOf(x)`. */
function isSentence(node: Node | undefined): boolean {
  if (node?.type === 'CallExpression') return node.callee?.name === 'messageOf';
  if (node?.type === 'ChainExpression') return isSentence(node.expression);
  if (node?.type !== 'MemberExpression') return false;
  const name = node.property?.name;
  return name === 'message' || name === 'hint' || (name === 'text' && /event$/i.test(node.object?.name ?? ''));
}
