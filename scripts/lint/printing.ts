import type { Rule } from './rule.ts';
import { dottedName, sourcePath } from './rule.ts';

const forbidden = new Set(['process.stdout', 'process.stderr', 'process.exit', 'process.exitCode']);

/** Daemons: what they say goes to their log, and they end themselves. */
const programs = new Set(['head/mantad.ts', 'head/supervisor.ts', 'engines/embedded/agent/main.ts']);

/** Nothing below `cli/` but a program's own file prints or ends the process; inside `cli/` nothing goes past the renderings by `console`. */
export const printingRule: Rule = {
  create(context) {
    const file = sourcePath(context.filename);
    if (file === undefined) return {};
    const below = !file.startsWith('cli/') && !programs.has(file);
    return {
      MemberExpression: (node) => {
        const name = dottedName(node);
        if (name?.startsWith('console.'))
          context.report({ node, message: `'${name}' prints past the event stream: emit an event` });
        else if (below && name !== undefined && forbidden.has(name))
          context.report({ node, message: `'${name}' belongs to cli/: emit an event or throw` });
      },
    };
  },
};
