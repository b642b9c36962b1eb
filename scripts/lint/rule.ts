/** The part of the linter's plug-in interface (ESLint 9's) that the rules here use. */
export interface Rule {
  create(context: Context): Readonly<Record<string, (node: Node) => void>>;
}

export interface Context {
  readonly filename: string;
  readonly sourceCode: {
    readonly scopeManager: { readonly globalScope: { readonly through: readonly Reference[] } };
    getScope(node: Node): Scope;
  };
  report(finding: { node: Node; message: string }): void;
}

/** Where names are declared. */
export interface Scope {
  readonly upper: Scope | null;
  readonly set: ReadonlyMap<string, Variable>;
}

export interface Variable {
  readonly defs: readonly { readonly name: Node; readonly node: Node }[];
}

export interface Reference {
  readonly identifier: Node;
  readonly isTypeReference?: boolean;
}

export interface Node {
  readonly type: string;
  readonly loc: { readonly start: { readonly line: number }; readonly end: { readonly line: number } };
  readonly id?: Node | null;
  readonly key?: Node;
  readonly name?: string;
  readonly value?: unknown;
  readonly source?: Node | null;
  readonly object?: Node;
  readonly property?: Node;
  readonly callee?: Node;
  readonly arguments?: readonly Node[];
  readonly parent?: Node | null;
  readonly computed?: boolean;
  readonly operator?: string;
  readonly left?: Node;
  readonly right?: Node;
  readonly init?: Node | null;
  readonly quasis?: readonly Node[];
  readonly typeAnnotation?: Node;
  readonly typeName?: Node;
  readonly typeArguments?: { readonly params: readonly Node[] } | null;
  readonly members?: readonly Node[];
  readonly expression?: Node;
  readonly declaration?: Node | null;
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
