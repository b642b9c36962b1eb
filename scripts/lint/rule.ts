/** The part of the linter's plug-in interface (ESLint 9's) that the rules here use. */
export interface Rule {
  create(context: Context): Readonly<Record<string, (node: Node) => void>>;
}

export interface Context {
  readonly filename: string;
  readonly sourceCode: { readonly scopeManager: { readonly globalScope: { readonly through: readonly Reference[] } } };
  report(finding: { node: Node; message: string }): void;
}

export interface Reference {
  readonly identifier: Node;
  readonly isTypeReference?: boolean;
}

export interface Node {
  readonly type: string;
  readonly name?: string;
  readonly value?: unknown;
  readonly source?: Node | null;
  readonly object?: Node;
  readonly property?: Node;
  readonly callee?: Node;
  readonly arguments?: readonly Node[];
  readonly left?: Node;
  readonly right?: Node;
  readonly expression?: Node;
}

/** Path below `src/` of a file of this repository, with forward slashes; undefined for files elsewhere. */
export function sourcePath(filename: string): string | undefined {
  const path = filename.replaceAll('\\', '/');
  const start = path.lastIndexOf('/src/');
  return start < 0 ? undefined : path.slice(start + '/src/'.length);
}

/** `object.property` of plain names, `process.stdout` say; undefined for anything else. */
export function dottedName(node: Node): string | undefined {
  if (node.type !== 'MemberExpression' || node.object?.type !== 'Identifier') return undefined;
  const property = node.property?.name ?? node.property?.value;
  return typeof property === 'string' ? `${node.object.name}.${property}` : undefined;
}
