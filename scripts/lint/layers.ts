import { dirname, relative, resolve } from 'node:path';
import type { Node, Rule } from './rule.ts';
import { sourcePath } from './rule.ts';

/** From top to bottom: a file imports from its own layer and from those after it. */
export const layers = [
  'cli',
  'web',
  'launcher',
  'simulation',
  'head',
  'client',
  'state',
  'autoscaler',
  'jobs',
  'api',
  'kube',
  'bringup',
  'engines',
  'providers',
  'core',
  'base',
] as const;

/** What `core/` may see of `base/`: declarations that do nothing. */
const coreSeesOfBase = new Set(['base/errors.ts', 'base/time/clock.ts', 'base/own-value.ts', 'base/redact.ts']);

/** Commands and the page talk to the daemon over HTTP, and share with it what stands in `state/` and below. */
const outsideTheDaemon: ReadonlySet<string> = new Set(['cli', 'web', 'launcher']);

/** Why a file (both paths relative to `src/`) may not import `specifier`; undefined when it may. */
export function importProblem(file: string, specifier: string): string | undefined {
  const from = layerOf(file);
  if (from === undefined) return `src/${file} stands in no layer; the layers are ${layers.join(', ')}`;
  if (!specifier.startsWith('.')) {
    return from === 'core' ? `core/ is pure and may not import '${specifier}'` : undefined;
  }
  const target = relative('/src', resolve('/src', dirname(file), specifier));
  const to = layerOf(target);
  if (to === undefined) return `'${specifier}' leads outside the layers of src/`;
  if (layers.indexOf(to) < layers.indexOf(from)) return `${from}/ may not import from ${to}/: imports point downwards`;
  if (to === 'head' && outsideTheDaemon.has(from))
    return `${from}/ may not import from head/: the daemon runs elsewhere`;
  if (file.startsWith('engines/ray/') && target.startsWith('engines/embedded/'))
    return 'engines/ray/ may not import from engines/embedded/';
  if (from === 'core' && to === 'base' && !coreSeesOfBase.has(target)) return `core/ may not import '${target}'`;
  return undefined;
}

function layerOf(path: string): (typeof layers)[number] | undefined {
  const first = path.split('/')[0];
  return path.includes('/') ? layers.find((layer) => layer === first) : undefined;
}

export const layersRule: Rule = {
  create(context) {
    const file = sourcePath(context.filename);
    if (file === undefined) return {};
    const check = (node: Node): void => {
      const specifier = node.source?.value;
      if (typeof specifier !== 'string') return;
      const problem = importProblem(file, specifier);
      if (problem !== undefined) context.report({ node, message: problem });
    };
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
      TSImportType: check,
    };
  },
};
