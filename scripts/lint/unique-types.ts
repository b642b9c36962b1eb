import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Node, Rule } from './rule.ts';
import { sourcePath } from './rule.ts';

/** The page has types of its own, and generated code is not ours to name. */
const leftOut = (file: string): boolean => file.startsWith('web/') || file.includes('/gen/');

/**
 * One word, one meaning: an exported type, interface or class has a name that no other file of `src/` exports, so that a
 * reader who meets it knows which it is.
 */
export const uniqueTypesRule: Rule = {
  create(context) {
    const file = sourcePath(context.filename);
    if (file === undefined || leftOut(file)) return {};
    const source = context.filename.slice(0, context.filename.length - file.length);
    const check = (node: Node): void => {
      const { declaration } = node;
      if (declaration === undefined || declaration === null || !kinds.has(declaration.type)) return;
      const name = declaration.id?.name ?? '';
      const other = exportedTypes(source)
        .get(name)
        ?.find((each) => each !== file);
      if (other !== undefined)
        context.report({
          node,
          message: `'${name}' is also the name of a type in src/${other}: give one of them another`,
        });
    };
    return { ExportNamedDeclaration: check };
  },
};

const kinds: ReadonlySet<string> = new Set(['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'ClassDeclaration']);

const found = new Map<string, ReadonlyMap<string, readonly string[]>>();

/** Files by the names of the types they export; read once for each tree. */
function exportedTypes(source: string): ReadonlyMap<string, readonly string[]> {
  const known = found.get(source);
  if (known !== undefined) return known;
  const names = new Map<string, string[]>();
  for (const path of globSync('**/*.ts', { cwd: source })) {
    const file = path.replaceAll('\\', '/');
    if (leftOut(file)) continue;
    const text = readFileSync(join(source, file), 'utf8');
    for (const [, name = ''] of text.matchAll(/^export (?:interface|type|(?:abstract )?class) (\w+)/gm))
      names.set(name, [...(names.get(name) ?? []), file]);
  }
  found.set(source, names);
  return names;
}
