import { durationPattern } from '../../duration.ts';
import type { Plain } from '../cluster.ts';
import type { Key, KeyShape } from './key.ts';
import type { KeyNode } from './table.ts';

type Schema = { [key: string]: Plain | Schema | readonly Schema[] };

const typeOf: Partial<Record<KeyShape, string>> = {
  string: 'string',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
  duration: 'string',
  map: 'object',
  list: 'array',
  commands: 'array',
  texts: 'array',
  section: 'object',
  named: 'object',
};

/** The JSON Schema (draft-07, which editors know) of cluster files, from the key table. */
export function clusterSchema(keyTree: KeyNode): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'cluster.yaml',
    description: 'A cluster that Manta launches, scales and runs.',
    ...schemaOf(keyTree),
  };
}

function schemaOf(node: KeyNode): Schema {
  const { key } = node;
  return {
    ...typePart(key),
    ...(key.path === '' ? {} : { description: descriptionOf(key) }),
    ...(key.example === undefined ? {} : { examples: [key.example] }),
    ...(key.minimum === undefined ? {} : { minimum: key.minimum }),
    ...(key.legacy === undefined ? {} : { deprecated: true }),
    ...childrenPart(node),
  };
}

function typePart(key: Key): Schema {
  const { shape, choices } = key;
  if (shape === 'any') {
    if (!choices) return {};
    return { anyOf: [{ enum: choices }, { type: 'array', minItems: 1, items: { enum: choices } }] };
  }
  const type = typeOf[shape] as string;
  return {
    type: takesEnvironment(shape)
      ? [type, 'string', ...(key.nullable ? ['null'] : [])]
      : key.nullable
        ? [type, 'null']
        : type,
    ...(takesEnvironment(shape) ? { pattern: '^\\$\\{env:[A-Za-z_][A-Za-z0-9_]*\\}$' } : {}),
    ...(shape === 'duration' ? { pattern: `${durationPattern}|^\\$\\{env:[A-Za-z_][A-Za-z0-9_]*\\}$` } : {}),
    ...(shape === 'commands' || shape === 'texts' ? { items: { type: 'string' } } : {}),
    ...(choices ? { enum: choices } : {}),
  };
}

/** Numbers and booleans may be taken from the environment, which is a text in the file. */
const takesEnvironment = (shape: KeyShape): boolean => shape === 'integer' || shape === 'number' || shape === 'boolean';

function childrenPart(node: KeyNode): Schema {
  if (node.key.shape === 'named') return node.named ? { additionalProperties: schemaOf(node.named) } : {};
  if (node.key.shape !== 'section') return {};
  const required = [...node.children].filter(([, child]) => child.key.required).map(([name]) => name);
  return {
    properties: Object.fromEntries([...node.children].map(([name, child]) => [name, schemaOf(child)])),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: node.key.open === true,
  };
}

const descriptionOf = (key: Key): string =>
  [
    key.doc,
    ...(key.default === undefined ? [] : [`Default: ${key.default}.`]),
    ...(key.providers === undefined ? [] : [`Providers: ${key.providers.join(', ')}.`]),
    ...(key.legacy === undefined ? [] : [`Legacy: today ${key.legacy}.`]),
  ].join(' ');
