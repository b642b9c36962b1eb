import type { Context, Node, Rule, Scope, Variable } from './rule.ts';
import { sourcePath } from './rule.ts';

/**
 * Objects whose type takes any name are read with `ownValue` (or are Maps): `table[name]` and `name in table` also find
 * what every object has, `constructor` say. Without types the rule sees what is declared where it stands: variables and
 * parameters with a type that has a string index, and the fields of the domain that are keyed by names from outside.
 * Names that are literals or put together with fixed words, and those that a `for … in` takes from the same object, are fine; so is writing.
 */
export const namesRule: Rule = {
  create(context) {
    const file = sourcePath(context.filename);
    if (file === undefined || file === 'base/own-value.ts') return {};
    const report = (node: Node, shown: string): void =>
      context.report({ node, message: `'${shown}' finds what every object has: use ownValue, Object.hasOwn or a Map` });
    return {
      MemberExpression: (node) => {
        const { object, property, computed } = node;
        if (computed !== true || object === undefined || property === undefined || isLiteral(property)) return;
        if (isWritten(node) || !takesAnyName(object, context) || isOwnKey(property, object, context)) return;
        report(node, `${textOf(object)}[…]`);
      },
      BinaryExpression: (node) => {
        const { operator, left, right } = node;
        if (operator !== 'in' || left === undefined || right === undefined) return;
        if (isLiteral(left) || left.type === 'PrivateIdentifier' || !takesAnyName(right, context)) return;
        report(node, `… in ${textOf(right)}`);
      },
    };
  },
};

/** Aliases of types with a string index, and the fields that have such a type. */
const aliases = new Set(['Resources', 'Labels', 'PlainMap', 'Fields', 'Draft']);
const fields = new Set(['resources', 'available', 'total', 'labels', 'metadata', 'usage']);

function takesAnyName(object: Node, context: Context): boolean {
  if (object.type === 'MemberExpression') return object.computed !== true && fields.has(object.property?.name ?? '');
  if (object.type === 'TSAsExpression') return hasStringIndex(object.typeAnnotation);
  if (object.type !== 'Identifier') return false;
  const declared = variableOf(object, context)?.defs[0];
  if (declared === undefined) return false;
  return (
    hasStringIndex(declared.name.typeAnnotation?.typeAnnotation) ||
    (declared.node.init?.type === 'TSAsExpression' && hasStringIndex(declared.node.init.typeAnnotation))
  );
}

function hasStringIndex(type: Node | undefined): boolean {
  if (type?.type === 'TSTypeLiteral') return (type.members ?? []).some(({ type: kind }) => kind === 'TSIndexSignature');
  if (type?.type !== 'TSTypeReference') return false;
  const name = type.typeName?.name ?? '';
  const [first] = type.typeArguments?.params ?? [];
  if (name === 'Record') return first?.type === 'TSStringKeyword';
  return aliases.has(name) || (['Readonly', 'Partial'].includes(name) && hasStringIndex(first));
}

const isLiteral = (node: Node): boolean =>
  node.type === 'Literal' ||
  (node.type === 'TemplateLiteral' && (node.quasis ?? []).some(({ value }) => (value as { raw: string }).raw !== ''));

const isWritten = (node: Node): boolean =>
  (node.parent?.type === 'AssignmentExpression' && node.parent.left === node && node.parent.operator === '=') ||
  (node.parent?.type === 'UnaryExpression' && node.parent.operator === 'delete');

function isOwnKey(key: Node, object: Node, context: Context): boolean {
  const loop = key.type === 'Identifier' ? variableOf(key, context)?.defs[0]?.node.parent?.parent : undefined;
  return loop?.type === 'ForInStatement' && loop.right !== undefined && textOf(loop.right) === textOf(object);
}

function variableOf(identifier: Node, context: Context): Variable | undefined {
  let scope: Scope | null = context.sourceCode.getScope(identifier);
  for (; scope !== null; scope = scope.upper) {
    const found = scope.set.get(identifier.name ?? '');
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Enough of the text to tell one object from another. */
function textOf(node: Node): string {
  if (node.type === 'MemberExpression' && node.object && node.property)
    return `${textOf(node.object)}.${node.property.name ?? '…'}`;
  return node.type === 'ThisExpression' ? 'this' : (node.name ?? '…');
}
