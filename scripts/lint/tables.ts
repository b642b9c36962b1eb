import type { Rule } from './rule.ts';
import { sourcePath } from './rule.ts';

/** Where each kind of declaration stands, so that docs and their tests find all of them. */
const homes = new Map([
  ['defineError', 'errors.ts'],
  ['defineEvent', 'events.ts'],
]);

/** One table a layer; providers, engines, and what stands on its own in `base/`, `core/` and the page, have one a folder. */
const tables = /^(?:[^/]+|(?:providers|engines|base|core|web)\/[^/]+)\/([^/]+)$/;

/** Errors and events are declared in the table of their layer and nowhere else. */
export const tablesRule: Rule = {
  create(context) {
    const file = sourcePath(context.filename);
    if (file === undefined) return {};
    return {
      CallExpression: (node) => {
        const home = homes.get(node.callee?.name ?? '');
        if (home !== undefined && file.match(tables)?.[1] !== home)
          context.report({ node, message: `'${node.callee?.name}' stands in the ${home} of its layer` });
      },
    };
  },
};
