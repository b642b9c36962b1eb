import type { Rule } from './rule.ts';
import { dottedName, sourcePath } from './rule.ts';

/** What the platform adds to the language and still does nothing but compute. */
const pureGlobals = new Set(['TextEncoder', 'TextDecoder', 'structuredClone', 'undefined']);

const impureMembers = new Map([
  ['Date.now', "the time is an argument here: take 'now'"],
  ['Math.random', 'randomness is an argument here'],
]);

/** In `core/`: the language and nothing else. No clock, randomness, timer or I/O. */
export const purityRule: Rule = {
  create(context) {
    if (!sourcePath(context.filename)?.startsWith('core/')) return {};
    return {
      Program: () => {
        for (const { identifier, isTypeReference } of context.sourceCode.scopeManager.globalScope.through) {
          if (isTypeReference === true || pureGlobals.has(identifier.name ?? '')) continue;
          context.report({ node: identifier, message: `core/ is pure and may not use '${identifier.name}'` });
        }
      },
      Identifier: (node) => {
        if (node.name === 'globalThis') context.report({ node, message: "core/ is pure and may not use 'globalThis'" });
      },
      MemberExpression: (node) => {
        const why = impureMembers.get(dottedName(node) ?? '');
        if (why !== undefined) context.report({ node, message: `core/ is pure: ${why}` });
      },
      NewExpression: (node) => {
        if (node.callee?.name === 'Date' && node.arguments?.length === 0)
          context.report({ node, message: `core/ is pure: ${impureMembers.get('Date.now')}` });
      },
      CallExpression: (node) => {
        if (node.callee?.name === 'Date')
          context.report({ node, message: `core/ is pure: ${impureMembers.get('Date.now')}` });
      },
    };
  },
};
